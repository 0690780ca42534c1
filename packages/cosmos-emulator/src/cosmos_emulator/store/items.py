"""Items of one physical partition as a connection sees them: reading, and writing inside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.partitioning.ranges import KeyRange
from cosmos_emulator.store.indexes import PartitionIndexes, StoredIndex

_COLUMNS: Final = "number, epk, key, id, body, etag, timestamp, lsn, ttl, expires_at"
_JOINED_COLUMNS: Final = ", ".join(f"items.{name}" for name in _COLUMNS.split(", "))
_VISIBLE: Final = "(expires_at IS NULL OR expires_at > ?)"
_CHUNK_BYTES: Final = 1 << 20
_FETCHED: Final = 16  # rows at once, of up to 2 MB each
Clock = Callable[[], float]


class StoredItem(NamedTuple):
    """A row of `items`; see store/schema.py for the columns."""

    number: int
    epk: str
    key: str
    id: str
    body: bytes
    etag: str
    timestamp: int
    lsn: int
    ttl: int | None
    expires_at: int | None

    def document(self) -> JsonObject:
        """A new copy of the document, system properties included."""
        return json_text.parse_stored(self.body)


class ScanPosition(NamedTuple):
    """How far a scan has come: after this item. `epk` only orders scans of a key range."""

    epk: str
    number: int


SCAN_START: Final = ScanPosition("", 0)
EntryRange = tuple[bytes, bytes]
"""Entries of an index from the first, inclusive, to the second, exclusive."""


class IndexDropped(Exception):
    """An index that a query had begun to use was dropped meanwhile: the policy has changed."""


class EntryPosition(NamedTuple):
    """How far a walk along an index has come: behind this entry's item with this number."""

    entry: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Scope:
    """Which items of a partition are meant: one logical partition, a range of keys, or (neither) all."""

    key: PartitionKey | None = None
    range: KeyRange | None = None

    def where(self, epk: str = "epk") -> tuple[str, list[str]]:
        """A condition in SQL and its arguments; `+epk` keeps SQLite from using the index by EPK for it."""
        if self.key is not None:
            return f"{epk} = ? AND +key = ?", [self.key.epk, self.key.text]
        if self.range is not None:
            return f"{epk} >= ? AND {epk} < ?", [self.range.start, self.range.end]
        return "1", []


class ItemView:
    """Reads of the committed items, or of a transaction's own, whichever the connection shows.

    Expired items are never seen. No cursor stays open between calls: an open one would pin the connection to an
    old snapshot.
    """

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def get(self, key: PartitionKey, item_id: str) -> StoredItem | None:
        """The item with this id in this logical partition."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE key = ? AND id = ? AND {_VISIBLE}",  # noqa: S608 - constants
            (key.text, item_id, self._clock()),
        ).fetchone()
        return None if row is None else StoredItem._make(row)

    def get_by_number(self, key: PartitionKey, number: int) -> StoredItem | None:
        """The item with this number, when it is in this logical partition."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE number = ? AND key = ? AND {_VISIBLE}",  # noqa: S608 - constants
            (number, key.text, self._clock()),
        ).fetchone()
        return None if row is None else StoredItem._make(row)

    def scan(self, scope: Scope, after: ScanPosition, limit: int) -> list[StoredItem]:
        """The next items in the order of insertion (of EPK first in a key range), at most `limit` or about 1 MB.

        Fewer than `limit` does not mean the end; an empty list does.
        """
        condition, arguments = scope.where()
        later, order = "number > ?", "number"
        position: list[str | int] = [after.number]
        if scope.range is not None:
            later, order, position = "(epk, number) > (?, ?)", "epk, number", [after.epk, after.number]
        return self._chunk(
            f"SELECT {_COLUMNS} FROM items WHERE {condition} AND {later} AND {_VISIBLE} "  # noqa: S608 - constants
            f"ORDER BY {order} LIMIT ?",
            [*arguments, *position, self._clock(), limit],
        )

    def changes(self, scope: Scope, after_lsn: int, until_lsn: int, since_s: int, limit: int) -> list[StoredItem]:
        """The latest versions written after `after_lsn`, until `until_lsn`, in LSN order, with `_ts` above `since_s`.

        Ends at the border of a transaction: what was written together is never split, even beyond `limit`.
        """
        condition, scoped = scope.where(epk="+epk")  # the index by LSN gives the order; the scope only filters
        select = f"SELECT {_COLUMNS} FROM items WHERE {condition} AND {_VISIBLE} AND timestamp > ?"  # noqa: S608 - constants
        arguments = [*scoped, self._clock(), since_s]
        page = self._chunk(
            f"{select} AND lsn > ? AND lsn <= ? ORDER BY lsn, number LIMIT ?", [*arguments, after_lsn, until_lsn, limit]
        )
        if not page:
            return page
        last = page[-1].lsn
        rows = self._connection.execute(f"{select} AND lsn = ? ORDER BY number", [*arguments, last]).fetchall()
        return [item for item in page if item.lsn < last] + [StoredItem._make(row) for row in rows]

    def count_all(self) -> int:
        """How many items the partition has, counted in its indexes without reading any."""
        (count,) = self._connection.execute(
            "SELECT (SELECT count(*) FROM items) - (SELECT count(*) FROM items WHERE expires_at <= ?)",
            (self._clock(),),
        ).fetchone()
        return int(count)

    def count_up_to(self, scope: Scope, limit: int) -> int:
        """How many items are in the scope, expired ones included; `limit` of them at most are counted."""
        condition, arguments = scope.where()
        (count,) = self._connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM items WHERE {condition} LIMIT ?)",  # noqa: S608 - constants
            [*arguments, limit],
        ).fetchone()
        return int(count)

    def numbers(self, index: StoredIndex, ranges: Sequence[EntryRange], limit: int) -> list[int]:
        """Numbers of the items, expired ones included, in the ranges of an index: `limit` of them at most."""
        found: list[int] = []
        for low, high in ranges:
            rows = self._read_index(
                f"SELECT number FROM {index.table} WHERE entry >= ? AND entry < ? LIMIT ?",  # noqa: S608 - constants
                (low, high, limit - len(found)),
            ).fetchall()
            found += [number for (number,) in rows]
            if len(found) >= limit:
                break
        return found

    def load(self, scope: Scope, numbers: Sequence[int]) -> list[StoredItem]:
        """The items of the scope with these numbers, as far as they exist, by number; all at once, so ask for few."""
        condition, arguments = scope.where(epk="+epk")
        marks = ",".join("?" * len(numbers))
        # Put together of constants and question marks; every value is an argument.
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE number IN ({marks}) AND {condition} AND {_VISIBLE} "  # noqa: S608
            "ORDER BY number",
            [*numbers, *arguments, self._clock()],
        ).fetchall()
        return [StoredItem._make(row) for row in rows]

    def walk(
        self,
        index: StoredIndex,
        scope: Scope,
        entries: EntryRange,
        after: EntryPosition | None,
        limit: int,
        *,
        backward: bool,
    ) -> list[tuple[bytes, StoredItem]]:
        """The next items of the scope in the order of an index, items of one entry by number; at most `limit`.

        Fewer than `limit` does not mean the end; an empty list does.
        """
        condition, scoped = scope.where(epk="+items.epk")
        low, high = entries
        arguments: list[object]
        if after is None:
            within, arguments = "e.entry >= ? AND e.entry < ?", [low, high]
        elif backward:
            within, arguments = (
                "e.entry >= ? AND e.entry <= ? AND (e.entry < ? OR e.number > ?)",
                [low, after.entry, after.entry, after.number],
            )
        else:  # without the lower bound, which SQLite might begin at every time
            within, arguments = "(e.entry, e.number) > (?, ?) AND e.entry < ?", [after.entry, after.number, high]
        order = "e.entry DESC, e.number" if backward else "e.entry, e.number"
        # Put together of constants and the name of a table of ours; every value is an argument.
        rows = self._read_index(
            f"SELECT e.entry, {_JOINED_COLUMNS} FROM {index.table} AS e CROSS JOIN items ON items.number = e.number "  # noqa: S608
            f"WHERE {within} AND {condition} AND {_VISIBLE} ORDER BY {order} LIMIT ?",
            [*arguments, *scoped, self._clock(), limit],
        )
        found: list[tuple[bytes, StoredItem]] = []
        size = 0
        with closing(rows):
            for entry, *columns in rows:
                found.append((entry, StoredItem._make(columns)))
                size += len(found[-1][1].body)
                if size >= _CHUNK_BYTES:
                    break
        return found

    def _read_index(self, statement: str, arguments: Sequence[object]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, arguments)
        except sqlite3.OperationalError as error:
            if "no such table: entries_" not in str(error):
                raise
            raise IndexDropped from error

    def _chunk(self, statement: str, arguments: Sequence[object]) -> list[StoredItem]:
        chunk: list[StoredItem] = []
        size = 0
        with closing(self._connection.execute(statement, arguments)) as rows:
            while size < _CHUNK_BYTES and (fetched := rows.fetchmany(_FETCHED)):
                chunk += map(StoredItem._make, fetched)
                size += sum(len(item.body) for item in chunk[-len(fetched) :])
        return chunk


class ItemTransaction(ItemView):
    """Writes of one transaction. All get its `lsn`; nothing is checked here but uniqueness."""

    def __init__(
        self, connection: sqlite3.Connection, clock: Clock, indexes: PartitionIndexes, lsn: int, last_number: int
    ) -> None:
        super().__init__(connection, clock)
        self._indexes = indexes
        self.lsn = lsn
        self.last_number = last_number
        self.writes = 0
        self.etags = 0  # given out so far, undone operations included

    def insert(self, item: StoredItem, document: JsonObject, unique_values: Sequence[str]) -> None:
        """Adds an item with its document; 409 when its id or a unique value is taken in its logical partition."""
        self._insert(
            f"INSERT INTO items ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
            item,
            _holder_of_id(item),
            "Resource with specified id or name already exists.",
        )
        self._claim(item, unique_values)
        self._indexes.insert(item.number, item.epk, document)
        self.last_number = max(self.last_number, item.number)
        self.writes += 1

    def insert_many(self, rows: Sequence[tuple[StoredItem, JsonObject, Sequence[str]]]) -> None:
        """Adds items with their documents and unique values, in ascending order of their numbers.

        409 when one of them finds its id or a unique value taken; nothing of the transaction can be kept then.
        """
        try:
            self._connection.executemany(
                f"INSERT INTO items ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                [item for item, _, _ in rows],
            )
        except sqlite3.IntegrityError as error:
            raise CosmosError(
                409, "One of the items has an id that another one has in its logical partition."
            ) from error
        for item, _, unique_values in rows:
            self._claim(item, unique_values)
        self._indexes.insert_many([(item.number, item.epk, document) for item, document, _ in rows])
        self.last_number = rows[-1][0].number
        self.writes += len(rows)

    def update(self, old: StoredItem, item: StoredItem, document: JsonObject, unique_values: Sequence[str]) -> None:
        """Overwrites the item with the same number, `old` until now; 409 as for `insert`."""
        self._insert(
            f"UPDATE items SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE number = ?",  # noqa: S608 - constants
            (*item, item.number),
            _holder_of_id(item),
            "Resource with specified id or name already exists.",
        )
        if unique_values:
            self._connection.execute("DELETE FROM unique_values WHERE number = ?", (item.number,))
            self._claim(item, unique_values)
        self._indexes.update(item.number, item.epk, old.document(), document)
        self.writes += 1

    def delete(self, item: StoredItem) -> None:
        """Removes an item and frees its unique values."""
        self._remove(item.number, item.epk, item.document())
        self.writes += 1

    def discard_expired(self, limit: int) -> None:
        """Frees the space of items that expired, which is no write: nobody has seen them since."""
        rows = self._connection.execute(
            "SELECT number, epk, body FROM items WHERE expires_at <= ? LIMIT ?", (self._clock(), limit)
        ).fetchall()
        for number, epk, body in rows:
            self._remove(number, epk, json_text.parse_stored(body))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undoes what happened inside when it raises, and only that."""
        self._connection.execute("SAVEPOINT operation")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO operation")
            raise
        finally:
            self._connection.execute("RELEASE operation")

    def _claim(self, item: StoredItem, unique_values: Sequence[str]) -> None:
        for rule, value in enumerate(unique_values):
            holder = "SELECT number FROM unique_values WHERE key = ? AND rule = ? AND value = ?"
            self._insert(
                "INSERT INTO unique_values (key, rule, value, number) VALUES (?, ?, ?, ?)",
                (item.key, rule, value, item.number),
                (holder, (item.key, rule, value)),
                "Unique index constraint violation.",
            )

    def _insert(
        self, statement: str, row: Sequence[object], holder: tuple[str, Sequence[object]], conflict: str
    ) -> None:
        """Runs a write that may find its place taken; an expired holder that waits for the purge gives way."""
        try:
            self._connection.execute(statement, row)
        except sqlite3.IntegrityError as error:
            found = self._connection.execute(*holder).fetchone()
            if found is None or not self._discard_expired(found[0]):
                raise CosmosError(409, conflict) from error
            self._connection.execute(statement, row)

    def _discard_expired(self, number: int) -> bool:
        expired = self._connection.execute(
            "SELECT epk, body FROM items WHERE number = ? AND expires_at <= ?", (number, self._clock())
        ).fetchone()
        if expired:
            self._remove(number, expired[0], json_text.parse_stored(expired[1]))
        return expired is not None

    def _remove(self, number: int, epk: str, document: JsonObject) -> None:
        self._indexes.delete(number, epk, document)
        self._connection.execute("DELETE FROM items WHERE number = ?", (number,))
        self._connection.execute("DELETE FROM unique_values WHERE number = ?", (number,))


def _holder_of_id(item: StoredItem) -> tuple[str, Sequence[object]]:
    return "SELECT number FROM items WHERE key = ? AND id = ?", (item.key, item.id)
