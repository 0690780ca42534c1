"""How far a global secondary index has followed its source, and where it has put each item.

An item of the source can move to another partition key of the index. The file tells from which, because the change feed
has only the new version. It is written before the index's items, with the keys where they will be, and after them. If
the second write fails, the changes are applied again. An item can have moved again or been deleted meanwhile, so it is
removed from all keys where it can be.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cosmos_emulator.store.schema import copy_database, open_connection

FILE: Final = "source.sqlite"
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS placed (
    id TEXT PRIMARY KEY,          -- of the index's item
    key TEXT NOT NULL             -- its partition key, canonical JSON
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (
    id TEXT NOT NULL,
    key TEXT NOT NULL,            -- where the item is being put
    PRIMARY KEY (id, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS progress (
    partition TEXT PRIMARY KEY,   -- physical partition of the source
    lsn INTEGER NOT NULL          -- of the last change applied
) WITHOUT ROWID;
"""


class IndexProgress:
    """The file of an index, in its directory."""

    def __init__(self, directory: Path, *, durable: bool) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._connection = open_connection(directory / FILE, durable=durable)
        self._connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}COMMIT;")
        self._lsns: dict[str, int] = dict(self._connection.execute("SELECT partition, lsn FROM progress"))

    def lsn(self, lineage: Sequence[str]) -> int:
        """Return the LSN up to which a partition, or the one from which it was split, has been applied; 0 at first."""
        return next((self._lsns[one] for one in lineage if one in self._lsns), 0)

    def keys_of(self, item_id: str) -> set[str]:
        """Return the partition keys where an item can be in the index."""
        query = "SELECT key FROM placed WHERE id = ? UNION SELECT key FROM pending WHERE id = ?"
        return {str(key) for (key,) in self._connection.execute(query, (item_id, item_id))}

    def prepare(self, keys: Iterable[tuple[str, str]]) -> None:
        """Store where items, by ID, are about to be put."""
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO pending VALUES (?, ?)", keys)

    def commit(self, partition: str, lsn: int, placed: dict[str, str | None]) -> None:
        """Store what was applied: the new partition keys by item, None for those that were deleted."""
        with self._transaction() as connection:
            for item_id, key in placed.items():
                connection.execute("DELETE FROM pending WHERE id = ?", (item_id,))
                if key is None:
                    connection.execute("DELETE FROM placed WHERE id = ?", (item_id,))
                else:
                    connection.execute("INSERT OR REPLACE INTO placed VALUES (?, ?)", (item_id, key))
            connection.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (partition, lsn))
        self._lsns[partition] = lsn

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:  # SQLite rolls back by itself if the disk is full (lang_transaction.html)
                connection.execute("ROLLBACK")
            raise

    def copy_to(self, directory: Path) -> None:
        """Copy the file to another directory."""
        copy_database(self._connection, directory / FILE)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
