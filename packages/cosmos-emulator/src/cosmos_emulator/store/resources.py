"""All resources but items: one table, cached in memory."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.ranges import PartitionRange, dumped_ranges, parsed_ranges
from cosmos_emulator.store.schema import UnsupportedFormat, advice, check_format, copy_database, open_connection

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS resources (
    rid TEXT PRIMARY KEY,
    kind TEXT NOT NULL,           -- dbs, colls, sprocs, triggers, udfs, offers, users or permissions
    parent TEXT NOT NULL,         -- rid of the owner, empty for databases and offers
    body BLOB NOT NULL,
    partitions INTEGER NOT NULL   -- of a new container, otherwise 0
);
CREATE TABLE IF NOT EXISTS layouts (
    rid TEXT PRIMARY KEY,         -- of a container with split partitions; others are divided evenly
    ranges TEXT NOT NULL          -- JSON (partitioning/ranges.py)
);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""


class UnusableData(OSError):
    """The data directory cannot be opened; the message says why and what to do."""


@dataclass(slots=True)
class Resource:
    """A resource other than an item; `body` includes system properties."""

    rid: str
    kind: str
    parent: str
    body: JsonObject
    partitions: int = 0

    @property
    def id(self) -> str:
        """The name, unique by parent and kind."""
        return str(self.body["id"])

    @property
    def etag(self) -> str:
        """The quoted etag."""
        return str(self.body["_etag"])


class ResourceTable:
    """All resources but items. Each write is committed when its method returns."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        self._connection = _open_alone(path, durable=durable)
        self._by_rid: dict[str, Resource] = {}
        self._by_name: dict[tuple[str, str, str], Resource] = {}
        self._by_parent: dict[tuple[str, str], dict[str, Resource]] = {}
        self._offers: dict[str, Resource] = {}  # by the rid of their owner
        rows = self._connection.execute("SELECT rid, kind, parent, body, partitions FROM resources ORDER BY rowid")
        for rid, kind, parent, body, partitions in rows:
            self._remember(Resource(rid, kind, parent, json_text.parse_stored(body), partitions))

    def find(self, kind: str, parent: str, name: str) -> Resource | None:
        """Return the resource with this name."""
        return self._by_name.get((kind, parent, name))

    def find_rid(self, kind: str, rid: str) -> Resource | None:
        """Return the resource with this rid and kind."""
        found = self._by_rid.get(rid)
        return found if found is not None and found.kind == kind else None

    def children(self, kind: str, parent: str) -> list[Resource]:
        """Return the parent's resources of a kind, oldest first."""
        return list(self._by_parent.get((kind, parent), {}).values())

    def offer_of(self, owner: Resource) -> Resource | None:
        """Return the offer of a database or container, if any."""
        return self._offers.get(owner.rid)

    def add(self, resource: Resource) -> None:
        """Store a new resource. Raises 409."""
        if (resource.kind, resource.parent, resource.id) in self._by_name:
            raise CosmosError(409, "Resource with specified id or name already exists.")
        self._connection.execute(
            "INSERT INTO resources VALUES (?, ?, ?, ?, ?)",
            (resource.rid, resource.kind, resource.parent, json_text.dump(resource.body), resource.partitions),
        )
        self._remember(resource)

    def replace(self, resource: Resource, body: JsonObject) -> None:
        """Store a new body. Raises 409 if it changes the id to one that is taken."""
        name = (resource.kind, resource.parent, str(body["id"]))
        if self._by_name.get(name, resource) is not resource:
            raise CosmosError(409, "Resource with specified id or name already exists.")
        self._connection.execute("UPDATE resources SET body = ? WHERE rid = ?", (json_text.dump(body), resource.rid))
        del self._by_name[resource.kind, resource.parent, resource.id]
        resource.body = body
        self._by_name[name] = resource

    def remove(self, *resources: Resource) -> None:
        """Remove resources without their other children: all, or none if it fails."""
        connection, rids = self._connection, [(resource.rid,) for resource in resources]
        connection.execute("BEGIN")
        try:
            connection.executemany("DELETE FROM resources WHERE rid = ?", rids)
            connection.executemany("DELETE FROM layouts WHERE rid = ?", rids)
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        for resource in resources:
            del self._by_rid[resource.rid]
            del self._by_name[resource.kind, resource.parent, resource.id]
            del self._by_parent[resource.kind, resource.parent][resource.rid]
            if resource.kind == "offers":
                del self._offers[str(resource.body["offerResourceId"])]

    def ranges(self, container: Resource) -> list[PartitionRange] | None:
        """Return a container's physical partitions in key order; None before a split."""
        row = self._connection.execute("SELECT ranges FROM layouts WHERE rid = ?", (container.rid,)).fetchone()
        return None if row is None else parsed_ranges(row[0])

    def replace_ranges(self, container: Resource, ranges: Sequence[PartitionRange]) -> None:
        """Store a container's physical partitions after a split."""
        self._connection.execute(
            "INSERT OR REPLACE INTO layouts SELECT rid, ? FROM resources WHERE rid = ?",  # unless it was deleted
            (dumped_ranges(ranges), container.rid),
        )

    def next_number(self, counter: str) -> int:
        """Return 1, 2, 3 …, never reusing a number."""
        (value,) = self._connection.execute(
            "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
            (counter,),
        ).fetchone()
        return int(value)

    def numbers(self) -> dict[str, int]:
        """Return the highest numbers so far, by counter."""
        return dict(self._connection.execute("SELECT name, value FROM counters"))

    def raise_numbers(self, numbers: Mapping[str, int]) -> None:
        """Let counters continue after these numbers, unless they are further."""
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
            numbers.items(),
        )
        self._connection.execute("COMMIT")

    def copy_to(self, path: Path) -> None:
        """Copy the file."""
        copy_database(self._connection, path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _remember(self, resource: Resource) -> None:
        self._by_rid[resource.rid] = resource
        self._by_name[resource.kind, resource.parent, resource.id] = resource
        self._by_parent.setdefault((resource.kind, resource.parent), {})[resource.rid] = resource
        if resource.kind == "offers":
            self._offers[str(resource.body["offerResourceId"])] = resource


def _open_alone(path: Path, *, durable: bool) -> sqlite3.Connection:
    # Exclusive: while the process runs, its copy in memory is authoritative.
    connection = None
    try:
        connection = open_connection(path, durable=durable, alone=True)
        if durable:  # rarely written, and without it no container's items can be found
            connection.execute("PRAGMA synchronous=FULL")
        check_format(connection, path)
        connection.executescript(_SCHEMA)  # acquires the lock
    except (sqlite3.Error, UnsupportedFormat) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error) and (reason := advice(error, path.parent)):
            raise UnusableData(reason) from error
        raise
    return connection


def new_etag() -> str:
    """Return a new quoted etag."""
    return f'"{secrets.token_hex(4)}-0000-0000-0000-{secrets.token_hex(6)}"'
