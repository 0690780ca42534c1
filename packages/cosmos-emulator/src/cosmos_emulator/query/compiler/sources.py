"""FROM and JOIN: closures that fill the alias slots for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from cosmos_emulator.query import syntax
from cosmos_emulator.query.compiler.paths import slot_evaluator, step
from cosmos_emulator.query.compiler.scope import ITEM_SLOT, Binder, Context, Evaluator, Frame, Scope
from cosmos_emulator.query.syntax import Identifier, PathCollection, Source
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined
from cosmos_emulator.runtime.pacing import checkpoint

ROWS_PER_CHECKPOINT = 256
LOOPS_PER_CHECKPOINT = 16  # the last source of a JOIN is one loop per row of the others

Values = Callable[[Frame], Iterable[JsonOrUndefined]]
Subquery = Callable[[syntax.Query, bool], Callable[[Frame], Iterator[Json]]]
"""Compiles a nested query; the flag is `Scope.opens_container`."""


def compile_sources(sources: tuple[Source, ...], context: Context, scope: Scope, subquery: Subquery) -> Binder | None:
    """Bind the aliases of FROM in `scope`; return None for a single unchanged row.

    If the scope opens the container, the first name of the first source is the item. Other names must be aliases bound
    before.
    """
    binder: Binder | None = None
    for position, source in enumerate(sources):
        if position:
            context.count_join()
        root = scope.opens_container and position == 0
        binder = _bound(binder, source, root, context, scope, subquery)
    return binder


def _bound(
    outer: Binder | None, source: Source, root: bool, context: Context, scope: Scope, subquery: Subquery
) -> Binder | None:
    collection = source.collection
    if isinstance(collection, PathCollection) and not collection.path and not source.iterate:
        slot = ITEM_SLOT if root else scope.resolve(collection)
        scope.bind(source.alias or collection.name, slot, collection)
        return outer
    values = _values(source, root, context, scope, subquery)
    slot = context.new_slot()
    alias = _alias(source)
    if alias is not None:
        scope.bind(alias, slot, Identifier(alias, location=source.location))
    if scope.is_top:
        context.positions.append(context.new_slot())
        return _joined(outer, _resumable(slot, context.positions[-1], values))
    return _joined(outer, _each(slot, values))


def _alias(source: Source) -> str | None:
    if source.alias is not None or not isinstance(source.collection, PathCollection):
        return source.alias
    last = source.collection.path[-1]
    return last if isinstance(last, str) else None


def _values(source: Source, root: bool, context: Context, scope: Scope, subquery: Subquery) -> Values:
    collection = source.collection
    if not isinstance(collection, PathCollection):
        rows = subquery(collection.query, root)
        return _elements_of_rows(rows) if source.iterate else rows
    slot = ITEM_SLOT if root else scope.resolve(collection)
    evaluate = _path(slot, collection.path, context)
    return _elements(evaluate) if source.iterate else _value(evaluate)


def _value(evaluate: Evaluator) -> Values:
    """`JOIN c.a.b`: one row if the value exists."""

    def values(frame: Frame) -> Iterable[JsonOrUndefined]:
        value = evaluate(frame)
        return () if value is UNDEFINED else (value,)

    return values


def _elements(evaluate: Evaluator) -> Values:
    """`x IN c.a.b`: one row per array element."""

    def values(frame: Frame) -> Iterable[JsonOrUndefined]:
        value = evaluate(frame)
        return value if type(value) is list else ()

    return values


def _elements_of_rows(rows: Callable[[Frame], Iterator[Json]]) -> Values:
    """`x IN (SELECT …)`: one row per element of each array that the subquery yields.

    Sources: learn.microsoft.com/azure/cosmos-db/nosql/query/subquery, which joins literal arrays; the .NET SDK's
    DataSourceEvaluator.cs, which skips other values.
    """

    def values(frame: Frame) -> Iterable[JsonOrUndefined]:
        return (element for row in rows(frame) if type(row) is list for element in row)

    return values


def _path(slot: int, path: tuple[str | int, ...], context: Context) -> Evaluator:
    computed = context.computed_property(slot, path[0]) if path else None
    start, keys = (slot_evaluator(slot), path) if computed is None else (computed, path[1:])

    def evaluate(frame: Frame) -> JsonOrUndefined:
        value = start(frame)
        for key in keys:
            value = step(value, key)
        return value

    return evaluate


def _each(slot: int, values: Values) -> Binder:
    loops = 0

    def bind(frame: Frame) -> Iterator[None]:
        nonlocal loops
        loops += 1
        if loops % LOOPS_PER_CHECKPOINT == 0:
            checkpoint()
        for count, value in enumerate(values(frame), start=1):
            if count % ROWS_PER_CHECKPOINT == 0:
                checkpoint()
            frame[slot] = value
            yield None

    return bind


def _resumable(slot: int, position: int, values: Values) -> Binder:
    """Like `_each`, but keep the current index in the frame at `position`, and start at the index found there."""
    loops = 0

    def bind(frame: Frame) -> Iterator[None]:
        nonlocal loops
        start = frame[position]
        if not isinstance(start, int):
            raise TypeError(f"the position {start!r} is not an index")
        loops += 1
        if loops % LOOPS_PER_CHECKPOINT == 0:
            checkpoint()
        rows = values(frame)
        for index, value in enumerate(islice(rows, start, None) if start else rows, start):
            frame[position] = index
            if index % ROWS_PER_CHECKPOINT == ROWS_PER_CHECKPOINT - 1:
                checkpoint()
            frame[slot] = value
            yield None
        frame[position] = 0  # for the next row of the outer sources

    return bind


def _joined(outer: Binder | None, inner: Binder) -> Binder:
    if outer is None:
        return inner

    def bind(frame: Frame) -> Iterator[None]:
        for _ in outer(frame):
            yield from inner(frame)

    return bind
