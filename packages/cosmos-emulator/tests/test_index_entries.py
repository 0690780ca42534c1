"""Entries of an index are read from one state, also while another thread writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from cosmos_emulator.store.items import EntryPosition, ItemView
from cosmos_emulator.store.schema import open_connection


class _Index:
    table = "entries_1"


class _BusyView(ItemView):
    """Another connection deletes the first entry between the first two statements."""

    writer: sqlite3.Connection
    statements = 0

    def _read_index(self, statement: str, arguments: Any) -> sqlite3.Cursor:
        self.statements += 1
        if self.statements == 2:
            self.writer.execute("DELETE FROM entries_1 WHERE number = 1")
        return super()._read_index(statement, arguments)


def test_a_deletion_while_entries_are_read_skips_no_other_entry(tmp_path: Path) -> None:
    path = tmp_path / "items.sqlite"
    with closing(open_connection(path, durable=False)) as writer:
        writer.execute("CREATE TABLE entries_1 (entry BLOB, number INTEGER, PRIMARY KEY (entry, number)) WITHOUT ROWID")
        writer.executemany("INSERT INTO entries_1 VALUES (?, ?)", [(b"e", number) for number in range(1, 21)])
        view = _BusyView(lambda: open_connection(path, durable=False, read_only=True), lambda: 0.0)
        view.writer = writer
        index: Any = _Index()
        found: list[int] = []
        after: EntryPosition | None = EntryPosition(b"", -1)
        with closing(view):
            while after is not None:
                numbers, after = view.entries(index, after, b"f", 4)
                found += numbers

    assert found == list(range(1, 21))
