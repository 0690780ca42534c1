"""The log of all changes of a physical partition, for the change feed of all versions and deletes.

The log exists while the container's changeFeedPolicy has a retention time. It has every change after `start`.
"""

from __future__ import annotations

import sqlite3
from typing import Final, Literal, NamedTuple

from cosmos_emulator.store.budget import Budget

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


def trim(connection: sqlite3.Connection, before_s: float, budget: Budget) -> bool:
    """Remove the changes before a time and before the log's start; return whether some remain.

    The feed then starts after them.
    """
    (start,) = connection.execute("SELECT coalesce(max(start), 0) FROM change_log").fetchone()
    last, is_done = start, False
    while not is_done and budget.allows_more():
        row = connection.execute("SELECT sequence, lsn, timestamp FROM changes ORDER BY sequence LIMIT 1").fetchone()
        is_done = row is None or (row[1] > start and row[2] >= before_s)
        if not is_done:
            last = max(last, row[1])
            connection.execute("DELETE FROM changes WHERE sequence = ?", row[:1])
    if last > start:
        connection.execute("UPDATE change_log SET start = ?", (last,))
    return not is_done


def set_log(connection: sqlite3.Connection, lsn: int, *, is_kept: bool) -> None:
    """Start the log after an LSN unless it exists, or end it; `trim` removes the changes of an ended log."""
    if is_kept:
        connection.execute("INSERT OR IGNORE INTO change_log VALUES (1, ?)", (lsn,))
    else:
        connection.execute("DELETE FROM change_log")
