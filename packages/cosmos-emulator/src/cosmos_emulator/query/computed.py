"""Computed properties: expressions over one item, which queries use like its top-level properties.

Source: learn.microsoft.com/azure/cosmos-db/nosql/query/computed-properties. Tests of SDKs have some of the service's
messages (azure-cosmos test_computed_properties.py; azure-cosmos-dotnet-v3, ContainerSettingsTests.cs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import syntax
from cosmos_emulator.query.aggregates import AGGREGATES
from cosmos_emulator.query.compiled import compile_query
from cosmos_emulator.query.functions import FUNCTIONS, Evaluated
from cosmos_emulator.query.parser import parse
from cosmos_emulator.query.syntax import Expression, Query
from cosmos_emulator.query.values import Json

MAX_PROPERTIES: Final = 20
MAX_TEXT: Final = 10_000  # an assumption: the event loop parses it
_LOCATED_CODE: Final = re.compile(r'"location":\{[^}]*\},"code":"SC(\d+)"')
_RESERVED: Final = frozenset({"id", "_rid", "_self", "_etag", "_attachments", "_ts"})


def parse_computed(definition: Json) -> Mapping[str, Query]:
    """Return the query of each property in a container's `computedProperties`. Raises 400 if one is invalid."""
    if not isinstance(definition, list):
        raise _invalid("'computedProperties' must be an array")
    if len(definition) > MAX_PROPERTIES:
        raise _invalid(f"a container can have at most {MAX_PROPERTIES} computed properties")
    texts: dict[str, str] = {}
    for entry in definition:
        name, text = _checked(entry)
        if name in texts:
            raise CosmosError(400, f"Computed property name '{name}' cannot be used in multiple definitions.")
        texts[name] = text
    return {name: _parsed(name, text, texts, index) for index, (name, text) in enumerate(texts.items())}


def _checked(entry: Json) -> tuple[str, str]:
    match entry:
        case {"name": str() as name, "query": str() as text}:
            pass
        case _:
            raise CosmosError(400, "One of the specified inputs is invalid")
    for member, value in (("name", name), ("query", text)):
        if not value:
            raise CosmosError(400, f"Computed property '{member}' is either empty or unspecified.")
    if "/" in name:
        raise _invalid(f"the name of a computed property must be a top-level property, not '{name}'")
    if name in _RESERVED:
        raise CosmosError(400, f"The system property name '{name}' cannot be used as a computed property name.")
    if len(text) > MAX_TEXT:
        raise _invalid(f"the query of the computed property '{name}' has more than {MAX_TEXT} characters")
    return name, text


def _parsed(name: str, text: str, names: Collection[str], index: int) -> Query:
    try:
        query = parse(text)
        problem = next(_problems(query, names), None)
        if problem is None:
            compile_query(query, {})
    except CosmosError as error:
        details = _LOCATED_CODE.sub(r'"code":\1', error.message)
        message = f"Computed property at index ({index}) has a malformed query: '{text}' Error details: '{details}'"
        raise CosmosError(400, message) from error
    if problem is not None:
        raise _invalid(f"the query of the computed property '{name}' {problem}")
    if not isinstance(query.select, syntax.SelectValue):
        message = f"Required VALUE expression missing from computed property query '{text}' at index ({index})."
        raise CosmosError(400, message)
    return query


def _problems(query: Query, computed: Collection[str]) -> Iterator[str]:
    if not query.sources:
        yield "must have a FROM clause"
        return
    clauses = {
        "JOIN": len(query.sources) > 1,
        "WHERE": query.where is not None,
        "GROUP BY": bool(query.group_by),
        "ORDER BY": bool(query.order_by),
        "TOP": query.top is not None,
        "DISTINCT": query.distinct,
        "OFFSET LIMIT": query.offset is not None,
    }
    yield from (f"must not use {clause}" for clause, is_used in clauses.items() if is_used)
    source = query.sources[0]
    if source.iterate or not isinstance(source.collection, syntax.PathCollection) or source.collection.path:
        yield "must select from the root item, such as FROM c"
        return
    for expression in syntax.selected(query.select):
        for node in syntax.walk(expression):
            yield from _problems_of_node(node, source.alias or source.collection.name, computed)


def _problems_of_node(node: Expression, alias: str, computed: Collection[str]) -> Iterator[str]:
    match node:
        case syntax.Subquery():
            yield "must not have a subquery"
        case syntax.UdfCall():
            yield "must not call user-defined functions"
        case syntax.Property(target=syntax.Identifier(name=target), name=name) if target == alias and name in computed:
            yield f"must not refer to another computed property ('{name}')"
        case syntax.FunctionCall(name=name) if name in AGGREGATES:
            yield "must not use aggregate functions"
        case syntax.FunctionCall(name=name) if name.startswith("ST_"):
            yield "must not use spatial functions"
        case syntax.FunctionCall(name=name) if name in FUNCTIONS and FUNCTIONS[name].evaluated is not Evaluated.ONCE:
            yield f"must be deterministic, so it cannot call {name}"


def _invalid(reason: str) -> CosmosError:
    return CosmosError(400, f"One of the specified inputs is invalid: {reason}.")
