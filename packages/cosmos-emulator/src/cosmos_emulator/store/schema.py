"""The tables of a physical partition's file, and how a connection to it is opened.

`items` is the truth; `unique_values` keeps a container's unique keys; `indexes` lists the indexes, each of which has a
table of its own (store/indexes.py). Files from before there were indexes get theirs when they are opened.

A WAL file with `synchronous=NORMAL` keeps every acknowledged write when the process is killed; a power cut may lose
the last moments (sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS items (
    number INTEGER PRIMARY KEY,   -- of the _rid: grows with insertion
    epk TEXT NOT NULL,            -- effective partition key
    key TEXT NOT NULL,            -- partition key, canonical JSON
    id TEXT NOT NULL,
    body BLOB NOT NULL,           -- the document as it is answered, system properties included
    etag TEXT NOT NULL,           -- with its double quotes
    timestamp INTEGER NOT NULL,   -- seconds of the last write
    lsn INTEGER NOT NULL,         -- of the transaction that wrote it last
    ttl INTEGER,                  -- the document's own, seconds
    expires_at INTEGER            -- seconds; from ttl and the container's default
);
CREATE UNIQUE INDEX IF NOT EXISTS items_by_key ON items (key, id);
CREATE INDEX IF NOT EXISTS items_by_epk ON items (epk);
CREATE INDEX IF NOT EXISTS items_by_lsn ON items (lsn);
CREATE INDEX IF NOT EXISTS items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS unique_values (
    key TEXT NOT NULL,            -- a unique key holds inside one logical partition
    rule INTEGER NOT NULL,        -- position in the container's uniqueKeyPolicy
    value TEXT NOT NULL,          -- canonical JSON of the values at the rule's paths
    number INTEGER NOT NULL,      -- of the item that has them
    PRIMARY KEY (key, rule, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unique_values_by_item ON unique_values (number);
CREATE TABLE IF NOT EXISTS indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    definition TEXT NOT NULL UNIQUE,
    on_demand INTEGER NOT NULL,   -- 1: made for a query, 0: named by the policy
    built_to INTEGER NOT NULL     -- number of the last item that has an entry
);
CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    lsn INTEGER NOT NULL,         -- of the last committed transaction
    number INTEGER NOT NULL       -- the last one given to an item
);
"""


_PATIENCE_S: Final = 10.0


def open_connection(
    path: Path, *, durable: bool, read_only: bool = False, patience_s: float = _PATIENCE_S
) -> sqlite3.Connection:
    """A connection in autocommit mode that any thread may use, one at a time.

    Not `durable` never waits for the disk: for data that end with the process. `patience_s` is how long to wait for
    a lock of another connection.
    """
    connection = sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'NORMAL' if durable else 'OFF'}")
        if read_only:
            connection.execute("PRAGMA query_only=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection, first_number: int) -> None:
    """Makes what is missing. Items of this partition are numbered from `first_number` + 1."""
    connection.executescript("BEGIN IMMEDIATE;" + _SCHEMA + "COMMIT;")
    connection.execute("INSERT OR IGNORE INTO progress VALUES (1, 1, ?)", (first_number,))
