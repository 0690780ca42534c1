"""A physical partition: one SQLite file with one writer and many readers."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from cosmos_emulator.errors import container_deleted
from cosmos_emulator.partitioning.ranges import KeyRange, PartitionRange
from cosmos_emulator.store.budget import Budget
from cosmos_emulator.store.change_log import ChangeLog, set_log, trim
from cosmos_emulator.store.expiry import is_applied, rewrite
from cosmos_emulator.store.index_definition import IndexDefinition
from cosmos_emulator.store.index_entries import PartitionIndexes, StoredIndex
from cosmos_emulator.store.items import Clock, ItemsBefore, ItemTransaction, ItemView
from cosmos_emulator.store.replicas import Lag, Replicas, Snapshot
from cosmos_emulator.store.schema import check_format, copy_database, create_tables, open_connection

# An item's number has the partition's index in its upper bits, to be unique in the container.
NUMBER_BITS: Final = 40
_FILE_ENDINGS: Final = ("", "-wal", "-shm")
_MOST_WANTED: Final = 16  # indexes created for queries

_Chore = Callable[[Budget], bool]
"""Works until the budget is used; returns whether work remains (background.py)."""


def partition_file(directory: Path, partition_id: int) -> Path:
    """Return the path of a partition's file."""
    return directory / f"{partition_id}.sqlite"


def remove_partition_file(path: Path) -> None:
    """Delete a partition's file and its log, if they exist."""
    for ending in _FILE_ENDINGS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """What all partitions of an account have in common.

    The next LSN of a new partition is above `least_lsn`. `on_chore` is called from any thread when a partition's
    `do_chore` has work, `on_open` when its file was opened.
    """

    clock: Clock
    durable: bool
    replica_lag: Lag
    least_lsn: int
    on_chore: Callable[[Partition], None]
    on_open: Callable[[Partition], None]


class Rules(Protocol):
    """What a container demands of its partitions now."""

    @property
    def default_ttl_s(self) -> int | None:
        """The container's default TTL."""

    @property
    def log_retention_s(self) -> int | None:
        """How long all changes are logged; None if they are not."""

    def named_indexes(self) -> Sequence[IndexDefinition]:
        """Return the indexes that the policy names."""

    def may_index(self, definition: IndexDefinition) -> bool:
        """Return whether the policy allows an index."""


class Partition:
    """Items with an EPK in `range`.

    Reads see committed data and can run at any time on the event loop. Write transactions run one at a time, also in a
    worker thread.
    """

    def __init__(
        self,
        placed: PartitionRange,
        key_range: KeyRange,
        directory: Path,
        options: StoreOptions,
        rules: Rules,
    ) -> None:
        """Prepare the partition; its file is opened when it is used."""
        self.id = str(placed.id)
        self.index = placed.id
        self.placed = placed
        self.session_version = len(placed.ancestors) - 1
        """The version in session tokens, which increases with each split."""
        self.lineage = (self.id, *map(str, reversed(placed.ancestors)))
        self.range = key_range
        self._path = path = partition_file(directory, placed.id)
        self._options = options
        self._rules = rules
        self._clock = options.clock
        self._lock = asyncio.Lock()
        self._lsn = 0
        self._last_number = 0
        self._chores: dict[_Chore, None] = {}
        self._wanted: dict[IndexDefinition, None] = {}
        self.replicas = Replicas(
            options.replica_lag, options.clock, self._snapshot, log=path.with_name(f"{path.name}-wal")
        )
        self._committed = ItemView(self._reopened, options.clock)
        self._committed_for_worker = ItemView(self._connected, options.clock)
        self.used_s = 0.0
        """When a request used the partition last, by the monotonic clock."""
        self.is_closed = False
        self.split: asyncio.Event | None = None
        """While the partition is being split, the event that ends this."""

    @property
    def lsn(self) -> int:
        """The log sequence number of the last commit. On first use, which must be on the event loop, opens the file."""
        if not self._lsn:
            _ = self._writer
        return self._lsn

    @property
    def size_bytes(self) -> int:
        """The size of the file, without its log."""
        return self._path.stat().st_size if self._path.exists() else 0

    @property
    def committed(self) -> ItemView:
        """The items as last committed, for the event loop."""
        self.used_s = time.monotonic()
        _ = self.lsn  # creates the file
        return self._committed

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ItemTransaction]:
        """Begin the only transaction, committed at the end or rolled back if the block raises."""
        async with self._lock:
            self.used_s = time.monotonic()
            with self._begun() as transaction:
                yield transaction

    @contextmanager
    def _begun(self) -> Iterator[ItemTransaction]:
        writer = self._writer
        log = None if self._rules.log_retention_s is None else ChangeLog(writer)
        writer.execute("BEGIN IMMEDIATE")
        transaction = ItemTransaction(writer, self._clock, self._indexes, self._lsn + 1, self._last_number, log)
        try:
            yield transaction
            if transaction.writes:
                writer.execute("UPDATE progress SET lsn = ?, number = ?", (transaction.lsn, transaction.last_number))
                self.replicas.keep_state()
            writer.execute("COMMIT")
        except BaseException:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        if transaction.writes:
            self._lsn, self._last_number = transaction.lsn, transaction.last_number

    def before(self, transaction: ItemTransaction) -> ItemView:
        """Return the items before a transaction that it has not deleted, for the worker thread that runs it."""
        return ItemsBefore(self._committed_for_worker, transaction)

    async def divide(self, children: Sequence[Partition], commit: Callable[[], None]) -> None:
        """Copy each child's items, with their LSNs and numbers, then run `commit`. Writes wait until then."""
        self.split = asyncio.Event()
        try:
            async with self._lock:
                _ = self._writer  # opened here: in a thread, a read could open it at the same time
                for child in children:
                    await asyncio.to_thread(self._copy_to, child)
                commit()
        finally:
            self.split.set()
            self.split = None

    def _copy_to(self, child: Partition) -> None:
        remove_partition_file(child._path)  # of an interrupted split
        self._writer.execute("VACUUM INTO ?", (str(child._path),))
        with closing(open_connection(child._path, durable=self._options.durable)) as copy:
            copy.execute("BEGIN IMMEDIATE")
            for table in ("items", "changes"):
                copy.execute(f"DELETE FROM {table} WHERE epk < ? OR epk >= ?", (child.range.start, child.range.end))  # noqa: S608 - constants
            indexes = [f"entries_{number}" for (number,) in copy.execute("SELECT id FROM indexes")]
            for table in ["unique_values", *indexes]:
                copy.execute(f"DELETE FROM {table} WHERE number NOT IN (SELECT number FROM items)")  # noqa: S608 - constants
            copy.execute("UPDATE progress SET number = ?", (child.index << NUMBER_BITS,))
            copy.execute("COMMIT")  # closing the connection syncs the file

    async def copy_to(self, directory: Path) -> None:
        """Copy the file, if there is one, to another directory."""
        if self.size_bytes:
            async with self._lock:
                await asyncio.to_thread(copy_database, self._writer, directory / self._path.name)

    async def discard(self) -> None:
        """Close and delete the file of a partition that was split."""
        await self.close()
        with suppress(PermissionError):  # Windows, while an unfinished query has it open; the next start deletes it
            remove_partition_file(self._path)

    def separate_view(self, on_open: Callable[[], None] = lambda: None) -> ItemView:
        """Return a view of the committed items for a worker thread. It calls `on_open` before it opens the file."""

        def connected() -> sqlite3.Connection:
            on_open()
            return self._connected()

        return ItemView(connected, self._clock)

    def _connected(self) -> sqlite3.Connection:
        _ = self.lsn  # creates the file
        if self.is_closed:
            raise container_deleted()
        return open_connection(self._path, durable=self._options.durable, read_only=True)

    def _reopened(self) -> sqlite3.Connection:
        connection = self._connected()
        self._options.on_open(self)
        return connection

    def _snapshot(self) -> Snapshot:
        return Snapshot(self._connected(), self._clock, self.indexes)

    def purge(self) -> None:
        """Start to free the space of expired items and of changes that are past the log's retention time."""
        self._start(self._purge_expired)
        self._start(self._trim_log)

    async def do_chore(self) -> tuple[bool, float]:
        """Do a step of one chore. Returns whether work remains, and the time it took in seconds."""
        async with self._lock:
            if self.is_closed:
                self._chores.clear()
            if not self._chores:
                return False, 0.0
            chore = next(iter(self._chores))
            del self._chores[chore]
            started = time.monotonic()
            if chore(Budget()):
                self._chores[chore] = None  # after the others
            return bool(self._chores), time.monotonic() - started

    def _start(self, chore: _Chore) -> None:
        self._chores[chore] = None
        self._options.on_chore(self)

    def _purge_expired(self, budget: Budget) -> bool:
        with self._begun() as transaction:
            return transaction.purge_expired(budget)

    def _trim_log(self, budget: Budget) -> bool:
        with self._begun():
            retention_s = self._rules.log_retention_s
            return trim(self._writer, math.inf if retention_s is None else self._clock() - retention_s, budget)

    async def apply_default_ttl(self) -> None:
        """Recompute every item's expiry after the default changes."""
        self._start(self._rewrite_expiry)  # in case the caller is canceled
        remains = True
        while remains:
            async with self._lock:
                remains = self._rewrite_expiry(Budget())
            await asyncio.sleep(0)

    def _rewrite_expiry(self, budget: Budget) -> bool:
        with self._begun():
            remains = rewrite(self._writer, self._rules.default_ttl_s, budget)
        if not remains:
            self.replicas.catch_up()
        return remains

    async def apply_log_retention(self) -> None:
        """Start or end the log of all changes."""
        async with self._lock:
            self._set_log(self._writer)
        self.purge()

    def _set_log(self, connection: sqlite3.Connection) -> None:
        set_log(connection, self._lsn, is_kept=self._rules.log_retention_s is not None)

    @property
    def indexes(self) -> tuple[StoredIndex, ...]:
        """The complete indexes, once `lsn` has opened the file."""
        return self._indexes.usable

    def want_index(self, definition: IndexDefinition) -> None:
        """Request an index that the policy allows, to be built in the background."""
        if definition not in self._wanted and len(self._wanted) < _MOST_WANTED:
            self._wanted[definition] = None
            self._start(self._build_indexes)

    async def apply_policy(self) -> None:
        """Drop and add indexes for a new policy."""
        if self._lsn:  # else the first use does it
            self._wanted.clear()
            async with self._lock:
                await asyncio.to_thread(self._atomically, self._writer, self._synchronize)
            self._start(self._build_indexes)

    def _build_indexes(self, budget: Budget) -> bool:
        def build() -> None:
            for definition in list(self._wanted):
                if self._rules.may_index(definition):
                    self._indexes.add(definition, on_demand=True)
            self._indexes.build(budget)

        self._atomically(self._writer, build)
        return not self._indexes.is_complete

    def _synchronize(self) -> None:
        named = self._rules.named_indexes()
        self._indexes.retain(
            lambda one: self._rules.may_index(one.definition) if one.on_demand else one.definition in named
        )
        for definition in named:
            self._indexes.add(definition, on_demand=False)

    def _atomically(self, connection: sqlite3.Connection, change: Callable[[], None]) -> None:
        """Change indexes in a transaction. If it fails, reload their state."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            change()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite rolls back by itself if the disk is full (lang_transaction.html)
                connection.execute("ROLLBACK")
            self._indexes = PartitionIndexes(connection)
            raise
        self._indexes.publish()

    @property
    def is_open(self) -> bool:
        """Whether the file is open."""
        return "_writer" in self.__dict__ or self._committed.is_open

    def close_if_idle(self) -> bool:
        """Close the file until the next use, unless something is under way; return whether it is closed."""
        if self._lock.locked() or self._chores or not self.replicas.are_current:
            return False
        self._close_file()
        return True

    async def close(self) -> None:
        """Close the file for good, after the running transaction."""
        async with self._lock:
            self.is_closed, self._lsn = True, 0  # from now on, `lsn` raises 404, too
            self._close_file()

    def _close_file(self) -> None:
        self.replicas.catch_up()
        self._committed.close()
        self._committed_for_worker.close()
        if "_writer" in self.__dict__:
            self._writer.close()
            del self._writer

    @cached_property
    def _writer(self) -> sqlite3.Connection:
        if self.is_closed:
            raise container_deleted()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = open_connection(self._path, durable=self._options.durable)
        check_format(connection, self._path)
        create_tables(connection, self.index << NUMBER_BITS, self._options.least_lsn)
        self._lsn, self._last_number = connection.execute("SELECT lsn, number FROM progress").fetchone()
        self._set_log(connection)
        self._indexes = PartitionIndexes(connection)
        self._atomically(connection, self._synchronize)
        if not self._indexes.is_complete:
            self._start(self._build_indexes)
        if not is_applied(connection, self._rules.default_ttl_s):
            self._start(self._rewrite_expiry)
        self._options.on_open(self)
        return connection
