"""The indexes of a physical partition: tables, builds and updates.

Items up to number `built_to` have an entry, kept current by writes; the build adds later items. All changes run in the
writer's transactions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.store.budget import Budget
from cosmos_emulator.store.index_definition import IndexDefinition

COMPLETE: Final = (1 << 63) - 1


@dataclass(slots=True)
class StoredIndex:
    """An index; `on_demand` if requested by a query, not the policy."""

    id: int
    definition: IndexDefinition
    on_demand: bool
    built_to: int

    @property
    def table(self) -> str:
        """The table: (entry BLOB, number INTEGER)."""
        return f"entries_{self.id}"

    @property
    def insertion(self) -> str:
        """Parameters: an entry and a number."""
        return f"INSERT OR REPLACE INTO entries_{self.id} VALUES (?, ?)"  # noqa: S608 - the id is a number

    @property
    def deletion(self) -> str:
        """Parameters: an entry and a number."""
        return f"DELETE FROM entries_{self.id} WHERE entry = ? AND number = ?"  # noqa: S608 - the id is a number


class PartitionIndexes:
    """A partition's indexes. Queries read `usable`; everything else needs the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT id, definition, on_demand, built_to FROM indexes ORDER BY id")
        self._all = [
            StoredIndex(index_id, IndexDefinition.parse(text), bool(on_demand), built_to)
            for index_id, text, on_demand, built_to in rows
        ]
        self.usable: tuple[StoredIndex, ...] = ()
        self.publish()

    @property
    def has_any(self) -> bool:
        """Whether there are indexes, also incomplete ones."""
        return bool(self._all)

    @property
    def is_complete(self) -> bool:
        """Whether all indexes are built."""
        return len(self.usable) == len(self._all)

    def add(self, definition: IndexDefinition, *, on_demand: bool) -> None:
        """Add an index unless it exists. Without items, it is complete."""
        if any(one.definition == definition for one in self._all):
            return
        has_items = self._connection.execute("SELECT 1 FROM items LIMIT 1").fetchone() is not None
        built_to = -1 if has_items else COMPLETE
        (index_id,) = self._connection.execute(
            "INSERT INTO indexes (definition, on_demand, built_to) VALUES (?, ?, ?) RETURNING id",
            (definition.text, on_demand, built_to),
        ).fetchone()
        index = StoredIndex(index_id, definition, on_demand, built_to)
        self._connection.execute(
            f"CREATE TABLE {index.table} (entry BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (entry, number))"
            " WITHOUT ROWID"
        )
        self._all.append(index)

    def retain(self, keep: Callable[[StoredIndex], bool]) -> None:
        """Drop the indexes that `keep` rejects."""
        for index in [one for one in self._all if not keep(one)]:
            self._all.remove(index)
            self.publish()  # before the table is dropped
            self._connection.execute(f"DROP TABLE {index.table}")
            self._connection.execute("DELETE FROM indexes WHERE id = ?", (index.id,))

    def build(self, budget: Budget) -> None:
        """Add the next items to the first incomplete index."""
        index = next((one for one in self._all if one.built_to != COMPLETE), None)
        if index is None:
            return
        entries: list[tuple[bytes, int]] = []
        built_to = COMPLETE
        rows = self._connection.execute(
            "SELECT number, epk, body FROM items WHERE number > ? ORDER BY number", (index.built_to,)
        )
        with closing(rows):
            for number, epk, body in rows:
                entries.append((index.definition.entry(epk, json_text.parse_stored(body)), number))
                if not budget.allows_more(len(body)):
                    built_to = number
                    break
        entries.sort()
        self._connection.executemany(index.insertion, entries)
        index.built_to = built_to
        self._connection.execute("UPDATE indexes SET built_to = ? WHERE id = ?", (built_to, index.id))

    def publish(self) -> None:
        """Let queries use the complete indexes; call after the commit."""
        self.usable = tuple(one for one in self._all if one.built_to == COMPLETE)

    def insert(self, number: int, epk: str, document: JsonObject) -> None:
        """Add the entries of a new item."""
        for index in self._all:
            if number <= index.built_to:
                self._connection.execute(index.insertion, (index.definition.entry(epk, document), number))

    def update(self, number: int, epk: str, before: JsonObject, after: JsonObject) -> None:
        """Update the entries of a changed item."""
        for index in self._all:
            if number <= index.built_to:
                old, new = index.definition.entry(epk, before), index.definition.entry(epk, after)
                if old != new:
                    self._connection.execute(index.deletion, (old, number))
                    self._connection.execute(index.insertion, (new, number))

    def delete(self, number: int, epk: str, document: JsonObject) -> None:
        """Remove the entries of an item."""
        for index in self._all:
            if number <= index.built_to:
                self._connection.execute(index.deletion, (index.definition.entry(epk, document), number))

    def insert_many(self, items: Sequence[tuple[int, str, JsonObject]]) -> None:
        """Add the entries of new items (number, EPK, document), in index order."""
        for index in self._all:
            definition = index.definition
            entries = [
                (definition.entry(epk, document), number) for number, epk, document in items if number <= index.built_to
            ]
            entries.sort()
            self._connection.executemany(index.insertion, entries)
