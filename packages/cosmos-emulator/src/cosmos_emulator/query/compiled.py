"""A compiled query, which runs over items."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from cosmos_emulator.query.compiler.ordered import OrderedRows, Ordering, OrderPosition, compile_ordering
from cosmos_emulator.query.compiler.scope import ITEM_SLOT, Context, Frame, Scope, UdfCaller
from cosmos_emulator.query.compiler.selection import Selection, compile_selection, distinct_rows, set_dialect
from cosmos_emulator.query.counts import RowCounts, row_counts
from cosmos_emulator.query.features import QueryFeatures, combining_input, features_of
from cosmos_emulator.query.parser import parse_condition
from cosmos_emulator.query.resume import ResumeFilter
from cosmos_emulator.query.sizes import Memory, check_row
from cosmos_emulator.query.syntax import PLAIN, Dialect, PathCollection, Query
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined

Item = dict[str, Json]

_ROWS: Final = PathCollection("(SELECT)")  # a name that no query can use


class OrderedItems:
    """Sorted rows of items added in parts."""

    def __init__(self, rows: OrderedRows, matching: Callable[[Iterable[Item]], Iterator[Frame]]) -> None:
        self._rows = rows
        self._matching = matching

    @property
    def is_done(self) -> bool:
        """Return whether LIMIT or TOP allows no more rows."""
        return self._rows.is_done

    def add(self, items: Iterable[Item]) -> None:
        """Add more items."""
        self._rows.add(self._matching(items))

    def finished(self) -> Iterator[tuple[Json, OrderPosition]]:
        """Return the rows so far with their positions."""
        return self._rows.finished()


class ItemRows(Iterator[Json]):
    """The rows of one item."""

    def __init__(self, rows: Iterator[Json], frame: Frame, positions: Sequence[int]) -> None:
        self._rows = rows
        self._frame = frame
        self._positions = positions

    def __next__(self) -> Json:
        """Return the next row."""
        return next(self._rows)

    @property
    def position(self) -> list[Json]:
        """The indexes of the current row in the arrays that FROM iterates over."""
        return [index for slot in self._positions if (index := self._frame[slot]) is not UNDEFINED]


class CompiledQuery:
    """A query bound to its parameters. Runs share REGEXMATCH's time limit."""

    def __init__(
        self,
        features: QueryFeatures,
        counts: RowCounts,
        context: Context,
        selection: Selection,
        ordering: Ordering | None,
        source: CompiledQuery | None = None,
    ) -> None:
        self.features = features
        self.is_streaming = features.has_from and not features.needs_plan and source is None
        """Whether items yield rows independently."""
        self.is_ordered = ordering is not None and not features.has_distinct and source is None
        """Whether `ordered_rows` works: ORDER BY of items, without groups, aggregates and DISTINCT."""
        self.joins = len(context.positions)
        """The number of loops in FROM, with which an item can have several rows."""
        self.counts = counts
        self._context = context
        self._selection = selection
        self._ordering = ordering
        self._source = source
        self._memory: Memory | None = None

    @property
    def kept_bytes(self) -> int:
        """Return about how much memory the rows or groups of the latest run use."""
        own = 0 if self._memory is None else self._memory.used_bytes
        return own if self._source is None else own + self._source.kept_bytes

    @property
    def first_values(self) -> tuple[JsonOrUndefined, ...] | None:
        """Return the values of the ORDER BY items at which the resume filter starts; None without it."""
        resume = None if self._ordering is None else self._ordering.resume
        return None if resume is None else resume.values

    def rows(self, item: Item, start: Sequence[int] = ()) -> ItemRows:
        """Return one item's rows, for streaming queries, from the position of a row."""
        frame = self._context.new_frame()
        frame[ITEM_SLOT] = item
        for slot, index in zip(self._context.positions, start, strict=bool(start)):
            frame[slot] = index
        return ItemRows(self._selection.rows(frame), frame, self._context.positions)

    def single_row(self) -> Callable[[Item], JsonOrUndefined]:
        """Return a function from an item to its row, undefined if there is none, for streaming queries without JOIN."""
        frame, selection = self._context.new_frame(), self._selection
        test, project, may_grow = selection.test, selection.project, selection.may_grow

        def row(item: Item) -> JsonOrUndefined:
            frame[ITEM_SLOT] = item
            if test is not None and not test(frame):
                return UNDEFINED
            value = project(frame)
            if may_grow and value is not UNDEFINED:
                check_row(value)
            return value

        return row

    def matches(self, item: Item) -> bool:
        """Return whether WHERE is true for the item, or a row of it."""
        return self.matcher()(item)

    def matcher(self) -> Callable[[Item], bool]:
        """Return a function like `matches`, faster for many items."""
        frame, selection = self._context.new_frame(), self._selection
        test = selection.test

        def matches(item: Item) -> bool:
            if selection.bind is None:
                frame[ITEM_SLOT] = item
                return test is None or test(frame)
            joined = self._context.new_frame()
            joined[ITEM_SLOT] = item
            return any(True for _ in selection.matches(joined))

        return matches

    def run(self, items: Iterable[Item]) -> Iterator[Json]:
        """Return the complete result over the items."""
        rows: Iterator[Json]
        memory = self._memory = Memory()
        if self._source is not None:
            # The rows of the subquery can be any JSON, but take the places of items.
            items = cast("Iterator[Item]", self._source.run(items))
        if self._ordering is None:
            frame = self._context.new_frame()
            rows = self._selection.projected(self._matching(items, frame), frame, memory)
        else:
            entries = []
            for entry in self._ordering.entries(self._matching(items, self._context.new_frame())):
                memory.keep(entry.row)
                entries.append(entry)
            self._ordering.sort(entries)
            rows = (entry.row for entry in entries)
        if self.features.has_distinct:
            rows = distinct_rows(rows, memory)
        return self.counts.apply(rows)

    def ordered_rows(self, after: OrderPosition | None, wanted: int) -> OrderedItems:
        """Return the sorted rows of items that are added in parts; `wanted` is the most rows to read.

        `_rid` orders rows with equal keys. If items change between pages, unchanged rows are neither repeated nor
        skipped after the JSON position of a row. Raises 400 for another query's position.
        """
        if self._ordering is None or self.features.has_distinct:
            raise ValueError("only a query with a plain ORDER BY has positions")
        rows = OrderedRows(self._ordering, self.counts.skipped, self.counts.taken, after, wanted)
        return OrderedItems(rows, lambda items: self._matching(items, self._context.new_frame()))

    def _matching(self, items: Iterable[Item], frame: Frame) -> Iterator[Frame]:
        selection = self._selection
        if not self.features.has_from:
            yield from selection.matches(frame)
            return
        if selection.bind is None:
            test = selection.test
            for frame[ITEM_SLOT] in items:
                if test is None or test(frame):
                    yield frame
            return
        for frame[ITEM_SLOT] in items:
            yield from selection.matches(frame)


def compile_query(
    query: Query,
    parameters: Mapping[str, Json],
    udfs: UdfCaller | None = None,
    *,
    features: QueryFeatures | None = None,
    dialect: Dialect = PLAIN,
    resume: ResumeFilter | None = None,
    clock: Callable[[], float] = time.time,
) -> CompiledQuery:
    """Compile a query to closures. Raises 400 with the service's SC document if it is invalid.

    `features` are the query's, if they are known. `parameters` maps names with their `@` to values; `udfs` calls
    user-defined functions; `clock` returns seconds since the epoch. Compiling and running can raise MovesToWorker and
    OutOfTime (runtime/pacing.py).
    """
    context = Context(parameters, udfs, clock=clock)
    set_dialect(dialect, context)
    is_counted = query.top is not None or query.offset is not None  # LIMIT needs OFFSET
    counts = row_counts(query, parameters) if is_counted else RowCounts()
    features = features or features_of(query)
    source = None
    if features.reads_combined_rows and (combined := combining_input(query)) is not None:
        source = compile_query(combined, parameters, udfs, dialect=dialect, clock=clock)
        query = replace(query, sources=(replace(query.sources[0], collection=_ROWS), *query.sources[1:]))
    with context.all_errors(query.select.location):
        scope = Scope(opens_container=True)
        selection = compile_selection(query, context, scope)
        is_ordered = query.order_by or resume is not None
        ordering = compile_ordering(query, selection, context, scope, resume) if is_ordered else None
    return CompiledQuery(features, counts, context, selection, ordering, source)


def compile_condition(text: str, clock: Callable[[], float] = time.time) -> CompiledQuery:
    """Compile a patch's predicate, `FROM c WHERE …`."""
    return compile_query(parse_condition(text), {}, clock=clock)
