"""A physical partition of a container: one SQLite file, one writer, and who may use it when."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from cosmos_emulator.errors import OWNER_MISSING, CosmosError
from cosmos_emulator.partitioning.ranges import KeyRange
from cosmos_emulator.store.index_definition import IndexDefinition
from cosmos_emulator.store.indexes import PartitionIndexes, StoredIndex
from cosmos_emulator.store.items import Clock, ItemTransaction, ItemView
from cosmos_emulator.store.schema import create_tables, open_connection

# The rest of an item's number counts: the range in the upper bits keeps numbers unique in the container.
NUMBER_BITS: Final = 40
_PURGE_AT_ONCE: Final = 500
_MOST_WANTED: Final = 16  # indexes made for queries, each of which every later write pays for


class Partition:
    """Items whose effective partition key lies in `range`.

    Reads see what is committed and may be made at any time on the event loop. Writes are made in a transaction,
    one at a time; a transaction may be handed to a worker thread as a whole, as long as nobody else touches it.
    """

    def __init__(
        self,
        index: int,
        key_range: KeyRange,
        path: Path,
        clock: Clock,
        *,
        durable: bool,
        named_indexes: Callable[[], Sequence[IndexDefinition]],
        may_index: Callable[[IndexDefinition], bool],
        on_unbuilt: Callable[[Partition], None],
    ) -> None:
        """`named_indexes` and `may_index` tell what the container's policy wants now and what it allows;
        `on_unbuilt` is told, from any thread, that `build_slice` has something to do."""
        self.id = str(index)
        self.index = index
        self.range = key_range
        self._path = path
        self._clock = clock
        self._durable = durable
        self._lock = asyncio.Lock()
        self._lsn = 0
        self._last_number = 0
        self._named_indexes = named_indexes
        self._may_index = may_index
        self._on_unbuilt = on_unbuilt
        self._wanted: dict[IndexDefinition, None] = {}
        self.is_closed = False

    @property
    def lsn(self) -> int:
        """The log sequence number of the last committed transaction that wrote; it starts at 1."""
        _ = self._writer
        return self._lsn

    @property
    def size_bytes(self) -> int:
        """What the file takes on disk, without what the last transactions have yet to add to it."""
        return self._path.stat().st_size if self._path.exists() else 0

    @cached_property
    def committed(self) -> ItemView:
        """The items as last committed."""
        _ = self._writer  # which makes the file and its tables
        self._reader = open_connection(self._path, durable=self._durable, read_only=True)
        return ItemView(self._reader, self._clock)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ItemTransaction]:
        """The partition's only transaction of the moment: committed at the end, undone when the block raises."""
        async with self._lock:
            writer = self._writer
            writer.execute("BEGIN IMMEDIATE")
            transaction = ItemTransaction(writer, self._clock, self._indexes, self._lsn + 1, self._last_number)
            try:
                yield transaction
                if transaction.writes:
                    writer.execute(
                        "UPDATE progress SET lsn = ?, number = ?", (transaction.lsn, transaction.last_number)
                    )
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
            if transaction.writes:
                self._lsn, self._last_number = transaction.lsn, transaction.last_number

    @cached_property
    def committed_for_worker(self) -> ItemView:
        """The items as last committed, for the one thread that has the transaction of the moment.

        Nobody else commits meanwhile, so this is the snapshot from before that transaction.
        """
        self._worker_reader = open_connection(self._path, durable=self._durable, read_only=True)
        return ItemView(self._worker_reader, self._clock)

    @contextmanager
    def separate_view(self) -> Iterator[ItemView]:
        """The items as committed, over a connection of its own for a worker thread without a transaction."""
        _ = self._writer
        with closing(open_connection(self._path, durable=self._durable, read_only=True)) as connection:
            yield ItemView(connection, self._clock)

    async def purge_expired(self) -> None:
        """Frees the space of expired items; nobody has seen them since they expired."""
        async with self._lock:
            if self.is_open:
                items = ItemTransaction(self._writer, self._clock, self._indexes, self._lsn, self._last_number)
                self._atomically(self._writer, lambda: items.discard_expired(_PURGE_AT_ONCE))

    async def apply_default_ttl(self, default_ttl_s: int | None) -> None:
        """Gives every item the expiry that a changed container default means for it."""
        async with self._lock:
            writer = self._writer
            # Beside the event loop: it rewrites the whole file.
            await asyncio.to_thread(
                writer.execute,
                "UPDATE items SET expires_at = CASE WHEN :default IS NULL OR coalesce(ttl, :default) = -1 THEN NULL"
                " ELSE timestamp + coalesce(ttl, :default) END",
                {"default": default_ttl_s},
            )

    @property
    def indexes(self) -> tuple[StoredIndex, ...]:
        """The indexes that queries may use."""
        _ = self._writer
        return self._indexes.usable

    def want_index(self, definition: IndexDefinition) -> None:
        """Asks for an index that the policy allows without naming it; it comes into being in the background."""
        if definition not in self._wanted and len(self._wanted) < _MOST_WANTED:
            self._wanted[definition] = None
            self._on_unbuilt(self)

    async def apply_policy(self) -> None:
        """Drops the indexes that the container's policy no longer wants, and begins those that it newly names."""
        if self.is_open:
            async with self._lock:
                await asyncio.to_thread(self._atomically, self._writer, self._synchronise)
            self._on_unbuilt(self)

    async def build_slice(self) -> bool:
        """Builds some milliseconds' worth of what is wanted; whether there is more to do."""
        async with self._lock:
            if self.is_closed:
                return False
            self._atomically(self._writer, self._build)
            return not self._indexes.is_complete

    def _build(self) -> None:
        for definition in list(self._wanted):
            if self._may_index(definition):
                self._indexes.add(definition, on_demand=True)
        self._indexes.build_slice()

    def _synchronise(self) -> None:
        named = self._named_indexes()
        self._indexes.retain(lambda one: self._may_index(one.definition) if one.on_demand else one.definition in named)
        self._wanted.clear()
        for definition in named:
            self._indexes.add(definition, on_demand=False)

    def _atomically(self, connection: sqlite3.Connection, change: Callable[[], None]) -> None:
        """Runs a change of indexes and entries in a transaction; when it fails they are read anew."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            change()
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            self._indexes = PartitionIndexes(connection)
            raise
        self._indexes.publish()

    @property
    def is_open(self) -> bool:
        """Whether anybody has used the partition since the start."""
        return "_writer" in self.__dict__

    async def close(self) -> None:
        """Closes the file once the transaction under way has ended, for good."""
        async with self._lock:
            self.is_closed = True
            if "committed" in self.__dict__:
                del self.committed
                self._reader.close()
            if "committed_for_worker" in self.__dict__:
                del self.committed_for_worker
                self._worker_reader.close()
            if self.is_open:
                self._writer.close()
                del self._writer

    @cached_property
    def _writer(self) -> sqlite3.Connection:
        if self.is_closed:
            raise CosmosError(404, "The container was deleted meanwhile.", sub_status=OWNER_MISSING)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = open_connection(self._path, durable=self._durable)
        create_tables(connection, self.index << NUMBER_BITS)
        self._lsn, self._last_number = connection.execute("SELECT lsn, number FROM progress").fetchone()
        self._indexes = PartitionIndexes(connection)
        self._atomically(connection, self._synchronise)
        if not self._indexes.is_complete:
            self._on_unbuilt(self)
        return connection
