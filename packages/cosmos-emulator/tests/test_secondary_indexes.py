"""Global secondary indexes: containers that the emulator fills from another one."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import GlobalSecondaryIndexDefinition, PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.partition_key import NullPartitionKeyValue
from cosmos_emulator import WELL_KNOWN_KEY, CosmosEmulator, EmulatorSettings, Latency
from cosmos_emulator.store.secondary_index_progress import IndexProgress
from tests.emulator_client import connected
from tests.errors import fails_with
from tests.processes import emulator_process

pytestmark = pytest.mark.emulator_only("an account has global secondary indexes only if they are enabled")


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - the emulator has no event for it
            await asyncio.sleep(0.01)


ALL = "SELECT * FROM c"
STATUS = "globalSecondaryIndexDefinition"


@pytest.fixture
async def orders(database: DatabaseProxy) -> ContainerProxy:
    return await database.create_container("orders", PartitionKey("/customer"))


async def index_of(
    database: DatabaseProxy, definition: str = ALL, key: str = "/product", name: str = "by-product", **options: Any
) -> ContainerProxy:
    source = GlobalSecondaryIndexDefinition("orders", definition)
    return await database.create_container(name, PartitionKey(key), global_secondary_index=source, **options)


async def rows(container: ContainerProxy, query: str = ALL, **options: Any) -> list[Any]:
    return [row async for row in container.query_items(query, **options)]


async def shown(container: ContainerProxy, *names: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.get(name) for name in ("_id", *names)) for row in await rows(container))


def becomes(container: ContainerProxy, expected: list[tuple[Any, ...]], *names: str) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return await shown(container, *names) == expected

    return check


def order(number: int, product: str = "pen", customer: str = "ada", **more: Any) -> dict[str, Any]:
    return {"id": str(number), "customer": customer, "product": product, **more}


async def test_an_index_has_the_items_before_and_after_it(database: DatabaseProxy, orders: ContainerProxy) -> None:
    for number in range(250):
        await orders.create_item(order(number, f"p{number % 3}", f"c{number % 7}", total=number))
    index = await index_of(database, "SELECT c.id, c.product, c.total FROM c")
    await orders.create_item(order(250, "p0", "c0", total=250, note="not in the index"))

    await eventually(becomes(index, sorted((str(number), number) for number in range(251)), "total"))

    found = await rows(index, "SELECT * FROM c WHERE c.total = 250", partition_key="p0")
    assert {name: found[0][name] for name in found[0] if name[:1] != "_" or name == "_id"} == {
        "id": found[0]["id"],
        "_id": "250",
        "product": "p0",
        "total": 250,
    }
    assert found[0]["id"] != "250"


def own(row: dict[str, Any]) -> dict[str, Any]:
    """The row without the properties that the emulator sets."""
    return {name: row[name] for name in row if name == "_id" or (name != "id" and name[:1] != "_")}


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        # The example of the documentation; see the docstring of definitions/secondary_index.py.
        ("SELECT c.id, c.name.first, c.emailAddress FROM c", {"_id": "1", "first": "Ada", "emailAddress": "a@b.c"}),
        ("SELECT c.product FROM c", {"product": "pen"}),
        ("SELECT c.product, c.missing, c.name.none.deeper FROM c", {"product": "pen", "missing": None, "deeper": None}),
        ('SELECT c.product, c["name"]["first"] FROM c', {"product": "pen", "first": "Ada"}),
        ("SELECT c.product, c.name FROM c", {"product": "pen", "name": {"first": "Ada", "id": "n"}}),
        ("SELECT c.product, c.name.first.letter FROM c", {"product": "pen", "letter": None}),
    ],
)
async def test_an_item_has_the_properties_of_the_definition_at_its_top_level(
    database: DatabaseProxy, orders: ContainerProxy, definition: str, expected: dict[str, Any]
) -> None:
    await orders.create_item(order(1, name={"first": "Ada", "id": "n"}, emailAddress="a@b.c"))
    index = await index_of(database, definition)

    async def is_filled() -> bool:
        return [own(row) for row in await rows(index)] == [expected]

    await eventually(is_filled)


async def test_a_missing_property_is_null_also_in_the_partition_key(
    database: DatabaseProxy, orders: ContainerProxy
) -> None:
    index = await index_of(database, "SELECT c.id, c.product, c.ttl FROM c")
    await orders.create_item({"id": "1", "customer": "ada"})
    await eventually(becomes(index, [("1",)]))

    (row,) = await rows(index, partition_key=NullPartitionKeyValue)

    assert own(row) == {"_id": "1", "product": None}  # an item cannot have a ttl of null
    await orders.upsert_item(order(1))
    await eventually(becomes(index, [("1", "pen")], "product"))


@pytest.mark.parametrize("last", ["_id", "id"])
async def test_a_hierarchical_key_can_end_with_an_id(
    database: DatabaseProxy, orders: ContainerProxy, emulator: CosmosEmulator, last: str
) -> None:
    key = PartitionKey(["/product", f"/{last}"], kind="MultiHash")
    source = GlobalSecondaryIndexDefinition("orders", "SELECT c.id, c.product, c.total FROM c")
    index = await database.create_container("by-product", key, global_secondary_index=source)
    for number in range(20):
        await orders.create_item(order(number, f"p{number % 2}", f"c{number % 3}"))
    account = emulator._controls._gateway.account  # type: ignore[union-attr]
    await {one.resource.id: one for one in account.containers}["by-product"].split_to(4)
    for number in range(10):
        await orders.upsert_item(order(number, "p2", f"c{number % 3}"))
    await orders.delete_item("9", "c0")

    expected = [(str(number), "p2" if number < 9 else f"p{number % 2}") for number in [*range(9), *range(10, 20)]]
    await eventually(becomes(index, sorted(expected), "product"))
    found = await rows(index, partition_key=["p2"])  # a prefix
    assert sorted(row["_id"] for row in found) == [str(number) for number in range(9)]
    assert (await index.read_item(found[0]["id"], ["p2", found[0][last]]))["_id"] == found[0]["_id"]


async def test_an_index_follows_changes_moves_and_deletions(database: DatabaseProxy, orders: ContainerProxy) -> None:
    index = await index_of(database)
    await orders.create_item(order(1))
    await orders.create_item(order(2))
    await orders.create_item(order(1, customer="bob"))
    await eventually(becomes(index, [("1", "ada"), ("1", "bob"), ("2", "ada")], "customer"))

    await orders.upsert_item(order(1, "book"))
    await orders.patch_item("2", "ada", [{"op": "set", "path": "/total", "value": 5}])
    await orders.delete_item("1", "bob")

    await eventually(becomes(index, [("1", "book", None), ("2", "pen", 5)], "product", "total"))
    assert await rows(index, "SELECT VALUE c._id FROM c", partition_key="pen") == ["2"]
    await orders.delete_item("1", "ada")
    await orders.create_item(order(1, "book"))  # another item of the same id
    await eventually(becomes(index, [("1", "book"), ("2", "pen")], "product"))


async def test_expired_items_leave_the_index(database: DatabaseProxy, emulator: CosmosEmulator, clock: Any) -> None:
    orders = await database.create_container("orders", PartitionKey("/customer"), default_ttl=60)
    index = await index_of(database)
    await orders.create_item(order(1))
    await orders.create_item(order(2, ttl=-1))
    await eventually(becomes(index, [("1",), ("2",)]))

    clock.advance(61)
    background = emulator._controls._gateway.account.background  # type: ignore[union-attr]
    background.purge()

    await eventually(becomes(index, [("2",)]))


async def test_an_item_without_a_valid_key_is_not_lost(database: DatabaseProxy, orders: ContainerProxy) -> None:
    index = await index_of(database)
    await orders.create_item(order(1, product=["a", "list"]))  # type: ignore[arg-type]
    await orders.create_item({"id": "2", "customer": "ada"})

    await eventually(becomes(index, [("2",)]))
    await orders.upsert_item(order(1))
    await eventually(becomes(index, [("1",), ("2",)]))


async def test_clients_cannot_write_to_an_index(database: DatabaseProxy, orders: ContainerProxy) -> None:
    index = await index_of(database)
    await orders.create_item(order(1))
    await eventually(becomes(index, [("1",)]))
    (item_id,) = await rows(index, "SELECT VALUE c.id FROM c")

    with fails_with(403, match="read-only"):
        await index.create_item({"id": "x", "product": "pen"})
    with fails_with(403, match="read-only"):
        await index.delete_item(item_id, "pen")
    with fails_with(403, match="read-only"):
        await index.patch_item(item_id, "pen", [{"op": "set", "path": "/a", "value": 1}])
    assert (await index.read_item(item_id, "pen"))["_id"] == "1"


@pytest.mark.parametrize(
    "definition",
    [
        "SELECT c FROM c",
        "SELECT c.a AS b FROM c",
        "SELECT UPPER(c.a) FROM c",
        "SELECT VALUE c.a FROM c",
        "SELECT DISTINCT c.a FROM c",
        "SELECT TOP 1 c.a FROM c",
        "SELECT c.a FROM c WHERE c.b = 1",
        "SELECT c.a FROM c ORDER BY c.a",
        "SELECT c.a FROM c GROUP BY c.a",
        "SELECT c.a FROM c JOIN t IN c.tags",
        "SELECT * FROM c.a",
        "SELECT c[0] FROM c",
        "SELECT c.a[0].b FROM c",
        "SELECT d.a FROM c",
        "SELECT",
    ],
)
async def test_a_definition_has_only_properties(
    database: DatabaseProxy, orders: ContainerProxy, definition: str
) -> None:
    with fails_with(400):
        await index_of(database, definition)


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("SELECT c.a, c.b.a FROM c", "a"),
        ("SELECT c.a, c.a FROM c", "a"),
        ("SELECT c.a.id FROM c", "id"),
        ("SELECT c.id, c._id FROM c", "_id"),
    ],
)
async def test_two_properties_of_an_index_cannot_have_one_name(
    database: DatabaseProxy, orders: ContainerProxy, definition: str, name: str
) -> None:
    with fails_with(400, match=f"the name '{name}' in the index"):
        await index_of(database, definition)


async def test_an_index_needs_a_source_and_autoscale(database: DatabaseProxy, orders: ContainerProxy) -> None:
    with fails_with(400, match="autoscale"):
        await index_of(database, offer_throughput=400)
    with fails_with(404):  # azure-cosmos reads the source
        source = GlobalSecondaryIndexDefinition("carts", ALL)
        await database.create_container("x", PartitionKey("/a"), global_secondary_index=source)
    indexes = [await index_of(database, name=f"index-{number}") for number in range(5)]
    with fails_with(400, match="at most 5"):
        await index_of(database, name="index-5")
    with fails_with(400, match="cannot be another index"):
        source = GlobalSecondaryIndexDefinition("index-0", ALL)
        await database.create_container("x", PartitionKey("/a"), global_secondary_index=source)

    offer = await indexes[0].get_throughput()
    assert offer.auto_scale_max_throughput == 1000
    with fails_with(400, match="Delete the global secondary indexes"):
        await database.delete_container("orders")
    for index in indexes:
        await database.delete_container(index)
    await database.delete_container("orders")


async def test_the_status_shows_the_build_and_the_definition_is_fixed(
    database: DatabaseProxy, orders: ContainerProxy, emulator: CosmosEmulator
) -> None:
    emulator.settings.replica_lag = Latency(0.2)
    await orders.create_item(order(1))
    index = await index_of(database, offer_throughput=ThroughputProperties(auto_scale_max_throughput=2000))
    body = await index.read()

    assert body[STATUS] == {
        "sourceCollectionId": "orders",
        "sourceCollectionRid": (await orders.read())["_rid"],
        "definition": ALL,
        "status": "InitialBuildAfterCreate",
    }

    async def is_active() -> bool:
        return bool((await index.read())[STATUS]["status"] == "Active")

    await eventually(is_active)
    emulator.settings.replica_lag = None
    assert await shown(index) == [("1",)]
    other = GlobalSecondaryIndexDefinition("orders", "SELECT c.product FROM c")
    with fails_with(400, match="cannot be changed"):
        await database.replace_container(index, PartitionKey("/product"), global_secondary_index=other)


async def test_splits_of_both_sides_lose_nothing(
    database: DatabaseProxy, orders: ContainerProxy, emulator: CosmosEmulator
) -> None:
    index = await index_of(database)

    async def write(numbers: range) -> None:
        for number in numbers:
            await orders.create_item(order(number, f"p{number % 11}", f"c{number % 13}"))

    account = emulator._controls._gateway.account  # type: ignore[union-attr]
    containers = {one.resource.id: one for one in account.containers}
    await asyncio.gather(
        write(range(100)),
        containers["orders"].split_to(7),
        containers["by-product"].split_to(6),
        write(range(100, 200)),
    )
    for number in range(0, 200, 2):
        await orders.delete_item(str(number), f"c{number % 13}")

    await eventually(becomes(index, sorted((str(number),) for number in range(1, 200, 2))))


async def test_snapshots_files_and_restarts_keep_the_index(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path / "data", partitions=2)
    async with CosmosEmulator(settings) as emulator, connected(emulator) as client:
        database = await client.create_database("db")
        orders = await database.create_container("orders", PartitionKey("/customer"))
        index = await index_of(database)
        await orders.create_item(order(1))
        await eventually(becomes(index, [("1",)]))
        await emulator.controls.snapshot("one")
        await orders.delete_item("1", "ada")
        await orders.create_item(order(2))
        await eventually(becomes(index, [("2",)]))
        await emulator.controls.restore("one")
        await eventually(becomes(index, [("1",)]))
        await orders.create_item(order(3))
        await eventually(becomes(index, [("1",), ("3",)]))
        await emulator.controls.export_to(tmp_path / "file")
        await orders.delete_item("1", "ada")  # not yet in the index
    async with CosmosEmulator(replace(settings)) as emulator, connected(emulator) as client:
        database = client.get_database_client("db")
        index = database.get_container_client("by-product")
        await eventually(becomes(index, [("3",)]))
        await emulator.controls.import_from(tmp_path / "file")
        await eventually(becomes(index, [("1",), ("3",)]))
        await database.get_container_client("orders").delete_item("3", "ada")
        await eventually(becomes(index, [("1",)]))


async def test_changes_are_applied_again_if_their_progress_was_not_stored(
    database: DatabaseProxy, orders: ContainerProxy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    index = await index_of(database)
    for number in range(3):
        await orders.create_item(order(number))
    await eventually(becomes(index, [(str(number), "pen") for number in range(3)], "product"))
    commit, failures = IndexProgress.commit, iter([True])

    def fail(progress: IndexProgress, *changes: Any) -> None:
        if next(failures, False):
            raise sqlite3.OperationalError("the disk is full")
        commit(progress, *changes)

    monkeypatch.setattr(IndexProgress, "commit", fail)
    await orders.upsert_item(order(0, "book"))
    await orders.delete_item("1", "ada")
    await orders.upsert_item(order(2, "book"))
    await orders.upsert_item(order(2, "pen"))

    await eventually(becomes(index, [("0", "book"), ("2", "pen")], "product"))
    assert not next(failures, False)
    assert "could not be updated" in caplog.text


async def test_items_that_move_or_go_before_a_failed_page_is_applied_again_leave_no_copy(
    database: DatabaseProxy, orders: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change feed has only the last version, so the index has to remember where it has put the one before."""
    index = await index_of(database)
    await orders.create_item(order(1))
    await eventually(becomes(index, [("1", "pen")], "product"))
    with monkeypatch.context() as patch:

        def fail(_: IndexProgress, *_changes: Any) -> None:
            raise sqlite3.OperationalError("the disk is full")

        patch.setattr(IndexProgress, "commit", fail)
        await orders.upsert_item(order(1, "book"))
        await orders.create_item(order(2, "ink"))
        await eventually(becomes(index, [("1", "book"), ("2", "ink")], "product"))
        await orders.upsert_item(order(1, "pen"))
        await orders.delete_item("2", "ada")

    await eventually(becomes(index, [("1", "pen")], "product"))


@pytest.mark.nightly
async def test_kills_lose_nothing_of_an_index(tmp_path: Path) -> None:
    """Each process is killed while the index is being built or follows, after writes that move and delete items."""
    expected: dict[str, str] = {}
    for start in range(3):
        async with emulator_process("--data-dir", str(tmp_path)) as (process, endpoint):  # noqa: SIM117 - two things
            async with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
                database = await client.create_database_if_not_exists("db")
                orders = await database.create_container_if_not_exists("orders", PartitionKey("/customer"))
                if not start:
                    for number in range(300):
                        expected[str(number)] = f"p{number % 5}"
                        await orders.create_item(order(number, expected[str(number)]))
                    await index_of(database)
                for number in range(start, 300, 7):
                    if str(number) in expected:
                        expected[str(number)] = f"q{start}"
                        await orders.upsert_item(order(number, f"q{start}"))
                for number in range(100 + start, 300, 11):
                    if expected.pop(str(number), None):
                        await orders.delete_item(str(number), "ada")
                process.kill()
                await process.wait()

    async with emulator_process("--data-dir", str(tmp_path)) as (_, endpoint):  # noqa: SIM117 - two things
        async with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
            index = client.get_database_client("db").get_container_client("by-product")
            await eventually(becomes(index, sorted(expected.items()), "product"))
