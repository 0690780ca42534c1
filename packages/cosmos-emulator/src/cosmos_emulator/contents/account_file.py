"""The file of an exported account: JSON Lines, each with one resource.

    {"cosmosEmulatorExport": 1}
    {"database": {"id": "shop"}, "offer": {"offerThroughput": 400}}
    {"container": {"id": "orders", "partitionKey": {…}, …}, "partitions": 1}
    {"storedProcedure": {"id": "archive", "body": "function () {…}"}}
    {"item": {"id": "1", "customer": "ada", "total": 42}}

A resource belongs to the nearest database, user or container above it. System properties such as `_ts` are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.contents.importing import ItemImport
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.documents.logical_partition import SYSTEM_PROPERTIES
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages.throughput import checked_content
from cosmos_emulator.operations.create_permission import checked_body
from cosmos_emulator.operations.create_script import checked_script
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.items import SCAN_START, Clock, ItemScope, ScanPosition
from cosmos_emulator.store.resources import Resource
from cosmos_emulator.vocabulary.names import checked_name

_HEADER: Final[JsonObject] = {"cosmosEmulatorExport": 1}
_SCRIPTS: Final = {"storedProcedure": "sprocs", "trigger": "triggers", "userDefinedFunction": "udfs"}
_SCANNED: Final = 500
_MOST_PARTITIONS: Final = 10_000


def exported_lines(account: Account) -> Iterator[bytes]:
    """Return the lines of an account that nothing else uses. All its containers must have been opened."""
    yield _line(_HEADER)
    for database in account.resources.children("dbs", ""):
        yield _line({"database": _own(database), **_offer(account, database)})
        for user in account.resources.children("users", database.rid):
            yield _line({"user": _own(user)})
            for permission in account.resources.children("permissions", user.rid):
                yield _line({"permission": _own(permission)})
        for resource in account.resources.children("colls", database.rid):
            yield from _container_lines(account, account.container(resource.rid))


def _container_lines(account: Account, container: Container) -> Iterator[bytes]:
    definition = _own(container.resource)
    count = len(container.partitions)
    yield _line({"container": definition, "partitions": count, **_offer(account, container.resource)})
    for name, kind in _SCRIPTS.items():
        for script in account.resources.children(kind, container.rid):
            yield _line({name: _own(script)})
    # The items of a global secondary index come from its source.
    for partition in [] if container.definition.source else container.partitions:
        position = SCAN_START
        with closing(partition.separate_view()) as items:
            while chunk := items.scan(ItemScope(), position, _SCANNED):
                for item in chunk:
                    document = json_text.parse_stored(item.body)
                    yield _line({"item": {name: document[name] for name in document if name not in SYSTEM_PROPERTIES}})
                position = ScanPosition(chunk[-1].epk, chunk[-1].number)


def _own(resource: Resource) -> JsonObject:
    return {name: value for name, value in resource.body.items() if not name.startswith("_")}


def _offer(account: Account, owner: Resource) -> JsonObject:
    offer = account.resources.offer_of(owner)
    return {} if offer is None else {"offer": offer.body["content"]}


def _line(value: JsonObject) -> bytes:
    return json_text.dump(value) + b"\n"


async def import_lines(account: Account, lines: Iterable[bytes], clock: Clock) -> None:
    """Create the resources of a file in an empty account. Raises 400 and 409, which name the line."""
    reader, number = _Reader(account, clock), 0
    for number, line in enumerate(lines, start=1):
        try:
            if number == 1:
                _check_header(line)
            elif line.strip():
                await reader.read(number, line)
        except CosmosError as error:
            if error.message.startswith("Line"):
                raise
            raise CosmosError(error.status, f"Line {number}: {error.message}") from error
    if not number:
        raise CosmosError(400, "The file is empty; expected an export of an account.")
    await reader.end_container()


def _check_header(line: bytes) -> None:
    if json_text.parse_object(line) != _HEADER:
        raise CosmosError(400, f"This is not an export of an account, which starts with {_line(_HEADER).decode()!r}.")


class _Reader:
    """Creates a resource for each line."""

    def __init__(self, account: Account, clock: Clock) -> None:
        self._account = account
        self._clock = clock
        self._database: Resource | None = None
        self._user: Resource | None = None
        self._container: Container | None = None
        self._items: ItemImport | None = None

    async def read(self, number: int, line: bytes) -> None:
        entry = json_text.parse_object(line)
        match entry:
            case {"item": dict(document)}:
                if self._items is None:
                    raise _misplaced("item", "container")
                await self._items.add(number, json_text.dump(document))
            case {"container": dict(body)}:
                await self.end_container()
                self._add_container(body, entry)
            case {"database": dict(body)}:
                await self.end_container()
                self._database, self._user = self._account.add_database(_named(body)), None
                self._add_offer(self._database, entry)
            case {"user": dict(body)}:
                self._user = self._account.add_user(self._parent(self._database, "user", "database"), _named(body))
            case {"permission": dict(body)}:
                user = self._parent(self._user, "permission", "user")
                others = self._account.resources.children("permissions", user.rid)
                self._account.add_permission(user, checked_body(body, others))
            case _:
                self._add_script(entry)

    async def end_container(self) -> None:
        """Store the remaining items."""
        if self._items is not None:
            await self._items.store()
        self._items = self._container = None

    def _add_container(self, body: JsonObject, entry: JsonObject) -> None:
        database = self._parent(self._database, "container", "database")
        partitions = entry.get("partitions", 1)
        if not isinstance(partitions, int) or not 1 <= partitions <= _MOST_PARTITIONS:
            raise CosmosError(400, f"'partitions' must be from 1 to {_MOST_PARTITIONS}, not {partitions!r}.")
        self._container = self._account.add_container(database, completed(body), partitions)
        self._items = ItemImport(self._container, self._clock)
        self._add_offer(self._container.resource, entry)

    def _add_script(self, entry: JsonObject) -> None:
        for name, kind in _SCRIPTS.items():
            body = entry.get(name)
            if isinstance(body, dict):
                if self._container is None:
                    raise _misplaced(name, "container")
                self._account.add_script(self._container, kind, checked_script(kind, body))
                return
        kinds = ("database", "user", "permission", "container", *_SCRIPTS, "item")
        raise CosmosError(400, f"Expected an object with one of these: {', '.join(kinds)}.")

    def _add_offer(self, owner: Resource, entry: JsonObject) -> None:
        content: Json = entry.get("offer")
        if content is not None:
            self._account.add_offer(owner, checked_content(content))

    @staticmethod
    def _parent(parent: Resource | None, kind: str, expected: str) -> Resource:
        if parent is None:
            raise _misplaced(kind, expected)
        return parent


def _misplaced(kind: str, parent: str) -> CosmosError:
    return CosmosError(400, f"A line with '{kind}' must follow one with its '{parent}'.")


def _named(body: JsonObject) -> JsonObject:
    checked_name(body.get("id"))
    return body
