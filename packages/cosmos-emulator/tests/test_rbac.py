"""Role-based access: data operations are allowed, management is forbidden."""

from __future__ import annotations

import base64
import json
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorCertificateError, ClientSession
from azure.core.credentials import AccessToken
from azure.core.exceptions import ServiceRequestError
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.__main__ import parse_arguments
from tests.errors import fails_with
from tests.item_operations import PROCEDURE, run_every_item_operation
from tests.raw_client import RawClient

MANAGEMENT_KEY = base64.b64encode(b"a key that only the deployment has").decode()
TRIGGER = {"id": "t", "body": "function t() {}", "triggerType": "Pre", "triggerOperation": "All"}

ACCOUNT = "Microsoft.DocumentDB/databaseAccounts"
CONTAINERS = f"{ACCOUNT}/sqlDatabases/containers"


class Identity:
    """A stand-in for DefaultAzureCredential. The emulator does not validate its tokens."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    async def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        self.scopes += scopes
        return AccessToken("header.payload.signature", int(time.time()) + 3600)

    async def close(self) -> None: ...

    async def __aenter__(self) -> Identity:
        return self

    async def __aexit__(self, *_: object) -> None: ...


@pytest.fixture
async def provisioned(container: ContainerProxy, emulator: CosmosEmulator) -> ContainerProxy:
    """A container with a stored procedure, created before RBAC is enabled."""
    await container.scripts.create_stored_procedure(PROCEDURE)
    await container.read()
    emulator.settings.rbac = True
    return container


MANAGEMENT: dict[str, Callable[[CosmosClient], Awaitable[object]]] = {
    "create a database": lambda client: client.create_database("new"),
    "delete a database": lambda client: client.delete_database("db"),
    "create a container": lambda client: _database(client).create_container("new", PartitionKey("/pk")),
    "replace a container": lambda client: _database(client).replace_container("items", PartitionKey("/pk")),
    "delete a container": lambda client: _database(client).delete_container("items"),
    "create a procedure": lambda client: _scripts(client).create_stored_procedure({**PROCEDURE, "id": "new"}),
    "read a procedure": lambda client: _scripts(client).get_stored_procedure("add"),
    "replace a procedure": lambda client: _scripts(client).replace_stored_procedure("add", PROCEDURE),
    "delete a procedure": lambda client: _scripts(client).delete_stored_procedure("add"),
    "create a trigger": lambda client: _scripts(client).create_trigger(TRIGGER),
    "create a function": lambda client: _scripts(client).create_user_defined_function(
        {"id": "f", "body": "function f() {}"}
    ),
    "read throughput": lambda client: _container(client).get_throughput(),
    "replace throughput": lambda client: _container(client).replace_throughput(500),
}


def _database(client: CosmosClient) -> Any:
    return client.get_database_client("db")


def _container(client: CosmosClient) -> ContainerProxy:
    container: ContainerProxy = _database(client).get_container_client("items")
    return container


def _scripts(client: CosmosClient) -> Any:
    return _container(client).scripts


@pytest.mark.parametrize("operation", MANAGEMENT)
async def test_management_operations_are_forbidden(
    provisioned: ContainerProxy, client: CosmosClient, operation: str
) -> None:
    with fails_with(403, 5300, match="cannot be authorized by AAD token in data plane"):
        await MANAGEMENT[operation](client)


async def test_listing_scripts_is_forbidden(provisioned: ContainerProxy) -> None:
    with fails_with(403, 5300, match=r"The given request \[GET /dbs/db/colls/items/sprocs\]"):
        assert [script async for script in provisioned.scripts.list_stored_procedures()]


async def test_data_operations_and_script_execution_are_allowed(provisioned: ContainerProxy) -> None:
    await run_every_item_operation(provisioned)


async def test_metadata_can_be_read(provisioned: ContainerProxy, client: CosmosClient) -> None:
    assert [database["id"] async for database in client.list_databases()] == ["db"]
    assert [container["id"] async for container in _database(client).list_containers()] == ["items"]
    assert (await provisioned.read())["id"] == "items"
    assert [feed_range async for feed_range in provisioned.read_feed_ranges()]


async def test_create_if_not_exists_is_allowed_for_existing_resources(
    provisioned: ContainerProxy, client: CosmosClient
) -> None:
    database = await client.create_database_if_not_exists("db")

    assert (await (await database.create_container_if_not_exists("items", PartitionKey("/pk"))).read())["id"] == "items"
    with fails_with(403, 5300):
        await client.create_database_if_not_exists("new")


async def test_an_action_that_is_not_granted_is_forbidden(
    provisioned: ContainerProxy, emulator: CosmosEmulator
) -> None:
    emulator.settings.rbac_actions = frozenset({f"{ACCOUNT}/readMetadata", f"{CONTAINERS}/items/create"})
    await provisioned.create_item({"id": "a", "pk": "p"})

    with fails_with(
        403, 5301, match=rf"perform action \[{CONTAINERS}/items/read\] on resource \[/dbs/db/colls/items\]"
    ):
        await provisioned.read_item("a", "p")
    with fails_with(403, 5301, match="items/delete"):
        await provisioned.execute_item_batch([("create", ({"id": "b", "pk": "p"},)), ("delete", ("a",))], "p")


async def test_a_granted_wildcard_covers_its_actions(provisioned: ContainerProxy, emulator: CosmosEmulator) -> None:
    emulator.settings.rbac_actions = frozenset({f"{ACCOUNT}/readMetadata", f"{CONTAINERS}/*"})

    await run_every_item_operation(provisioned)


def test_the_granted_actions_are_read_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    role = tmp_path / "role.json"
    role.write_text(json.dumps([f"{ACCOUNT}/readMetadata"]))
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"actions": []}')

    settings = parse_arguments(["--rbac", "--rbac-actions", str(role)])

    assert (settings.rbac, settings.rbac_actions) == (True, {f"{ACCOUNT}/readMetadata"})
    with pytest.raises(SystemExit):
        parse_arguments(["--rbac-actions", str(role)])
    for file in (wrong, tmp_path / "missing.json"):
        with pytest.raises(SystemExit):
            parse_arguments(["--rbac", "--rbac-actions", str(file)])
        assert "must be a JSON array of data actions" in capsys.readouterr().err


@pytest.fixture
async def with_manager(settings: EmulatorSettings) -> AsyncIterator[CosmosEmulator]:
    settings.rbac, settings.management_key = True, MANAGEMENT_KEY
    async with CosmosEmulator(settings) as emulator:
        yield emulator


async def test_the_management_key_manages_what_the_account_key_can_only_use(with_manager: CosmosEmulator) -> None:
    async with CosmosClient(with_manager.endpoint, MANAGEMENT_KEY) as manager:
        database = await manager.create_database("db")
        deployed = await database.create_container("items", PartitionKey("/pk"))
        await deployed.scripts.create_stored_procedure(PROCEDURE)
    async with CosmosClient(with_manager.endpoint, with_manager.key) as user:
        await run_every_item_operation(_container(user))
        with fails_with(403, 5300):
            await user.create_database("other")


async def test_any_other_key_is_rejected(with_manager: CosmosEmulator) -> None:
    async with ClientSession() as session:
        raw = RawClient(session, with_manager)

        assert (await raw.send("GET", "/dbs", kind="dbs")).status == 200
        assert (await raw.send("GET", "/dbs", kind="dbs", key="d3Jvbmc=")).status == 401


async def test_a_recorded_request_with_the_management_key_cannot_be_sent_again_later(
    with_manager: CosmosEmulator,
) -> None:
    old = {"x-ms-date": "Thu, 01 Jan 2015 00:00:00 GMT"}
    async with ClientSession() as session:
        raw = RawClient(session, with_manager)

        response = await raw.send("POST", "/dbs", kind="dbs", body={"id": "db"}, headers=old, key=MANAGEMENT_KEY)

    assert (response.status, "off by over 15 minutes" in response.text) == (401, True)


@pytest.fixture
async def https(settings: EmulatorSettings) -> AsyncIterator[CosmosEmulator]:
    settings.tls = settings.rbac = True
    settings.management_key = MANAGEMENT_KEY
    async with CosmosEmulator(settings) as emulator:
        yield emulator


async def test_an_identity_works_over_https(https: CosmosEmulator) -> None:
    async with CosmosClient(https.endpoint, MANAGEMENT_KEY) as manager:
        database = await manager.create_database("db")
        await (await database.create_container("items", PartitionKey("/pk"))).scripts.create_stored_procedure(PROCEDURE)
    identity = Identity()

    async with CosmosClient(https.endpoint, credential=identity) as client:
        await run_every_item_operation(_container(client))
        with fails_with(403, 5300):
            await _scripts(client).create_stored_procedure({**PROCEDURE, "id": "new"})

    assert identity.scopes[0] == "https://127.0.0.1/.default"


async def test_the_sdk_does_not_send_tokens_over_http(emulator: CosmosEmulator) -> None:
    client = CosmosClient(emulator.endpoint, credential=Identity())

    with pytest.raises(ServiceRequestError, match="non-https"):
        await client.__aenter__()
    await client.close()


async def test_a_client_that_trusts_the_certificate_can_connect(https: CosmosEmulator) -> None:
    assert https.certificate is not None
    trusting = ssl.create_default_context(cafile=https.certificate)
    async with ClientSession() as session:
        async with session.get(f"{https.endpoint}_emulator/faults", ssl=trusting) as response:
            assert response.status == 200
        with pytest.raises(ClientConnectorCertificateError):
            await session.get(f"{https.endpoint}_emulator/faults")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
async def test_only_the_owner_can_read_the_private_key(https: CosmosEmulator) -> None:
    assert https.certificate is not None
    files = [file for file in https.certificate.parent.rglob("*") if file.is_file()]

    (key,) = [file for file in files if b"PRIVATE KEY" in file.read_bytes()]
    assert key.stat().st_mode & 0o077 == 0
