"""The log of all changes of a physical partition, for the change feed of all versions and deletes.

The log exists while the container's changeFeedPolicy has a retention time. It has every change after `start`.
"""

from __future__ import annotations

import sqlite3
from typing import Final, Literal, NamedTuple

Operation = Literal["create", "replace", "delete"]

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS changes (
    sequence INTEGER PRIMARY KEY, -- order of the changes of a transaction
    lsn INTEGER NOT NULL,         -- of the transaction
    epk TEXT NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    operation TEXT NOT NULL,      -- create, replace or delete
    body BLOB NOT NULL,           -- the new document; for a delete, the old one
    previous_lsn INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,   -- of the change, in seconds
    is_expiry INTEGER NOT NULL    -- 1: deleted because the TTL expired
);
CREATE INDEX IF NOT EXISTS changes_by_lsn ON changes (lsn);
CREATE INDEX IF NOT EXISTS changes_by_time ON changes (timestamp);
CREATE TABLE IF NOT EXISTS change_log (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    start INTEGER NOT NULL        -- LSN
);
"""
COLUMNS: Final = "lsn, key, id, operation, body, previous_lsn, timestamp, is_expiry"


class LoggedChange(NamedTuple):
    """A row of the table `changes`, without what only the store uses."""

    lsn: int
    key: str
    id: str
    operation: Operation
    body: bytes
    previous_lsn: int
    timestamp: int
    is_expiry: bool


class ChangeLog:
    """Writes to the log, in the transaction of the change."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, change: LoggedChange, epk: str) -> None:
        """Add a change."""
        self._connection.execute(
            f"INSERT INTO changes (epk, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
            (epk, *change),
        )

    def trim(self, before_s: float) -> None:
        """Remove the changes before a time. The feed then starts after them."""
        (last,) = self._connection.execute("SELECT max(lsn) FROM changes WHERE timestamp < ?", (before_s,)).fetchone()
        if last is not None:
            self._connection.execute("DELETE FROM changes WHERE lsn <= ?", (last,))
            self._connection.execute("UPDATE change_log SET start = max(start, ?)", (last,))


def set_log(connection: sqlite3.Connection, lsn: int, *, is_kept: bool) -> None:
    """Start the log after an LSN unless it exists, or delete it."""
    if is_kept:
        connection.execute("INSERT OR IGNORE INTO change_log VALUES (1, ?)", (lsn,))
    else:
        connection.execute("DELETE FROM changes")
        connection.execute("DELETE FROM change_log")
