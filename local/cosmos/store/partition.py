"""A physical partition of a container: one SQLite file, one writer, and who may use it when."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from local.cosmos.errors import OWNER_MISSING, CosmosError
from local.cosmos.ranges import KeyRange
from local.cosmos.store.items import Clock, ItemTransaction, ItemView
from local.cosmos.store.schema import create_tables, open_connection

# The rest of an item's number counts: the range in the upper bits keeps numbers unique in the container.
NUMBER_BITS: Final = 40
_PURGE_AT_ONCE: Final = 500


class Partition:
    """Items whose effective partition key lies in `range`.

    Reads see what is committed and may be made at any time on the event loop. Writes are made in a transaction,
    one at a time; a transaction may be handed to a worker thread as a whole, as long as nobody else touches it.
    """

    def __init__(self, index: int, key_range: KeyRange, path: Path, clock: Clock, *, durable: bool) -> None:
        self.id = str(index)
        self.index = index
        self.range = key_range
        self._path = path
        self._clock = clock
        self._durable = durable
        self._lock = asyncio.Lock()
        self._lsn = 0
        self._last_number = 0
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
            transaction = ItemTransaction(writer, self._clock, self._lsn + 1, self._last_number)
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
            if not self.is_open:
                return
            rows = self._writer.execute(
                "DELETE FROM items WHERE number IN (SELECT number FROM items WHERE expires_at <= ? LIMIT ?)"
                " RETURNING number",
                (self._clock(), _PURGE_AT_ONCE),
            ).fetchall()
            self._writer.executemany("DELETE FROM unique_values WHERE number = ?", rows)

    async def apply_default_ttl(self, default_ttl_s: int | None) -> None:
        """Gives every item the expiry that a changed container default means for it."""
        async with self._lock:
            self._writer.execute(
                "UPDATE items SET expires_at = CASE WHEN :default IS NULL OR coalesce(ttl, :default) = -1 THEN NULL"
                " ELSE timestamp + coalesce(ttl, :default) END",
                {"default": default_ttl_s},
            )

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
        return connection
