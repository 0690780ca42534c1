"""The SQLite files: connections, format version, and tables.

WAL with `synchronous=NORMAL` keeps every acknowledged write if the process is killed. A power cut can lose the latest
(sqlite.org/pragma.html#pragma_synchronous). The account file has `synchronous=FULL`, which prevents that.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from cosmos_emulator.store import change_log, expiry

FORMAT_VERSION: Final = 2
"""Format of the files, kept in `PRAGMA user_version`. 2 adds the layouts of containers with split partitions."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS items (
    number INTEGER PRIMARY KEY,   -- number in the _rid; increases with each insert
    epk TEXT NOT NULL,            -- effective partition key
    key TEXT NOT NULL,            -- partition key, canonical JSON
    id TEXT NOT NULL,
    body BLOB NOT NULL,           -- the document with its system properties
    etag TEXT NOT NULL,           -- with its double quotes
    timestamp INTEGER NOT NULL,   -- of the last write, in seconds
    lsn INTEGER NOT NULL,         -- of the last transaction that wrote it
    ttl INTEGER,                  -- of the document, in seconds
    expires_at INTEGER            -- in seconds; from ttl and the container's default
);
CREATE UNIQUE INDEX IF NOT EXISTS items_by_key ON items (key, id);
CREATE INDEX IF NOT EXISTS items_by_epk ON items (epk);
CREATE INDEX IF NOT EXISTS items_by_lsn ON items (lsn);
CREATE INDEX IF NOT EXISTS items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS unique_values (
    key TEXT NOT NULL,            -- unique keys apply within a logical partition
    rule INTEGER NOT NULL,        -- position in the container's uniqueKeyPolicy
    value TEXT NOT NULL,          -- canonical JSON of the values at the rule's paths
    number INTEGER NOT NULL,      -- of the item
    PRIMARY KEY (key, rule, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unique_values_by_item ON unique_values (number);
CREATE TABLE IF NOT EXISTS indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    definition TEXT NOT NULL UNIQUE,
    on_demand INTEGER NOT NULL,   -- 1: created for a query, 0: named by the policy
    built_to INTEGER NOT NULL     -- number of the last indexed item
);
CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    lsn INTEGER NOT NULL,         -- of the last committed transaction
    number INTEGER NOT NULL       -- of the last inserted item
);
"""
_LOG_BYTES: Final = 8 << 20  # kept for reuse
_LOCK_TIMEOUT_S: Final = 10.0


class UnsupportedFormat(OSError):
    """A newer version of the emulator wrote the data directory."""


CANNOT_WRITE: Final = (
    "{} cannot be written; choose another directory with --data-dir, or keep data in memory with --memory"
)
_IN_USE: Final = "{} is in use by another emulator; stop it, or choose another data directory"
_DAMAGED: Final = "the data in {} is damaged; stop the emulator, then restore a copy of the directory or delete it"
# By SQLite's primary result code: https://sqlite.org/rescode.html
_ADVICE: Final = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_PERM: CANNOT_WRITE,
    sqlite3.SQLITE_READONLY: CANNOT_WRITE,
    sqlite3.SQLITE_CANTOPEN: CANNOT_WRITE,
    sqlite3.SQLITE_FULL: "the disk of {} is full; free some space",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


def advice(error: sqlite3.Error, directory: Path | str) -> str | None:
    """Return what is wrong with the data directory and what to do, or None if the error has another cause."""
    text = _ADVICE.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)
    return text.format(directory) if text else None


def open_connection(path: Path, *, durable: bool, read_only: bool = False, alone: bool = False) -> sqlite3.Connection:
    """Open a connection in autocommit mode. Any thread can use it, one at a time.

    Unless `durable`, it never waits for the disk. If `alone`, it locks the file, or fails at once if it cannot.
    """
    timeout_s = 0.0 if alone else _LOCK_TIMEOUT_S
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
    try:
        if alone:  # before the first access, so that there is no shared memory (sqlite.org/wal.html#noshm)
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'NORMAL' if durable else 'OFF'}")
        if read_only:
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute(f"PRAGMA journal_size_limit={_LOG_BYTES}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection, first_number: int, least_lsn: int) -> None:
    """Create missing tables; items are numbered from `first_number` + 1, and later LSNs are above `least_lsn`.

    LSNs start at the time in microseconds. Clients can send the session token of a deleted container of the same name,
    and SDKs merge tokens to the highest LSN, so a new container's LSNs must be higher.
    """
    connection.executescript("BEGIN IMMEDIATE;" + _SCHEMA + change_log.SCHEMA + expiry.SCHEMA + "COMMIT;")
    connection.execute("INSERT OR IGNORE INTO progress VALUES (1, ?, ?)", (time.time_ns() // 1000, first_number))
    connection.execute("UPDATE progress SET lsn = ? WHERE lsn < ?", (least_lsn, least_lsn))


def copy_database(source: sqlite3.Connection, path: Path) -> None:
    """Copy what a connection sees to a new file; create its directory if needed."""
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as target:
        target.execute("PRAGMA synchronous=OFF")
        source.backup(target)


def check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Set a file's format version. Raises UnsupportedFormat, without changes, if it is newer."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > FORMAT_VERSION:
        raise UnsupportedFormat(
            f"{path} has data format {found}, and this version of cosmos-emulator supports formats up to "
            f"{FORMAT_VERSION}; upgrade cosmos-emulator, or choose another data directory"
        )
    if found < FORMAT_VERSION:
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
