"""What a query searches for: the order of its items, conditions on texts, and statistics.

Errors, unless noted: azure-cosmos test_query_vector_similarity.py and test_query_hybrid_search.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.names import canonical
from cosmos_emulator.query import UNDEFINED, Dialect, ItemReader, Json, Query, has_aggregates, syntax
from cosmos_emulator.query.errors import evaluation_error, not_supported, query_error
from cosmos_emulator.query.syntax import Expression, FunctionCall
from cosmos_emulator.query.values import JsonOrUndefined, as_double, is_number
from cosmos_emulator.search.policies import DATA_TYPES, DISTANCE_FUNCTIONS, Embedding, Names, SearchPolicies

VECTOR_DISTANCE: Final = "VECTORDISTANCE"
RRF: Final = "RRF"
# The plan uses these; the .NET SDK has examples (QueryPlanRetrieverTests.cs).
PLANNED_VECTOR_SCORE: Final = "_VECTORSCORE"
PLANNED_TEXT_SCORE: Final = "_FULLTEXTSCORE"
WORD_COUNT: Final = "_FULLTEXTWORDCOUNT"
CONTAINS: Final = {"FULLTEXTCONTAINS": "ALL", "FULLTEXTCONTAINSALL": "ALL", "FULLTEXTCONTAINSANY": "ANY"}

_OPTIONS: Final = {
    "distanceFunction",
    "dataType",
    "searchListSizeMultiplier",
    "quantizedVectorListMultiplier",
    "filterPriority",
}


class Phrase(NamedTuple):
    """A phrase that is searched for in the texts at a path."""

    path: Names
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """The number of texts at a path, of their terms, and of the texts with each phrase."""

    documents: float
    words: float
    hits: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TextScore:
    """BM25 of phrases at one path; without `statistics`, with those of the items that the query reads."""

    phrases: tuple[Phrase, ...]
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class VectorScore:
    """The nearness of the vectors at a path to `vector`, which is empty if the query has none."""

    path: Names
    embedding: Embedding
    vector: tuple[float, ...]


Score: TypeAlias = TextScore | VectorScore


@dataclass(frozen=True, slots=True)
class Component:
    """One score of an order; a negative weight puts low scores first. `call` is as in the query."""

    call: FunctionCall
    score: Score
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """The order of items: by the only score, or by the fused ranks of several (RRF)."""

    components: tuple[Component, ...]
    is_fused: bool = False
    is_weighted: bool = False


@dataclass(frozen=True, slots=True)
class Conditions:
    """Several conditions, of which `ALL` or `ANY` must hold."""

    needs: str
    parts: tuple[Condition, ...]


Condition: TypeAlias = Phrase | Conditions


@dataclass(frozen=True, slots=True)
class Search:
    """What a query searches for; `condition` holds for every match. The result can be `statistics`, by path."""

    order: Order | None = None
    condition: Condition | None = None
    statistics: tuple[tuple[Phrase, ...], ...] | None = None


def search_of(
    query: Query, parameters: Mapping[str, Json], dialect: Dialect, policies: SearchPolicies
) -> Search | None:
    """Return what a query searches for; None if it searches for nothing. Raises 400."""
    reader = _Reader(query, parameters, dialect, policies)
    order = reader.order()
    condition = None if query.where is None else reader.condition(query.where)
    statistics = reader.statistics()
    if order is None and condition is None and statistics is None:
        return None
    return Search(order, condition, statistics)


def without_order(query: Query) -> Query:
    """Return a query that keeps the order of the items that it reads."""
    return replace(query, order_by=(), rank=False)


def path_of(node: Expression, parameters: Mapping[str, Json]) -> tuple[Expression, Names]:
    """Return the start of a path, such as an alias, and the names after it; LangChain uses `c[@name]`."""
    names: list[str] = []
    while True:
        match node:
            case syntax.Property(target=target, name=name):
                names.append(name)
            case syntax.Index(target=target, index=syntax.Parameter(name=parameter)) if isinstance(
                value := parameters.get(parameter), str
            ):
                names.append(value)
            case _:
                return node, tuple(reversed(names))
        node = target


def embedding_of(path: Names, options: JsonOrUndefined, policies: SearchPolicies) -> Embedding:
    """Return the policy of a path with the options of a VectorDistance call. Raises 400."""
    embedding = policies.embeddings.get(path, Embedding())
    if options is UNDEFINED:
        return embedding
    unknown = None if type(options) is not dict else options.keys() - _OPTIONS
    if unknown or type(options) is not dict:
        raise evaluation_error(f"The options of VectorDistance can be {', '.join(sorted(_OPTIONS))}.")
    return replace(
        embedding,
        distance=_option(options, "distanceFunction", DISTANCE_FUNCTIONS, embedding.distance),
        data_type=_option(options, "dataType", DATA_TYPES, embedding.data_type),
    )


def _option(options: Mapping[str, Json], name: str, choices: tuple[str, ...], default: str) -> str:
    choice = canonical(options.get(name, default), choices)
    if choice is None:
        raise evaluation_error(f"The option {name} of VectorDistance must be {', '.join(choices)}.")
    return choice


def refuse_fuzzy(term: JsonOrUndefined) -> None:
    """Raise 400 for the term of a fuzzy search, `{"term", "distance"}`, a preview of the service."""
    if type(term) is dict:
        raise not_supported("fuzzy search")


class _Reader:
    """Reads the search functions of a query."""

    def __init__(
        self, query: Query, parameters: Mapping[str, Json], dialect: Dialect, policies: SearchPolicies
    ) -> None:
        self._query = query
        self._parameters = parameters
        self._computed = dialect.computed
        self._policies = policies
        self._items = ItemReader(query, parameters)

    # Order

    def order(self) -> Order | None:
        items = self._query.order_by
        call = items[0].expression if items else None
        if not isinstance(call, FunctionCall):
            if self._query.rank:
                raise _not_a_score(items[0].expression)
            return None
        if not self._query.rank and call.name not in (VECTOR_DISTANCE, PLANNED_VECTOR_SCORE, PLANNED_TEXT_SCORE):
            return None
        if len(items) > 1:
            raise not_supported(f"ORDER BY {call.written or call.name} with other items", call.location)
        if self._query.group_by or has_aggregates(self._query):
            raise not_supported(f"ORDER BY {call.written or call.name} with groups or aggregates", call.location)
        if call.name == VECTOR_DISTANCE and items[0].direction:
            message = "Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported."
            raise evaluation_error(message)
        if self._query.rank and call.name == RRF:
            return self._fused(call)
        weight = -1.0 if items[0].direction == "ASC" else 1.0
        return Order((Component(call, self._score(call), weight),))

    def _fused(self, call: FunctionCall) -> Order:
        arguments, weights = list(call.arguments), list[float]()
        if arguments and not isinstance(arguments[-1], FunctionCall):
            *arguments, last = arguments
            value = self._items.constant(last)
            weights = [as_double(one) for one in value if is_number(one)] if type(value) is list else []
            if len(weights) != len(arguments) or type(value) is not list or len(value) != len(weights):
                raise query_error("SC2050", "RRF requires an array with a weight for each score.", last.location)
        if not arguments:
            raise query_error("SC2050", "The RRF function requires at least 1 score.", call.location)
        parts = []
        for number, part in enumerate(arguments):
            if not isinstance(part, FunctionCall):
                raise _not_a_score(part)
            parts.append(Component(part, self._score(part), weights[number] if weights else 1.0))
        return Order(tuple(parts), is_fused=True, is_weighted=bool(weights))

    def _score(self, call: FunctionCall) -> Score:
        match call.name:
            case "VECTORDISTANCE" | "_VECTORSCORE":
                return self._vector_score(call)
            case "FULLTEXTSCORE":
                return TextScore(self._at(self._path(call), self._texts(call)))
            case "_FULLTEXTSCORE":
                return self._planned_text_score(call)
        raise _not_a_score(call)

    def _vector_score(self, call: FunctionCall) -> VectorScore:
        if not 2 <= len(call.arguments) <= 4:
            raise query_error("SC2050", "The VECTORDISTANCE function requires 2 to 4 argument(s).", call.location)
        one, other, *rest = call.arguments
        path, constant = self._item_path(one), self._items.constant(other)
        if path is None:
            path, constant = self._item_path(other), self._items.constant(one)
        if path is None or constant is UNDEFINED:
            raise not_supported(
                f"ORDER BY {call.written or call.name} of other values than a path of the item and a constant",
                call.location,
            )
        options = self._items.constant(rest[1]) if len(rest) > 1 else UNDEFINED
        numbers = [as_double(one) for one in constant if is_number(one)] if type(constant) is list else []
        is_vector = type(constant) is list and len(numbers) == len(constant)
        return VectorScore(path, embedding_of(path, options, self._policies), tuple(numbers) if is_vector else ())

    def _planned_text_score(self, call: FunctionCall) -> TextScore:
        path = self._path(call)
        values = [self._items.constant(argument) for argument in call.arguments[1:]]
        match values:
            case [[*phrases], int() | float() as documents, int() | float() as words, [*hits]] if (
                all(isinstance(one, str) for one in phrases)
                and all(is_number(one) for one in hits)
                and len(phrases) == len(hits)
            ):
                statistics = Statistics(documents, words, tuple(as_double(one) for one in hits if is_number(one)))
                return TextScore(self._at(path, map(str, phrases)), statistics)
        raise query_error("SC2050", f"The arguments of {call.written} are not those of the query plan.", call.location)

    # Conditions

    def condition(self, node: Expression) -> Condition | None:
        """Return a condition that holds wherever the expression is true, or None."""
        match node:
            case syntax.Logical(operator="AND", operands=operands):
                found = tuple(one for operand in operands if (one := self.condition(operand)) is not None)
                return Conditions("ALL", found) if found else None
            case syntax.Logical(operands=operands):
                parts = [self.condition(operand) for operand in operands]
                known = tuple(one for one in parts if one is not None)
                return Conditions("ANY", known) if len(known) == len(parts) else None
            case FunctionCall(name=name) if name in CONTAINS:
                path = self._item_path(node.arguments[0]) if node.arguments else None
                values = [self._items.constant(argument) for argument in node.arguments[1:]]
                texts = [value for value in values if isinstance(value, str)]
                if path and texts and len(texts) == len(values):
                    return Conditions(CONTAINS[name], self._at(path, texts))
        return None

    # Statistics

    def statistics(self) -> tuple[tuple[Phrase, ...], ...] | None:
        """Recognize the `globalStatisticsQuery` of a plan."""
        select = self._query.select
        items = select.items if isinstance(select, syntax.SelectList) else ()
        if [item.alias for item in items] != ["documentCount", "fullTextStatistics"] or self._query.where is not None:
            return None
        parts = syntax.children(items[1].expression)
        found = tuple(phrases for part in parts if (phrases := self._counted(part)))
        return found if found and len(found) == len(parts) else None

    def _counted(self, node: Expression) -> tuple[Phrase, ...]:
        """Return the phrases that an element of the statistics counts, all at one path; none for another element."""
        calls = [part for part in syntax.walk(node) if isinstance(part, FunctionCall)]
        paths = {self._item_path(call.arguments[0]) for call in calls if call.name in (WORD_COUNT, *CONTAINS)}
        conditions = [self.condition(call) for call in calls if call.name in CONTAINS]
        found = [part for one in conditions if isinstance(one, Conditions) for part in one.parts]
        phrases = tuple(part for part in found if isinstance(part, Phrase))
        return phrases if len(paths) == 1 and len(phrases) == len(conditions) else ()

    # Arguments

    def _item_path(self, node: Expression) -> Names | None:
        start, names = path_of(node, self._parameters)
        is_item = isinstance(start, syntax.Identifier) and start.name == self._items.alias
        return names if is_item and names and names[0] not in self._computed else None

    def _path(self, call: FunctionCall) -> Names:
        path = self._item_path(call.arguments[0]) if call.arguments else None
        if path is None:
            raise not_supported(f"{call.written or call.name} of another value than a path of the item", call.location)
        return path

    def _at(self, path: Names, texts: Iterable[str]) -> tuple[Phrase, ...]:
        return tuple(Phrase(path, self._policies.language(path), text) for text in texts)

    def _texts(self, call: FunctionCall) -> list[str]:
        """Return the phrases of FullTextScore. An array is an error (ikvmnet/calcite-cosmos: measured)."""
        values = [self._items.constant(argument) for argument in call.arguments[1:]]
        for value in values:
            refuse_fuzzy(value)
        texts = [value for value in values if isinstance(value, str)]
        if not texts or len(texts) < len(values):
            raise query_error("SC2241", "The FullTextScore function requires a path and strings.", call.location)
        return texts


def _not_a_score(node: Expression) -> CosmosError:
    message = "ORDER BY RANK requires FullTextScore, VectorDistance, or RRF of these."
    return query_error("SC2240", message, node.location)
