"""The expiry of stored items after a change of the container's default TTL.

Each file stores which default TTL its items have. If that is not the container's, because it has changed or the
emulator ended before all items had it, `rewrite` continues.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from cosmos_emulator.store.budget import Budget

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS expiry (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    default_ttl INTEGER,          -- the container's, in seconds
    number INTEGER NOT NULL       -- of the last item that expires accordingly; later writes do, too
);
"""
_ALL: Final = (1 << 63) - 1


def expiry(timestamp: int, ttl_s: int | None, default_ttl_s: int | None) -> int | None:
    """Return when an item expires that was last written at `timestamp`. Its own TTL needs the container's."""
    if default_ttl_s is None:
        return None
    lifetime_s = default_ttl_s if ttl_s is None else ttl_s
    return None if lifetime_s == -1 else timestamp + lifetime_s


def is_applied(connection: sqlite3.Connection, default_ttl_s: int | None) -> bool:
    """Return whether all items have this default TTL. A file without items gets it."""
    if connection.execute("SELECT 1 FROM items LIMIT 1").fetchone() is None:
        connection.execute("INSERT OR REPLACE INTO expiry VALUES (1, ?, ?)", (default_ttl_s, _ALL))
    return _reached(connection, default_ttl_s) == _ALL


def rewrite(connection: sqlite3.Connection, default_ttl_s: int | None, budget: Budget) -> bool:
    """Let the next items expire by this default TTL; return whether some remain."""
    reached = _reached(connection, default_ttl_s)
    rows = connection.execute(
        "SELECT number, ttl, timestamp, expires_at, length(body) FROM items WHERE number > ? ORDER BY number",
        (reached,),
    )
    with closing(rows):
        for number, ttl_s, timestamp, before, size in rows:
            after = expiry(timestamp, ttl_s, default_ttl_s)
            if after != before:
                connection.execute("UPDATE items SET expires_at = ? WHERE number = ?", (after, number))
            reached = number
            if not budget.allows_more(size):
                break
        else:
            reached = _ALL
    connection.execute("INSERT OR REPLACE INTO expiry VALUES (1, ?, ?)", (default_ttl_s, reached))
    return reached != _ALL


def _reached(connection: sqlite3.Connection, default_ttl_s: int | None) -> int:
    row = connection.execute("SELECT number FROM expiry WHERE default_ttl IS ?", (default_ttl_s,)).fetchone()
    return 0 if row is None else int(row[0])
