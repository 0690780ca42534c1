"""Rewrites a query to the one that a client runs on each range to merge the results.

The forms come from the .NET SDK's QueryPlanBaselineTests; azure-cosmos, @azure/cosmos and .NET read them.
"""

from __future__ import annotations

from dataclasses import replace

from cosmos_emulator.query import syntax
from cosmos_emulator.query.counts import RowCounts
from cosmos_emulator.query.errors import QueryError, not_supported
from cosmos_emulator.query.features import has_aggregates, is_aggregate
from cosmos_emulator.query.printer import print_query
from cosmos_emulator.query.syntax import (
    ArrayLiteral,
    Expression,
    FunctionCall,
    Literal,
    ObjectLiteral,
    Property,
    Query,
    SelectItem,
    SelectList,
    SelectValue,
)

FILTER_PLACEHOLDER = "{documentdb-formattableorderbyquery-filter}"
"""The client replaces this with its resume filter or `true`."""

_PLACEHOLDER = syntax.Identifier(f"({FILTER_PLACEHOLDER})")


def rewritten_query(query: Query, counts: RowCounts, *, is_pinned: bool) -> str:
    """Return the text for one range, or "" for the original text.

    Raises 400 for an aggregate inside a larger expression, which clients cannot merge.
    """
    if has_aggregates(query) and not query.group_by:
        return "" if is_pinned else print_query(_grouped(query, counts))
    if query.group_by and (has_aggregates(query) or not query.order_by):
        return print_query(_grouped(query, counts))
    if query.order_by:
        return print_query(_ordered(query, counts))
    if query.offset is not None:
        if is_pinned and not query.distinct:
            return ""
        offset, limit = _bounds(query, counts)
        return print_query(replace(query, offset=offset, limit=limit))
    if query.distinct and query.top is not None:
        return print_query(replace(query, top=None))
    return ""


def _bounds(query: Query, counts: RowCounts) -> tuple[Literal | None, Literal | None]:
    """Return one range's OFFSET and LIMIT. A range can only limit rows; DISTINCT and GROUP BY need all."""
    if query.distinct or query.group_by or query.offset is None:
        return None, None
    return Literal(0), Literal(counts.skipped + (counts.limit or 0))


# ORDER BY


def _ordered(query: Query, counts: RowCounts) -> Query:
    payload = payload_of(query)
    if query.group_by:
        payload = ObjectLiteral((("groupByItems", _group_keys(query)), ("payload", payload)))
    rewritten = ordered(query, payload)
    if isinstance(query.select, SelectValue) and rewritten.where is not None and not query.group_by:
        is_defined = FunctionCall("IS_DEFINED", (payload,))
        rewritten = replace(rewritten, where=syntax.Logical("AND", (rewritten.where, is_defined)))
    top = None if query.distinct or query.group_by or query.top is None else Literal(counts.top)
    offset, limit = _bounds(query, counts)
    return replace(rewritten, top=top, offset=offset, limit=limit)


def ordered(query: Query, payload: Expression, *, resumes: bool = True) -> Query:
    """`SELECT alias._rid, [{"item": key}, …] AS orderByItems, <payload> AS payload … ORDER BY …`.

    If the client `resumes` the query, WHERE has the placeholder of its filter.
    """
    keys = tuple(_item(item.expression) for item in query.order_by)
    select = SelectList(
        (
            SelectItem(Property(syntax.Identifier(first_alias(query)), "_rid"), None),
            SelectItem(ArrayLiteral(keys), "orderByItems"),
            SelectItem(payload, "payload"),
        )
    )
    conditions = [one for one in (query.where, _PLACEHOLDER if resumes else None) if one is not None]
    where = _conjunction(conditions) if conditions else None
    return replace(query, select=select, where=where, distinct=False)


def _conjunction(conditions: list[Expression]) -> Expression:
    return conditions[0] if len(conditions) == 1 else syntax.Logical("AND", tuple(conditions))


def payload_of(query: Query) -> Expression:
    """Return what SELECT makes of a row, as one expression."""
    select = query.select
    match select:
        case SelectValue(expression=expression):
            return expression
        case SelectList():
            return ObjectLiteral(tuple((name, item.expression) for name, item in select.named()))
        case syntax.SelectStar():
            return syntax.Identifier(first_alias(query))


def first_alias(query: Query) -> str:
    """Return the alias of the first input. Raises 400 if it has none."""
    first = query.sources[0] if query.sources else None
    if first is not None and first.alias is not None:
        return first.alias
    if first is not None and isinstance(first.collection, syntax.PathCollection):
        collection = first.collection
        last = collection.path[-1] if collection.path else collection.name
        if isinstance(last, str):
            return last
    raise not_supported("ORDER BY across partitions over an input without alias", query.location)


def _item(expression: Expression) -> ObjectLiteral:
    return ObjectLiteral((("item", expression),))


# Aggregates and GROUP BY


def _group_keys(query: Query) -> ArrayLiteral:
    return ArrayLiteral(tuple(_item(key) for key in query.group_by))


def _grouped(query: Query, counts: RowCounts) -> Query:
    payload = _partial_payload(query)
    select: syntax.Selection
    if query.group_by:
        select = SelectList((SelectItem(_group_keys(query), "groupByItems"), SelectItem(payload, "payload")))
    elif isinstance(query.select, SelectValue):
        select = SelectValue(payload)
    else:
        select = SelectList((SelectItem(payload, "payload"),))
    rewritten = replace(query, select=select, top=None, offset=None, limit=None)
    if query.group_by or query.distinct or isinstance(query.select, SelectValue):
        return rewritten
    offset, limit = _bounds(query, counts)
    return replace(rewritten, top=query.top and Literal(counts.top), offset=offset, limit=limit)


def _partial_payload(query: Query) -> Expression:
    select = query.select
    if isinstance(select, SelectValue):
        partial = _partial(select.expression)
        return ArrayLiteral((partial,)) if is_aggregate(select.expression) else partial
    if isinstance(select, SelectList):
        return ObjectLiteral(tuple((name, _partial(item.expression)) for name, item in select.named()))
    raise not_supported("SELECT * with GROUP BY", select.location)


def _partial(expression: Expression) -> Expression:
    """Return one range's partial aggregates, which clients combine."""
    if isinstance(expression, FunctionCall) and is_aggregate(expression):
        return _partial_aggregate(expression)
    if any(is_aggregate(node) for node in syntax.walk(expression)):
        message = "Compositions of aggregates and other expressions are not allowed."
        raise QueryError([{"severity": "Error", "message": message}])
    return expression


def _partial_aggregate(call: FunctionCall) -> Expression:
    arguments = call.arguments
    count = FunctionCall("COUNT", arguments)
    if call.name == "AVG":
        return _item(ObjectLiteral((("sum", FunctionCall("SUM", arguments)), ("count", count))))
    if call.name in ("MIN", "MAX"):
        extreme = FunctionCall(call.name, arguments)
        detail = ObjectLiteral(((call.name.lower(), extreme), ("count", count)))
        return ObjectLiteral((("item", extreme), ("item2", detail)))
    return _item(call)
