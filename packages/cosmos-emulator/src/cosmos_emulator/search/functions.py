"""The search functions, which depend on the policies of a container (learn.microsoft.com/cosmos-db/query)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import UNDEFINED, JsonOrUndefined
from cosmos_emulator.query.errors import query_error
from cosmos_emulator.query.functions.function import Function, check_arity
from cosmos_emulator.query.syntax import FunctionCall
from cosmos_emulator.query.values import Json, is_number
from cosmos_emulator.runtime.pacing import large_value
from cosmos_emulator.search.policies import Names, SearchPolicies
from cosmos_emulator.search.queries import (
    CONTAINS,
    VECTOR_DISTANCE,
    check_vector_arguments,
    embedding_of,
    path_of,
    refuse_fuzzy,
)

_Call = Callable[..., JsonOrUndefined]
_ARITIES: Final[dict[str, tuple[int, int | None]]] = {
    "VECTORDISTANCE": (2, 4),
    "_VECTORSCORE": (2, 4),
    "FULLTEXTCONTAINS": (2, 2),
    "FULLTEXTCONTAINSALL": (2, None),
    "FULLTEXTCONTAINSANY": (2, None),
    "_FULLTEXTSCORE": (5, 5),
    "_FULLTEXTWORDCOUNT": (1, 1),
}


@dataclass(frozen=True, slots=True)
class SearchFunctions:
    """The functions of one container; implements `MoreFunctions`."""

    policies: SearchPolicies

    def function(self, call: FunctionCall, parameters: Mapping[str, Json]) -> _Call | None:
        """Return a function of argument values for a call, or None for any other function. Raises 400."""
        name = call.name
        if name == "FULLTEXTSCORE":  # measured, for all other clauses: ikvmnet/calcite-cosmos
            message = "The FullTextScore function is only allowed in the ORDER BY RANK clause."
            raise query_error("SC2240", message, call.location)
        if name not in _ARITIES:
            return None
        paths = [path_of(argument, parameters)[1] for argument in call.arguments[:2]]
        path = next((path for path in paths if path), ())
        function = Function(name, _Function(name, path, self.policies), *_ARITIES[name])
        check_arity(function, call)
        if name == VECTOR_DISTANCE:
            check_vector_arguments(call)
        return function.call


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    path: Names
    policies: SearchPolicies

    def __call__(self, *arguments: JsonOrUndefined) -> JsonOrUndefined:
        large_value()  # vectors and texts are long, and the first import takes long
        if self.name in CONTAINS:
            return self._contains(*arguments)
        match self.name:
            case "_FULLTEXTWORDCOUNT":
                return len(found) if (found := self._terms(arguments[0])) is not None else 0
            case "_FULLTEXTSCORE":
                return self._text_score(*arguments)
        return self._vector_score(*arguments)

    def _vector_score(
        self,
        one: JsonOrUndefined,
        other: JsonOrUndefined,
        _brute_force: JsonOrUndefined = UNDEFINED,
        options: JsonOrUndefined = UNDEFINED,
    ) -> JsonOrUndefined:
        vectors, embedding = vector_module(), embedding_of(self.path, options, self.policies)
        first, second = (vectors.vector_of(value, embedding.data_type) for value in (one, other))
        if first is None or second is None or len(first) != len(second):
            return UNDEFINED
        score: float = vectors.score(first, second, embedding.distance)
        if self.name == "VECTORDISTANCE":
            score = vectors.distance_of(score, embedding.distance)
        return score if math.isfinite(score) else UNDEFINED  # as for a zero vector and cosine

    def _contains(self, text: JsonOrUndefined, *phrases: JsonOrUndefined) -> JsonOrUndefined:
        for phrase in phrases:
            refuse_fuzzy(phrase)
        found = self._terms(text)
        wanted = [self._terms(phrase) for phrase in phrases]
        if found is None or any(one is None for one in wanted):
            return UNDEFINED
        texts = text_module()
        has = (texts.occurrences(found, one) > 0 for one in wanted)
        return any(has) if CONTAINS[self.name] == "ANY" else all(has)

    def _text_score(
        self,
        text: JsonOrUndefined,
        phrases: JsonOrUndefined,
        documents: JsonOrUndefined,
        words: JsonOrUndefined,
        hits: JsonOrUndefined,
    ) -> JsonOrUndefined:
        found = self._terms(text)
        if type(phrases) is not list or type(hits) is not list or not (is_number(documents) and is_number(words)):
            return UNDEFINED
        if found is None:
            return UNDEFINED
        texts = text_module()
        total = 0.0
        for phrase, count in zip(phrases, hits, strict=False):
            wanted = self._terms(phrase)
            if wanted is None or not is_number(count):
                return UNDEFINED
            frequency = float(texts.occurrences(found, wanted))
            total += texts.bm25(frequency, float(len(found)), documents, words, count)
        return total

    def _terms(self, text: JsonOrUndefined) -> tuple[str, ...] | None:
        if type(text) is not str:
            return None
        found: tuple[str, ...] = text_module().terms(text, self.policies.language(self.path))
        return found


def load_libraries() -> None:
    """Import what searches need, if it is installed: this takes seconds, which should not count as a query's time."""
    with suppress(ModuleNotFoundError):
        import_module("cosmos_emulator.search.ranking")


def vector_module() -> ModuleType:
    """Return the module `vectors`. Raises 400 without NumPy."""
    try:
        from cosmos_emulator.search import vectors
    except ModuleNotFoundError as error:
        raise missing_packages() from error
    return vectors


def text_module() -> ModuleType:
    """Return the module `texts`. Raises 400 without the stemmer."""
    try:
        from cosmos_emulator.search import texts
    except ModuleNotFoundError as error:
        raise missing_packages() from error
    return texts


def missing_packages() -> CosmosError:
    """Return the error that says what to install."""
    message = "Vector and full-text search need more packages; run: pip install 'cosmos-emulator[search]'"
    return CosmosError(400, message)
