"""The parsed query of a request or script, with its parameters."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.indexing_policy import IndexingPolicy, Step
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition
from cosmos_emulator.query import (
    PLAIN,
    UNDEFINED,
    CompiledQuery,
    Dialect,
    EffectivePartitionKey,
    JsonOrUndefined,
    Predicate,
    Query,
    QueryFeatures,
    ResumeFilter,
    UdfCaller,
    compile_query,
    features_of,
    filter_predicates,
    order_by_paths,
    order_by_steps,
    parse,
    query_plan,
    query_ranges,
    resume_filter,
    selected_paths,
)
from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.search.functions import SearchFunctions
from cosmos_emulator.search.plan import planned_search
from cosmos_emulator.search.queries import Search, search_of, without_order
from cosmos_emulator.store.items import Clock

LONG_TEXT_BYTES: Final = 4096
"""Request bodies from this size on are parsed in a worker thread, because it takes about 5 µs per character."""

_MAX_TEXT: Final = 512 * 1024
_SEARCH_WORDS: Final = ("vector", "fulltext", "rank")
_PARAMETER: Final = re.compile(r"@\w+")
# All that SDKs send (SqlQuerySpec.cs). The level, of the .NET SDK, has no effect here.
_MEMBERS: Final = {"query", "parameters", "resumeFilter", "clientQLCompatibilityLevel"}


@dataclass(frozen=True, slots=True)
class QueryText:
    """A parsed query; parameter names include the `@`."""

    query: Query
    features: QueryFeatures
    parameters: dict[str, Json]
    calls_udfs: bool
    dialect: Dialect = PLAIN
    resume: ResumeFilter | None = None
    search: Search | None = None
    may_search: bool = False
    """Whether the text has a word of the search functions."""

    def compile(self, udfs: UdfCaller | None = None, clock: Clock = time.time) -> CompiledQuery:
        """Compile the query, without the ORDER BY of a search. Raises 400."""
        query, resume = self.query, self.resume
        features: QueryFeatures | None = self.features
        if self.search is not None and self.search.order is not None:
            query, features, resume = without_order(query), None, None
        return compile_query(
            query, self.parameters, udfs, features=features, dialect=self.dialect, resume=resume, clock=clock
        )

    def ranges(self, definition: PartitionKeyDefinition) -> list[JsonObject]:
        """Return the EPK ranges of all matches (azure-cosmos query_execution_info.py)."""
        return query_ranges(self.query, self.parameters, definition.paths, _hasher(definition))

    def plan(
        self, definition: PartitionKeyDefinition, supported_features: set[str] | None, *, in_one_partition: bool = False
    ) -> JsonObject:
        """Return the plan for a client that merges ranges. Its `supported_features` are not checked if None."""
        order = None if self.search is None else self.search.order
        return query_plan(
            self.query,
            self.parameters,
            definition.paths,
            supported_features,
            _hasher(definition),
            in_one_partition=in_one_partition,
            dialect=self.dialect,
            search=None if order is None else planned_search(self.query, self.parameters, order, supported_features),
        )

    def served_predicates(self, policy: IndexingPolicy) -> list[Predicate]:
        """Return all matches' conditions that an index can serve."""
        predicates = filter_predicates(self.query, self.parameters, self.dialect)
        return [one for one in predicates if policy.indexes(one.path)]

    def selected_paths(self, policy: IndexingPolicy) -> list[tuple[str, ...]]:
        """Return the paths of SELECT that an index evaluates."""
        return [path for path in selected_paths(self.query) if policy.indexes(path)]

    def order(self) -> list[tuple[tuple[str, ...], bool]] | None:
        """Return the ORDER BY paths and directions; None unless all are paths of the item."""
        return order_by_paths(self.query)

    @property
    def order_is_computed(self) -> bool:
        """Whether the order needs computed properties, which the emulator's indexes do not have."""
        return any(path[0] in self.dialect.computed for path, _ in self.order() or ())

    def order_is_served(self, policy: IndexingPolicy) -> bool:
        """Return whether an index provides the order of the query."""
        found = order_by_steps(self.query)
        return found is not None and policy.serves_order_by(
            [(tuple(Step.ELEMENT if type(step) is int else str(step) for step in steps), down) for steps, down in found]
        )


def parse_query_body(body: bytes, dialect: Dialect = PLAIN) -> QueryText:
    """Parse a body `{"query", "parameters", "resumeFilter"}`. Raises 400, also for an unknown member."""
    document = json_text.parse_object(body)
    unknown = document.keys() - _MEMBERS
    if unknown:
        raise CosmosError(400, f"The request payload is invalid: a query has no member {min(unknown)!r}.")
    text, parameters = document.get("query"), document.get("parameters", [])
    if not isinstance(text, str):
        raise CosmosError(400, "The request payload is invalid: it must have a 'query'.")
    resume = document.get("resumeFilter")
    parsed = parse_query(text, parameters if parameters is not None else [], dialect)
    return parsed if resume is None else replace(parsed, resume=resume_filter(resume))


def parse_query(text: str, parameters: Json, dialect: Dialect = PLAIN) -> QueryText:
    """Parse a query with parameters `[{"name": "@n", "value": …}]`. Raises 400."""
    if len(text) > _MAX_TEXT:
        raise CosmosError(400, f"The SQL query text exceeded the maximum limit of {_MAX_TEXT} characters.")
    if not isinstance(parameters, list):
        raise CosmosError(400, "The parameters of a query must be an array.")
    query, values, lower = parse(text), _parameters(parameters), text.lower()
    search = None
    may_search = isinstance(dialect.functions, SearchFunctions) and any(word in lower for word in _SEARCH_WORDS)
    if isinstance(dialect.functions, SearchFunctions) and may_search:
        search = search_of(query, values, dialect, dialect.functions.policies)
    return QueryText(query, features_of(query), values, "udf" in lower, dialect, search=search, may_search=may_search)


def _parameters(parameters: list[Json]) -> dict[str, Json]:
    """Return values by name. Errors: microsoft/spring-data-cosmosdb#557 and #221."""
    values: dict[str, Json] = {}
    for parameter in parameters:
        match parameter:
            case {"name": str() as name, "value": value}:
                if not _PARAMETER.fullmatch(name):
                    raise evaluation_error(
                        f"Invalid query. Specified parameter name '{name}' is invalid. Parameter names should be in "
                        "the format of symbol '@' followed by a valid identifier. E.g. @param1"
                    )
                if name in values:
                    raise evaluation_error(f"Invalid query. Specified duplicate parameter name '{name}'.")
                values[name] = value
            case _:
                raise CosmosError(400, "A query parameter must have a 'name' that starts with '@' and a 'value'.")
    return values


def _hasher(definition: PartitionKeyDefinition) -> EffectivePartitionKey:
    def effective_partition_key(components: list[JsonOrUndefined]) -> str:
        return definition.of_values([{} if one is UNDEFINED else one for one in components]).epk

    return effective_partition_key
