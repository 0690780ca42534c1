"""ORDER BY: sorted rows, and positions from which a query resumes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from cosmos_emulator.query import syntax
from cosmos_emulator.query.compiler.grouping import ungrouped
from cosmos_emulator.query.compiler.scope import ITEM_SLOT, Context, Evaluator, Frame, Scope
from cosmos_emulator.query.compiler.selection import Selection
from cosmos_emulator.query.errors import evaluation_error, not_ordered
from cosmos_emulator.query.functions.arrays import document_id
from cosmos_emulator.query.ordering import SortKey, sort_key
from cosmos_emulator.query.resume import ResumeFilter
from cosmos_emulator.query.syntax import Query
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined

OrderPosition: TypeAlias = "dict[str, Json]"
"""`{"keys": [{"item": v} | {}, …], "rid": "…", "row": n, "taken": n}`.

The row's order keys (`{}` if undefined), the item's `_rid`, the index of the row among the item's rows, and the
number of rows that the query had returned, including this row.
"""

Tie: TypeAlias = "tuple[int, str, int]"
Start: TypeAlias = "tuple[tuple[SortKey, ...], Tie | None, bool]"
"""The keys and tie of a resume filter, and whether it excludes rows with these keys."""

_UNSORTED: Final = 1000  # rows between sorts


class Entry(NamedTuple):
    """A row to sort. `tie` orders rows with equal keys."""

    values: tuple[JsonOrUndefined, ...]
    keys: tuple[SortKey, ...]
    tie: Tie
    row: Json

    def position(self, taken: int) -> OrderPosition:
        """Return the row's position after `taken` rows."""
        keys: list[Json] = [{} if value is UNDEFINED else {"item": value} for value in self.values]
        return {"keys": keys, "rid": self.tie[1], "row": self.tie[2], "taken": taken}


@dataclass(frozen=True, slots=True)
class Ordering:
    """A compiled ORDER BY clause."""

    keys: list[Evaluator]
    descending: list[bool]
    selection: Selection
    resume: ResumeFilter | None = None

    def entries(self, frames: Iterable[Frame]) -> Iterator[Entry]:
        """Yield the frames' defined rows, unsorted, from the position of the resume filter."""
        start = self._start()
        previous: JsonOrUndefined = UNDEFINED
        row_number = 0
        for frame in frames:
            item = frame[ITEM_SLOT]
            row_number = row_number + 1 if item is previous else 0
            previous = item
            row = self.selection.project(frame)
            if row is not UNDEFINED:
                self.selection.measure(row)
                values = tuple(evaluate(frame) for evaluate in self.keys)
                entry = Entry(values, tuple(map(sort_key, values)), self._tie(item, row_number), row)
                if start is None or self._is_resumed(entry, *start):
                    yield entry

    def sort(self, entries: list[Entry]) -> None:
        # Each key has its own direction, so sort stably from the last key to the first.
        """Sort entries in place."""
        entries.sort(key=attrgetter("tie"))
        for index, descending in reversed(list(enumerate(self.descending))):
            entries.sort(key=_key(index), reverse=descending)

    def index_after(self, entries: list[Entry], position: OrderPosition) -> int:
        """Return the index of the first entry after the position."""
        keys, tie = self._parsed(position)
        return bisect_left(entries, True, key=lambda entry: self._is_after(entry, keys, tie))

    def behind(self, entries: list[Entry], position: OrderPosition) -> list[Entry]:
        """Return the sorted entries after the position."""
        return entries[self.index_after(entries, position) :]

    def taken(self, position: OrderPosition) -> int:
        """Return how many rows precede the position."""
        return _integer(position, "taken")

    def _is_after(self, entry: Entry, keys: tuple[SortKey, ...], tie: Tie) -> bool:
        is_after = self._has_later_keys(entry, keys)
        return entry.tie > tie if is_after is None else is_after

    def _has_later_keys(self, entry: Entry, keys: tuple[SortKey, ...]) -> bool | None:
        """Return whether an entry sorts after the keys; None if it has the same."""
        for mine, other, descending in zip(entry.keys, keys, self.descending, strict=True):
            if mine != other:
                return (mine < other) == descending
        return None

    def _start(self) -> Start | None:
        if self.resume is None:
            return None
        tie = None if self.resume.rid is None else self._tie({"_rid": self.resume.rid}, 0)
        return self.resume.keys, tie, self.resume.exclude

    def _is_resumed(self, entry: Entry, keys: tuple[SortKey, ...], tie: Tie | None, exclude: bool) -> bool:
        is_after = self._has_later_keys(entry, keys)
        if is_after is None:
            return not exclude and (tie is None or entry.tie >= tie)
        return is_after

    def _parsed(self, position: OrderPosition) -> tuple[tuple[SortKey, ...], Tie]:
        keys, rid = position.get("keys"), position.get("rid")
        if type(keys) is not list or type(rid) is not str or len(keys) != len(self.keys):
            raise _malformed()
        values: list[JsonOrUndefined] = []
        for key in keys:
            if type(key) is not dict:
                raise _malformed()
            values.append(key.get("item", UNDEFINED))
        return tuple(map(sort_key, values)), self._tie({"_rid": rid}, _integer(position, "row"))

    def _tie(self, item: JsonOrUndefined, row_number: int) -> Tie:
        """Order items by creation (the number in `_rid`), in the direction of the first key.

        SDKs skip the ties of earlier pages in this direction (azure-cosmos-dotnet-v3,
        OrderByCrossPartitionQueryPipelineStage.cs); operations/query_items.py reports it.
        """
        rid = item.get("_rid") if type(item) is dict else None
        created = document_id(item)
        number = created if type(created) is int else 0
        return (-number if self.descending[0] else number, rid if type(rid) is str else "", row_number)


class OrderedRows:
    """Sorted rows of a query over items added in parts.

    Keeps few rows beyond `wanted`. If all later items sort after the current rows, `finished` returns these and starts
    over.
    """

    def __init__(
        self, ordering: Ordering, skipped: int, taken: int | None, after: OrderPosition | None, wanted: int
    ) -> None:
        self._ordering = ordering
        self._after = after
        self._count = 0 if after is None else ordering.taken(after)
        self._to_skip = 0 if after is not None else skipped
        self._end = taken
        self._wanted = wanted
        self._entries: list[Entry] = []
        if after is not None:
            ordering.behind([], after)  # raises for another query's position

    @property
    def is_done(self) -> bool:
        """Return whether LIMIT or TOP allows no more rows."""
        return self._end is not None and self._count >= self._end

    def add(self, frames: Iterable[Frame]) -> None:
        """Add the rows of more items."""
        entries = self._ordering.entries(frames)
        bound = self._to_skip + self._wanted
        while batch := list(islice(entries, _UNSORTED)):
            if self._after is not None:
                self._ordering.sort(batch)
                batch = self._ordering.behind(batch, self._after)
            self._entries += batch
            if len(self._entries) > 2 * bound + _UNSORTED:
                self._ordering.sort(self._entries)
                del self._entries[bound:]

    def finished(self) -> Iterator[tuple[Json, OrderPosition]]:
        """Return the rows so far with their positions."""
        entries, self._entries = self._entries, []
        self._ordering.sort(entries)
        skipped = min(self._to_skip, len(entries))
        self._to_skip -= skipped
        for entry in islice(entries, skipped, None):
            if self.is_done:
                return
            self._count += 1
            yield entry.row, entry.position(self._count)


def _key(index: int) -> Callable[[Entry], SortKey]:
    return lambda entry: entry.keys[index]


def _integer(position: OrderPosition, name: str) -> int:
    value = position.get(name)
    if type(value) is not int or value < 0:
        raise _malformed()
    return value


def _malformed() -> Exception:
    return evaluation_error("The continuation token is malformed: it does not contain a position of this query.")


def compile_ordering(
    query: Query, selection: Selection, context: Context, scope: Scope, resume: ResumeFilter | None = None
) -> Ordering | None:
    """Return the compiled ORDER BY; None without it or for a single aggregate row.

    The groups of GROUP BY sort themselves. Raises 400 for an expression that is neither a path nor a UDF call (2206);
    with GROUP BY, one that is not in it is an error (SC2103).
    """
    if resume is not None and (len(resume.values) != len(query.order_by) or selection.grouping is not None):
        raise evaluation_error("The resumeFilter must have a value for each item of ORDER BY.")
    if not query.order_by:
        return None
    grouping = selection.grouping
    compiler = selection.compiler if grouping is None else selection.compiler.with_aggregates(grouping)
    for item in query.order_by:
        if query.group_by or (grouping is not None and not _is_path(item.expression)):
            for error in ungrouped(item.expression, query.group_by, scope, "SC2103", "ORDER BY clause"):
                context.add_error(error)
    keys = [compiler.compile(item.expression) for item in query.order_by]
    ordered = (_is_path(item.expression) or isinstance(item.expression, syntax.UdfCall) for item in query.order_by)
    if not context.has_errors and not all(ordered):
        raise not_ordered()
    if grouping is not None:
        if query.group_by:
            grouping.order = [*zip(keys, (item.descending for item in query.order_by), strict=True)]
        return None
    return Ordering(keys, [item.descending for item in query.order_by], selection, resume)


def _is_path(node: syntax.Expression) -> bool:
    while isinstance(node, syntax.Property | syntax.Index):
        if isinstance(node, syntax.Index) and not isinstance(node.index, syntax.Literal):
            return False
        node = node.target
    return isinstance(node, syntax.Identifier)
