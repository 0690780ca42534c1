"""The features of a query, which decide whether a client must merge results."""

from __future__ import annotations

from dataclasses import dataclass

from cosmos_emulator.query import syntax
from cosmos_emulator.query.aggregates import AGGREGATES
from cosmos_emulator.query.syntax import Expression, FunctionCall, Query


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """The clauses and expressions that a query uses."""

    has_from: bool
    has_top: bool
    has_order_by: bool
    has_aggregates: bool
    has_distinct: bool
    has_offset_limit: bool
    has_group_by: bool
    is_select_value: bool
    reads_combined_rows: bool
    """True for `FROM (SELECT … GROUP BY …)`, see `combining_input`."""

    @property
    def needs_plan(self) -> bool:
        """Return whether partitions' rows cannot be concatenated (PartitionRoutingHelper.cs of the .NET SDK)."""
        return (
            self.has_top
            or self.has_order_by
            or self.has_aggregates
            or self.has_distinct
            or self.has_offset_limit
            or self.has_group_by
        )


def is_aggregate(node: Expression) -> bool:
    """Return whether an expression calls an aggregate function."""
    return isinstance(node, FunctionCall) and node.name in AGGREGATES


def has_aggregates(query: Query) -> bool:
    """Return whether SELECT calls an aggregate function outside subqueries."""
    expressions = syntax.selected(query.select)
    return any(is_aggregate(node) for expression in expressions for node in syntax.walk(expression))


def features_of(query: Query) -> QueryFeatures:
    """Return the features of a query."""
    select = query.select
    return QueryFeatures(
        has_from=bool(query.sources),
        has_top=query.top is not None,
        has_order_by=bool(query.order_by),
        has_aggregates=has_aggregates(query),
        has_distinct=query.distinct,
        has_offset_limit=query.offset is not None,
        has_group_by=bool(query.group_by),
        is_select_value=isinstance(select, syntax.SelectValue),
        reads_combined_rows=combining_input(query) is not None,
    )


def rows_are_items(query: Query) -> bool:
    """Return whether each item that satisfies WHERE makes one row, before TOP."""
    match query.sources:
        case (syntax.Source(collection=syntax.PathCollection(), iterate=False),):
            return not (has_aggregates(query) or query.group_by or query.distinct or query.offset is not None)
    return False


def combining_input(query: Query) -> Query | None:
    """Return the subquery of FROM that makes a row of several items (GROUP BY, aggregate, DISTINCT), or None."""
    if not query.sources or not isinstance(query.sources[0].collection, syntax.SubqueryCollection):
        return None
    rows = query.sources[0].collection.query
    combines = rows.distinct or rows.group_by or has_aggregates(rows) or combining_input(rows) is not None
    return rows if combines else None


def distinct_input(query: Query) -> Query | None:
    """Return the subquery of `SELECT COUNT(1) FROM (SELECT DISTINCT …)`, which counts rows that differ; or None.

    Sources: DCountQueryPipelineStage.cs of the .NET SDK; spzsource.github.io, "does DISTINCT COUNT really work?".
    """
    match query:
        case Query(
            sources=(syntax.Source(collection=syntax.SubqueryCollection(query=rows), iterate=False),),
            where=None,
            group_by=(),
            distinct=False,
        ) if rows.distinct and not rows.group_by and not has_aggregates(rows) and combining_input(rows) is None:
            match syntax.selected(query.select):
                case (syntax.FunctionCall(name="COUNT", arguments=(syntax.Literal(),)),):
                    return rows
    return None


def counts_items(query: Query) -> bool:
    """Return True for `SELECT VALUE COUNT(1) FROM c`, which the service answers from the index, reading no items."""
    match query:
        case Query(
            select=syntax.SelectValue(expression=syntax.FunctionCall(name="COUNT", arguments=(syntax.Literal(),))),
            sources=(syntax.Source(collection=syntax.PathCollection(path=()), iterate=False),),
            where=None,
            group_by=(),
        ):
            return True
    return False
