"""The SQL dialect of Azure Cosmos DB for NoSQL.

    query = parse("SELECT * FROM c WHERE c.type = @type ORDER BY c.creationDate DESC")
    rows = compile_query(query, {"@type": "post"}).run(items)

JSON values are plain Python objects; undefined is `UNDEFINED`. Invalid queries raise CosmosError 400 with the service's
error document. Independent of the store and HTTP.
"""

from cosmos_emulator.query.analysis import (
    ItemReader,
    Predicate,
    filter_predicates,
    order_by_paths,
    order_by_steps,
    pinned_values,
    selected_paths,
)
from cosmos_emulator.query.compiled import CompiledQuery, ItemRows, OrderedItems, compile_condition, compile_query
from cosmos_emulator.query.compiler.ordered import OrderPosition
from cosmos_emulator.query.compiler.scope import UdfCaller
from cosmos_emulator.query.computed import parse_computed
from cosmos_emulator.query.features import QueryFeatures, counts_items, features_of, has_aggregates, rows_are_items
from cosmos_emulator.query.parser import parse
from cosmos_emulator.query.plan import (
    EffectivePartitionKey,
    PlannedSearch,
    combined_across_partitions,
    query_plan,
    query_ranges,
)
from cosmos_emulator.query.resume import ResumeFilter, resume_filter
from cosmos_emulator.query.syntax import PLAIN, Dialect, Query
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, Undefined

__all__ = [
    "PLAIN",
    "UNDEFINED",
    "CompiledQuery",
    "Dialect",
    "EffectivePartitionKey",
    "ItemReader",
    "ItemRows",
    "Json",
    "JsonOrUndefined",
    "OrderPosition",
    "OrderedItems",
    "PlannedSearch",
    "Predicate",
    "Query",
    "QueryFeatures",
    "ResumeFilter",
    "UdfCaller",
    "Undefined",
    "combined_across_partitions",
    "compile_condition",
    "compile_query",
    "counts_items",
    "features_of",
    "filter_predicates",
    "has_aggregates",
    "order_by_paths",
    "order_by_steps",
    "parse",
    "parse_computed",
    "pinned_values",
    "query_plan",
    "query_ranges",
    "resume_filter",
    "rows_are_items",
    "selected_paths",
]
