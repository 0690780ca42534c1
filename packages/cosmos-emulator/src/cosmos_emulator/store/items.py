"""The items of a physical partition: reads, and writes in a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import orjson

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.partitioning.ranges import KeyRange
from cosmos_emulator.runtime.pacing import LARGE_BYTES, large_value
from cosmos_emulator.store import change_log
from cosmos_emulator.store.budget import Budget
from cosmos_emulator.store.change_log import ChangeLog, LoggedChange, Operation
from cosmos_emulator.store.index_entries import PartitionIndexes, StoredIndex

_COLUMNS: Final = "number, epk, key, id, body, etag, timestamp, lsn, ttl, expires_at"
_JOINED_COLUMNS: Final = ", ".join(f"items.{name}" for name in _COLUMNS.split(", "))
_VISIBLE: Final = "(expires_at IS NULL OR expires_at > ?)"
_CHUNK_BYTES: Final = 1 << 20
_FETCHED: Final = 16  # rows per fetch, up to 2 MB each
_PURGED: Final = 500  # expired items, at most, per step
Clock = Callable[[], float]


class StoredItem(NamedTuple):
    """A row of the table `items` (store/schema.py)."""

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
        """Parse the document, with its system properties. Raises MovesToWorker if it is large."""
        if len(self.body) >= LARGE_BYTES:
            large_value()
        return json_text.parse_stored(self.body)


class ScanPosition(NamedTuple):
    """The position of a scan: after this item. `epk` is used only in key ranges."""

    epk: str
    number: int


SCAN_START: Final = ScanPosition("", 0)
Row = TypeVar("Row", StoredItem, LoggedChange)
EntryRange = tuple[bytes, bytes]
"""A range of index entries: from the first, inclusive, to the second, exclusive."""


class IndexDropped(Exception):
    """A policy change dropped an index that a query was using."""


class EntryPosition(NamedTuple):
    """A position in an index, after this item of this entry."""

    entry: bytes
    number: int


@dataclass(frozen=True, slots=True)
class ItemScope:
    """Items of a partition: a logical partition, a range of keys, or all."""

    key: PartitionKey | None = None
    range: KeyRange | None = None

    def where(self, epk: str = "epk") -> tuple[str, list[str]]:
        """Return a SQL condition and its arguments; `+epk` prevents SQLite from using the index by EPK."""
        if self.key is not None:
            return f"{epk} = ? AND +key = ?", [self.key.epk, self.key.text]
        if self.range is not None:
            return f"{epk} >= ? AND {epk} < ?", [self.range.start, self.range.end]
        return "1", []


class ItemView:
    """Reads the items that a connection sees, except expired items.

    Each call closes its cursor: an open cursor would keep the connection on an old snapshot.
    """

    _leaves_out = False
    """Whether a scan leaves items out, so that a short one is not the last."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], clock: Clock) -> None:
        """`connect` is called before the first read, and before the first after `close`."""
        self._connect = connect
        self._open_connection: sqlite3.Connection | None = None
        self._clock = clock

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open_connection is None:
            self._open_connection = self._connect()
        return self._open_connection

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return self._open_connection is not None

    def close(self) -> None:
        """Close the connection, until the next read."""
        if self._open_connection is not None:
            self._open_connection.close()
            self._open_connection = None

    def get(self, key: PartitionKey, item_id: str) -> StoredItem | None:
        """Return the item with this id in a logical partition."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE key = ? AND id = ? AND {_VISIBLE}",  # noqa: S608 - constants
            (key.text, item_id, self._clock()),
        ).fetchone()
        return None if row is None else StoredItem._make(row)

    def get_by_number(self, key: PartitionKey, number: int) -> StoredItem | None:
        """Return the item with this number if it is in the logical partition."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE number = ? AND key = ? AND {_VISIBLE}",  # noqa: S608 - constants
            (number, key.text, self._clock()),
        ).fetchone()
        return None if row is None else StoredItem._make(row)

    def scan(self, scope: ItemScope, after: ScanPosition, limit: int) -> list[StoredItem]:
        """Return the next items in the order of insertion (in a key range, by EPK first).

        Returns at most `limit` items or about 1 MB. An empty list is the end, and so is one of which `is_last` says so.
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
            StoredItem,
        )

    def is_last(self, scanned: Sequence[StoredItem], limit: int) -> bool:
        """Return whether a scan with this limit returned so few items that none follow."""
        return not self._leaves_out and len(scanned) < limit and sum(len(item.body) for item in scanned) < _CHUNK_BYTES

    def changes(self, scope: ItemScope, after_lsn: int, until_lsn: int, since_s: int, limit: int) -> list[StoredItem]:
        """Return the latest versions after `after_lsn`, up to `until_lsn`, with `_ts` above `since_s`, in LSN order.

        A transaction is never split, even beyond `limit`.
        """
        condition, scoped = scope.where(epk="+epk")  # the index by LSN provides the order
        select = f"SELECT {_COLUMNS} FROM items WHERE {condition} AND {_VISIBLE} AND timestamp > ?"  # noqa: S608 - constants
        arguments = [*scoped, self._clock(), since_s]
        page = self._chunk(
            f"{select} AND lsn > ? AND lsn <= ? ORDER BY lsn, number LIMIT ?",
            [*arguments, after_lsn, until_lsn, limit],
            StoredItem,
        )
        if not page:
            return page
        last = page[-1].lsn
        rows = self._connection.execute(f"{select} AND lsn = ? ORDER BY number", [*arguments, last]).fetchall()
        return [item for item in page if item.lsn < last] + [StoredItem._make(row) for row in rows]

    def next_lsn(self, after_lsn: int) -> int | None:
        """Return the lowest LSN of an item after `after_lsn`."""
        (lsn,) = self._connection.execute("SELECT min(lsn) FROM items WHERE lsn > ?", (after_lsn,)).fetchone()
        return None if lsn is None else int(lsn)

    def log_start(self) -> int | None:
        """Return the LSN after which the log of all changes starts; None without a log."""
        row = self._connection.execute("SELECT start FROM change_log").fetchone()
        return None if row is None else int(row[0])

    def logged_changes(self, scope: ItemScope, after_lsn: int, until_lsn: int, limit: int) -> list[LoggedChange]:
        """Return the changes in the log after `after_lsn`, up to `until_lsn`, in order.

        A transaction is never split, even beyond `limit`.
        """
        condition, scoped = scope.where(epk="+epk")  # the index by LSN provides the order
        select = f"SELECT {change_log.COLUMNS} FROM changes WHERE {condition}"  # noqa: S608 - constants
        page = self._chunk(
            f"{select} AND lsn > ? AND lsn <= ? ORDER BY lsn, sequence LIMIT ?",
            [*scoped, after_lsn, until_lsn, limit],
            LoggedChange,
        )
        if not page:
            return page
        last = page[-1].lsn
        rows = self._connection.execute(f"{select} AND lsn = ? ORDER BY sequence", [*scoped, last]).fetchall()
        return [one for one in page if one.lsn < last] + [LoggedChange._make(row) for row in rows]

    def next_logged_lsn(self, after_lsn: int) -> int | None:
        """Return the lowest LSN in the log after `after_lsn`."""
        (lsn,) = self._connection.execute("SELECT min(lsn) FROM changes WHERE lsn > ?", (after_lsn,)).fetchone()
        return None if lsn is None else int(lsn)

    def count_all(self) -> int:
        """Count the items, from indexes only."""
        (count,) = self._connection.execute(
            "SELECT (SELECT count(*) FROM items) - (SELECT count(*) FROM items WHERE expires_at <= ?)",
            (self._clock(),),
        ).fetchone()
        return int(count)

    def count_up_to(self, scope: ItemScope, limit: int) -> int:
        """Count at most `limit` items of the scope, including expired items."""
        condition, arguments = scope.where()
        (count,) = self._connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM items WHERE {condition} LIMIT ?)",  # noqa: S608 - constants
            [*arguments, limit],
        ).fetchone()
        return int(count)

    def entries(
        self, index: StoredIndex, after: EntryPosition, high: bytes, limit: int
    ) -> tuple[list[int], EntryPosition | None]:
        """Return the items of at most `limit` entries of an index after a position and below `high`, also expired ones.

        The second result is the position of the last entry, or None if there are no more entries.
        """
        found = (
            f"FROM {index.table} WHERE (entry, number) > (?, ?) AND entry < ? ORDER BY entry, number LIMIT ? OFFSET ?"
        )
        # One text takes half the time of thousands of rows.
        numbers = f"SELECT group_concat(number) FROM (SELECT number {found})"  # noqa: S608 - constants
        with self._one_state():
            (text,) = self._read_index(numbers, (*after, high, limit, 0)).fetchone()
            rows = self._read_index(f"SELECT entry, number {found}", (*after, high, 1, limit - 1)).fetchall()
        return orjson.loads(f"[{text or ''}]"), EntryPosition._make(rows[0]) if rows else None

    def numbers(self) -> list[int]:
        """Return the numbers of all items, in any order, also of expired ones."""
        (text,) = self._connection.execute("SELECT group_concat(number) FROM items").fetchone()
        return list(orjson.loads(f"[{text or ''}]"))

    def numbers_since(self, lsn: int, limit: int = -1) -> list[int]:
        """Return the numbers of the items that were written after an LSN; at most `limit` unless it is -1."""
        rows = self._connection.execute("SELECT number FROM items WHERE lsn > ? LIMIT ?", (lsn, limit)).fetchall()
        return [number for (number,) in rows]

    def count_entries(self, index: StoredIndex, ranges: Sequence[EntryRange]) -> int:
        """Count the entries in ranges of an index, including expired items."""
        statement = f"SELECT count(*) FROM {index.table} WHERE entry >= ? AND entry < ?"  # noqa: S608 - constants
        return sum(self._read_index(statement, bounds).fetchone()[0] for bounds in ranges)

    def load(self, scope: ItemScope, numbers: Sequence[int]) -> list[StoredItem]:
        """Return the existing items of the scope with these numbers in one list, ordered by number."""
        condition, arguments = scope.where(epk="+epk")
        marks = ",".join("?" * len(numbers))
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE number IN ({marks}) AND {condition} AND {_VISIBLE} "  # noqa: S608 - constants
            "ORDER BY number",
            [*numbers, *arguments, self._clock()],
        ).fetchall()
        return [StoredItem._make(row) for row in rows]

    def walk(
        self,
        index: StoredIndex,
        scope: ItemScope,
        entries: EntryRange,
        after: EntryPosition | None,
        limit: int,
        *,
        backward: bool,
    ) -> list[tuple[bytes, StoredItem]]:
        """Return the next items of the scope in index order. Items of one entry are ordered by number.

        Returns at most `limit` items; only an empty list means the end.
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
        else:  # no `low`: SQLite might start each chunk there
            within, arguments = "(e.entry, e.number) > (?, ?) AND e.entry < ?", [after.entry, after.number, high]
        order = "e.entry DESC, e.number" if backward else "e.entry, e.number"
        rows = self._read_index(
            f"SELECT e.entry, {_JOINED_COLUMNS} FROM {index.table} AS e CROSS JOIN items ON items.number = e.number "  # noqa: S608 - constants
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

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        """Let all statements of the block see one state, although another thread can write."""
        connection = self._connection
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.execute("COMMIT")

    def _read_index(self, statement: str, arguments: Sequence[object]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, arguments)
        except sqlite3.OperationalError as error:
            if "no such table: entries_" not in str(error):
                raise
            raise IndexDropped from error

    def _chunk(self, statement: str, arguments: Sequence[object], kind: type[Row]) -> list[Row]:
        chunk: list[Row] = []
        size = 0
        with closing(self._connection.execute(statement, arguments)) as rows:
            while size < _CHUNK_BYTES and (fetched := rows.fetchmany(_FETCHED)):
                chunk += map(kind._make, fetched)
                size += sum(len(row.body) for row in chunk[-len(fetched) :])
        return chunk


class ItemTransaction(ItemView):
    """Writes of one transaction. All get the same `lsn`. Only uniqueness is checked here."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: Clock,
        indexes: PartitionIndexes,
        lsn: int,
        last_number: int,
        log: ChangeLog | None = None,
    ) -> None:
        super().__init__(lambda: connection, clock)
        self._indexes = indexes
        self._log = log
        self.lsn = lsn
        self.last_number = last_number
        self.writes = 0
        self.etags = 0  # etags issued so far, including for rolled-back operations

    def insert(self, item: StoredItem, document: JsonObject, unique_values: Sequence[str]) -> None:
        """Insert an item. Raises 409 if its id or a unique key value is taken in its logical partition."""
        self._insert(
            f"INSERT INTO items ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
            item,
            _holder_of_id(item),
            "Resource with specified id or name already exists.",
        )
        self._claim(item, unique_values)
        self._indexes.insert(item.number, item.epk, document)
        self._log_write("create", item, 0)
        self.last_number = max(self.last_number, item.number)
        self.writes += 1

    def insert_many(self, rows: Sequence[tuple[StoredItem, JsonObject, Sequence[str]]]) -> None:
        """Insert items with documents and unique key values, in ascending order of their numbers.

        After a 409 (a value is taken), the transaction must be rolled back.
        """
        try:
            self._connection.executemany(
                f"INSERT INTO items ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                [item for item, _, _ in rows],
            )
        except sqlite3.IntegrityError as error:
            raise CosmosError(409, "One of the items has the id of another item in its logical partition.") from error
        for item, _, unique_values in rows:
            self._claim(item, unique_values)
            self._log_write("create", item, 0)
        self._indexes.insert_many([(item.number, item.epk, document) for item, document, _ in rows])
        self.last_number = rows[-1][0].number
        self.writes += len(rows)

    def update(self, old: StoredItem, item: StoredItem, document: JsonObject, unique_values: Sequence[str]) -> None:
        """Replace `old` with the item of the same number. Raises 409 like `insert`."""
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
        self._log_write("replace", item, old.lsn)
        self.writes += 1

    def delete(self, item: StoredItem) -> None:
        """Delete an item and free its unique key values."""
        self._remove(item, is_expiry=False)
        self.writes += 1

    def purge_expired(self, budget: Budget) -> bool:
        """Delete expired items; return whether some remain.

        Counts as a write only if there is a log, because reads already skip the items.
        """
        expired = "SELECT number, length(body) FROM items WHERE expires_at <= ? LIMIT ?"
        found = self._connection.execute(expired, (self._clock(), _PURGED)).fetchall()
        for number, size in found:
            self._discard_expired(number)
            if self._log is not None:
                self.writes += 1
            if not budget.allows_more(size):
                return True
        return len(found) == _PURGED

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back the block, and only the block, if it raises."""
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
        """Run a write. On a conflict with an expired item, delete that item and retry."""
        try:
            self._connection.execute(statement, row)
        except sqlite3.IntegrityError as error:
            found = self._connection.execute(*holder).fetchone()
            if found is None or not self._discard_expired(found[0]):
                raise CosmosError(409, conflict) from error
            self._connection.execute(statement, row)

    def _discard_expired(self, number: int) -> bool:
        expired = self._connection.execute(
            f"SELECT {_COLUMNS} FROM items WHERE number = ? AND expires_at <= ?",  # noqa: S608 - constants
            (number, self._clock()),
        ).fetchone()
        if expired:
            self._remove(StoredItem._make(expired), is_expiry=True)
        return expired is not None

    def _remove(self, item: StoredItem, *, is_expiry: bool) -> None:
        if self._indexes.has_any:
            self._indexes.delete(item.number, item.epk, item.document())
        self._connection.execute("DELETE FROM items WHERE number = ?", (item.number,))
        self._connection.execute("DELETE FROM unique_values WHERE number = ?", (item.number,))
        if self._log is not None:
            change = LoggedChange(
                self.lsn, item.key, item.id, "delete", item.body, item.lsn, int(self._clock()), is_expiry
            )
            self._log.add(change, item.epk)

    def _log_write(self, operation: Operation, item: StoredItem, previous_lsn: int) -> None:
        if self._log is not None:
            change = LoggedChange(
                self.lsn, item.key, item.id, operation, item.body, previous_lsn, item.timestamp, is_expiry=False
            )
            self._log.add(change, item.epk)


class ItemsBefore(ItemView):
    """The committed items, without those that a transaction deleted."""

    _leaves_out = True

    def __init__(self, committed: ItemView, transaction: ItemTransaction) -> None:
        super().__init__(lambda: committed._connection, committed._clock)
        self._transaction = transaction

    def scan(self, scope: ItemScope, after: ScanPosition, limit: int) -> list[StoredItem]:
        """Return the next items."""
        while chunk := super().scan(scope, after, limit):
            kept = self._kept([item.number for item in chunk])
            if kept:
                return [item for item in chunk if item.number in kept]
            after = ScanPosition(chunk[-1].epk, chunk[-1].number)
        return []

    def load(self, scope: ItemScope, numbers: Sequence[int]) -> list[StoredItem]:
        """Return the existing items with these numbers."""
        kept = self._kept(numbers)
        return [item for item in super().load(scope, numbers) if item.number in kept]

    def walk(
        self,
        index: StoredIndex,
        scope: ItemScope,
        entries: EntryRange,
        after: EntryPosition | None,
        limit: int,
        *,
        backward: bool,
    ) -> list[tuple[bytes, StoredItem]]:
        """Return the next items in index order."""
        while found := super().walk(index, scope, entries, after, limit, backward=backward):
            kept = self._kept([item.number for _, item in found])
            if kept:
                return [(entry, item) for entry, item in found if item.number in kept]
            after = EntryPosition(found[-1][0], found[-1][1].number)
        return []

    def _kept(self, numbers: Sequence[int]) -> set[int]:
        return {item.number for item in self._transaction.load(ItemScope(), numbers)}


def _holder_of_id(item: StoredItem) -> tuple[str, Sequence[object]]:
    return "SELECT number FROM items WHERE key = ? AND id = ?", (item.key, item.id)
