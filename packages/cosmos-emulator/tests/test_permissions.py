"""Users, permissions and resource tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.aio._user import UserProxy
from azure.cosmos.documents import PermissionMode
from cosmos_emulator import CosmosEmulator
from tests.clock import Clock
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient

ITEMS = "dbs/db/colls/items"
HOUR_S = 3600
Connect = Callable[..., Any]


@pytest.fixture
async def user(database: DatabaseProxy) -> UserProxy:
    return await database.create_user({"id": "ada"})


@pytest.fixture
async def granted(
    emulator: CosmosEmulator, user: UserProxy, container: ContainerProxy
) -> AsyncIterator[Callable[..., Any]]:
    """A function that grants a permission and returns the container, used with the permission's token."""
    for number in range(4):
        await container.create_item({"id": str(number), "pk": f"key {number % 2}", "n": number})
    async with AsyncExitStack() as clients:

        async def grant(mode: str, resource: str = ITEMS, **options: Any) -> ContainerProxy:
            expiry = options.pop("expiry_s", None)
            sent = {} if expiry is None else {"resource_token_expiry_seconds": str(expiry)}
            body = {
                "id": f"{mode} {resource.replace('/', '-')}",
                "permissionMode": mode,
                "resource": resource,
                **options,
            }
            permission = await user.create_permission(body, **sent)
            tokens = {resource: permission.properties["_token"]}
            client = await clients.enter_async_context(CosmosClient(emulator.endpoint, tokens))
            return client.get_database_client("db").get_container_client("items")

        yield grant


async def ids(container: ContainerProxy, **options: Any) -> list[str]:
    return sorted([item["id"] async for item in container.query_items("SELECT c.id FROM c", **options)])


async def test_users_are_created_read_replaced_queried_and_deleted(database: DatabaseProxy) -> None:
    created = await (await database.create_user({"id": "ada"})).read()
    await database.upsert_user({"id": "ada"})
    await database.upsert_user({"id": "bob"})

    renamed = await database.replace_user("ada", {"id": "grace"})

    assert (await renamed.read())["_rid"] == created["_rid"]
    assert [one["id"] async for one in database.list_users()] == ["grace", "bob"]
    assert [one["id"] async for one in database.query_users("SELECT * FROM c WHERE c.id = 'bob'")] == ["bob"]
    with fails_with(409):
        await database.create_user({"id": "bob"})
    with fails_with(409):
        await database.replace_user("grace", {"id": "bob"})
    await database.delete_user("grace")
    with fails_with(404):
        await database.get_user_client("grace").read()
    with fails_with(404):
        await database.delete_user("grace")
    assert [one["id"] async for one in database.list_users()] == ["bob"]


async def test_permissions_are_created_read_replaced_queried_and_deleted(
    database: DatabaseProxy, user: UserProxy
) -> None:
    body = {"id": "p", "permissionMode": "Read", "resource": ITEMS}
    await user.create_permission(body)
    await user.upsert_permission({**body, "permissionMode": PermissionMode.All})  # lower case
    await user.upsert_permission({**body, "id": "q", "resource": ITEMS + "/docs/a"})

    await user.replace_permission("p", {**body, "id": "renamed"})

    read = await user.get_permission("renamed")
    assert (read.permission_mode, read.resource_link) == ("Read", ITEMS)
    assert [one["id"] async for one in user.list_permissions()] == ["renamed", "q"]
    assert [one["id"] async for one in user.query_permissions("SELECT * FROM c WHERE c.id = 'q'")] == ["q"]
    with fails_with(409):
        await user.create_permission({**body, "id": "q", "resource": "dbs/db/colls/other"})
    with fails_with(409):  # one permission per user and resource
        await user.create_permission({**body, "id": "second"})
    await user.create_permission({**body, "id": "second", "resourcePartitionKey": ["key"]})
    await user.delete_permission("renamed")
    with fails_with(404):
        await user.get_permission("renamed")
    await database.delete_user("ada")
    again = await database.create_user({"id": "ada"})
    assert [one async for one in again.list_permissions()] == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"permissionMode": "Write"}, "permissionMode"),
        ({"permissionMode": None}, "permissionMode"),
        ({"resource": None}, "resource"),
        ({"resource": "dbs/db"}, "resource"),
        ({"resource": "a"}, "resource"),
        ({"resourcePartitionKey": "key"}, "resourcePartitionKey"),
        ({"id": "x" * 256}, "'255' characters"),
    ],
)
async def test_an_invalid_permission_is_rejected(user: UserProxy, changed: dict[str, Any], reason: str) -> None:
    body = {"id": "p", "permissionMode": "Read", "resource": ITEMS, **changed}

    with fails_with(400, match=reason):
        await user.create_permission({name: value for name, value in body.items() if value is not None})


@pytest.mark.parametrize("seconds", ["0", "18001", "soon", "9" * 5000])
async def test_a_token_lives_for_at_most_five_hours(user: UserProxy, seconds: str) -> None:
    body = {"id": "p", "permissionMode": "Read", "resource": ITEMS}

    with fails_with(400, match="18000"):
        await user.create_permission(body, resource_token_expiry_seconds=seconds)
    await user.create_permission(body)
    with fails_with(400, match="18000"):
        await user.upsert_permission({**body, "permissionMode": "All"}, resource_token_expiry_seconds=seconds)
    assert (await user.get_permission("p")).permission_mode == "Read"


async def test_a_read_token_reads_its_container_and_nothing_else(granted: Any, database: DatabaseProxy) -> None:
    await database.create_container("other", PartitionKey("/pk"))
    await database.get_container_client("items").scripts.create_stored_procedure(
        {"id": "s", "body": "function () { __.response.setBody(1); }"}
    )
    items = await granted("Read")

    assert (await items.read())["id"] == "items"
    assert (await items.read_item("1", "key 1"))["n"] == 1
    assert await ids(items) == ["0", "1", "2", "3"]
    assert await ids(items, partition_key="key 0") == ["0", "2"]
    assert len([item async for item in items.read_all_items()]) == 4
    assert len([item async for item in items.query_items_change_feed(start_time="Beginning")]) == 4
    for refused in (
        items.create_item({"id": "new", "pk": "key 0"}),
        items.upsert_item({"id": "new", "pk": "key 0"}),
        items.replace_item("0", {"id": "0", "pk": "key 0"}),
        items.patch_item("0", "key 0", [{"op": "set", "path": "/n", "value": 1}]),
        items.delete_item("0", "key 0"),
        items.execute_item_batch([("read", ("0",))], "key 0"),
        items.scripts.execute_stored_procedure("s", partition_key="key 0"),
        items.scripts.create_stored_procedure({"id": "t", "body": ""}),
    ):
        with fails_with(403, match="Insufficient permissions"):
            await refused


async def test_a_token_for_all_writes_items_and_scripts(granted: Any, container: ContainerProxy) -> None:
    items = await granted("All")

    await items.create_item({"id": "new", "pk": "key 0"})
    await items.execute_item_batch([("delete", ("0",)), ("delete", ("2",))], "key 0")
    await items.scripts.create_stored_procedure({"id": "s", "body": "function () { __.response.setBody(1); }"})

    assert await items.scripts.execute_stored_procedure("s", partition_key="key 0") == 1
    assert await ids(container) == ["1", "3", "new"]


async def test_a_token_does_not_work_for_another_container(
    emulator: CosmosEmulator, database: DatabaseProxy, user: UserProxy, container: ContainerProxy
) -> None:
    await database.create_container("other", PartitionKey("/pk"))
    permission = await user.create_permission({"id": "p", "permissionMode": "All", "resource": ITEMS})
    tokens = {"dbs/db/colls/other": permission.properties["_token"]}

    async with CosmosClient(emulator.endpoint, tokens) as client:
        other = client.get_database_client("db").get_container_client("other")
        with fails_with(403):
            await other.create_item({"id": "a", "pk": "p"})


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/offers"),
        ("GET", "/dbs"),
        ("POST", "/dbs"),
        ("DELETE", "/dbs/db"),
        ("GET", "/dbs/db/colls"),
        ("GET", "/dbs/db/users/ada/permissions"),
        ("GET", "/dbs/db/colls/missing"),
    ],
)
async def test_a_token_does_not_reach_beyond_its_container(
    raw: RawClient, user: UserProxy, container: ContainerProxy, verb: str, path: str
) -> None:
    permission = await user.create_permission({"id": "p", "permissionMode": "All", "resource": ITEMS})
    token = {"authorization": permission.properties["_token"]}

    assert (await raw.send(verb, path, kind="", headers=token)).status == 403
    assert (await raw.send("GET", "/", kind="", headers=token)).status == 200
    assert (await raw.send("GET", f"/{ITEMS}/pkranges", kind="", headers=token)).status == 200


async def test_a_token_for_a_partition_key_reaches_only_this_key(granted: Any) -> None:
    items = await granted("All", resourcePartitionKey=["key 1"])

    await items.create_item({"id": "new", "pk": "key 1"})
    assert await ids(items, partition_key="key 1") == ["1", "3", "new"]
    await items.execute_item_batch([("delete", ("new",))], "key 1")
    for refused in (
        items.create_item({"id": "new", "pk": "key 0"}),
        items.read_item("0", "key 0"),
        items.delete_item("0", "key 0"),
        ids(items, partition_key="key 0"),
        ids(items),
        items.execute_item_batch([("delete", ("0",))], "key 0"),
        items.scripts.create_stored_procedure({"id": "t", "body": ""}),
    ):
        with fails_with(403):
            await refused


async def test_a_token_for_an_item_reaches_only_this_item(granted: Any) -> None:
    items = await granted("All", ITEMS + "/docs/1")

    assert (await items.read_item("1", "key 1"))["n"] == 1
    await items.replace_item("1", {"id": "1", "pk": "key 1", "n": 5})
    with fails_with(403):
        await ids(items, partition_key="key 1")
    with fails_with(403):
        await items.create_item({"id": "new", "pk": "key 1"})
    await items.delete_item("1", "key 1")


async def test_a_hierarchical_prefix_reaches_all_keys_below_it(
    emulator: CosmosEmulator, database: DatabaseProxy, user: UserProxy
) -> None:
    levels = await database.create_container("levels", PartitionKey(["/a", "/b"], kind="MultiHash"))
    for number in range(4):
        await levels.create_item({"id": str(number), "a": f"t{number % 2}", "b": str(number)})
    link = "dbs/db/colls/levels"
    permission = await user.create_permission(
        {"id": "p", "permissionMode": "Read", "resource": link, "resourcePartitionKey": ["t1"]}
    )

    async with CosmosClient(emulator.endpoint, {link: permission.properties["_token"]}) as client:
        mine = client.get_database_client("db").get_container_client("levels")
        assert (await mine.read_item("3", ["t1", "3"]))["b"] == "3"
        with fails_with(403):
            await mine.read_item("2", ["t0", "2"])


@pytest.mark.parametrize(("expiry_s", "lifetime_s"), [(None, HOUR_S), (60, 60), (18000, 18000)])
async def test_a_token_expires(granted: Any, clock: Clock, expiry_s: int | None, lifetime_s: int) -> None:
    items = await granted("Read", expiry_s=expiry_s)

    clock.advance(lifetime_s - 1)
    await items.read_item("1", "key 1")
    clock.advance(2)
    with fails_with(403, match="expired"):
        await items.read_item("1", "key 1")


async def test_reading_a_permission_renews_its_token(
    emulator: CosmosEmulator, granted: Any, user: UserProxy, clock: Clock
) -> None:
    await granted("Read")
    clock.advance(HOUR_S + 1)

    (renewed,) = [one async for one in user.list_permissions()]

    async with CosmosClient(emulator.endpoint, {renewed["resource"]: renewed["_token"]}) as client:
        assert len(await ids(client.get_database_client("db").get_container_client("items"))) == 4


async def test_a_token_of_a_deleted_container_does_not_open_a_new_one_of_its_name(
    granted: Any, database: DatabaseProxy
) -> None:
    items = await granted("All")
    await database.delete_container("items")
    await database.create_container("items", PartitionKey("/pk"))

    with fails_with(403):
        await items.create_item({"id": "a", "pk": "p"})


@pytest.mark.parametrize(
    "token", ["type=resource&ver=1&sig=token;", "type=resource&ver=1.0&sig=YQ==;e30=;", "type=resource"]
)
async def test_a_forged_token_is_rejected(raw: RawClient, container: ContainerProxy, token: str) -> None:
    response = await raw.send("GET", f"/{CONTAINER}", kind="colls", link=CONTAINER, headers={"authorization": token})

    assert response.status == 401


async def test_a_resource_can_be_named_by_its_rid(
    emulator: CosmosEmulator, user: UserProxy, container: ContainerProxy
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    resource = str((await container.read())["_self"]).rstrip("/")
    permission = await user.create_permission({"id": "p", "permissionMode": "Read", "resource": resource})

    async with CosmosClient(emulator.endpoint, {ITEMS: permission.properties["_token"]}) as client:
        assert await ids(client.get_database_client("db").get_container_client("items")) == ["a"]


@pytest.mark.parametrize("link", ["dbs/Daten & 100%25/colls/C 100%41", "dbs/Daten%20%26%20100%2525/colls/C%20100%2541"])
async def test_a_name_can_have_special_characters(emulator: CosmosEmulator, client: CosmosClient, link: str) -> None:
    database = await client.create_database("Daten & 100%25")
    await database.create_container("C 100%41", PartitionKey("/pk"))
    user = await database.create_user({"id": "ada"})
    permission = await user.create_permission({"id": "p", "permissionMode": "All", "resource": link})
    tokens = {"dbs/Daten & 100%25/colls/C 100%41": permission.properties["_token"]}

    async with CosmosClient(emulator.endpoint, tokens) as restricted:
        container = restricted.get_database_client("Daten & 100%25").get_container_client("C 100%41")
        assert (await container.create_item({"id": "a", "pk": "p"}))["id"] == "a"
