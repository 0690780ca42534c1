"""The change feed of all versions and deletes."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.operations import list_changes
from tests.clock import Clock
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

MODE = "AllVersionsAndDeletes"
POLICY = {"retentionDuration": 10}
Feed = Callable[..., Any]


@pytest.fixture
def partitions() -> int:
    """One partition, because the SDK's token is valid only after it has read every range."""
    return 1


@pytest.fixture
def settings(clock: Clock, partitions: int) -> EmulatorSettings:
    return EmulatorSettings(clock=clock, partitions=partitions, purge_interval_s=0.01)


@pytest.fixture
async def logged(database: DatabaseProxy) -> ContainerProxy:
    return await database.create_container("items", PartitionKey("/pk"), change_feed_policy=POLICY, default_ttl=-1)


async def read(container: ContainerProxy, continuation: str | None = None, **options: Any) -> tuple[list[Any], str]:
    """Read all changes after a continuation, by default none; return them with the next continuation."""
    start = {} if continuation is None else {"continuation": continuation}
    found = [change async for change in container.query_items_change_feed(mode=MODE, **start, **options)]
    headers: Any = container.client_connection.last_response_headers
    return found, headers["etag"]


async def until_read(container: ContainerProxy, continuation: str, count: int) -> list[Any]:
    async with asyncio.timeout(60):
        while True:
            found, _ = await read(container, continuation)
            if len(found) >= count:
                return found
            await asyncio.sleep(0.01)


async def test_the_feed_has_every_version_and_each_delete_in_order(logged: ContainerProxy, clock: Clock) -> None:
    before, start = await read(logged)
    created = await logged.create_item({"id": "a", "pk": "p", "n": 1})
    replaced = await logged.replace_item("a", {"id": "a", "pk": "p", "n": 2})
    patched = await logged.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 1}])
    clock.advance(3)
    await logged.delete_item("a", "p")
    await logged.upsert_item({"id": "a", "pk": "p", "n": 4})

    changes, end = await read(logged, start)

    metadata = [change["metadata"] for change in changes]
    assert before == []
    assert [one["operationType"] for one in metadata] == ["create", "replace", "replace", "delete", "create"]
    assert [change["current"].get("n") for change in changes] == [1, 2, 3, None, 4]
    assert changes[0]["current"] == created
    assert changes[1]["current"] == replaced
    assert changes[3]["current"] == {}
    assert changes[3]["previous"] == patched
    assert ["previous" in change for change in changes] == [False, False, False, True, False]
    lsns = [one["lsn"] for one in metadata]
    assert lsns == sorted(set(lsns))
    assert [one["previousImageLSN"] for one in metadata] == [0, *lsns[:3], 0]
    assert [one["crts"] for one in metadata[2:4]] == [patched["_ts"], patched["_ts"] + 3]
    delete = metadata[3]
    assert (delete["id"], delete["partitionKey"], delete["timeToLiveExpired"]) == ("a", {"pk": "p"}, False)
    assert (await read(logged, end))[0] == []


async def test_the_feed_starts_now(logged: ContainerProxy) -> None:
    await logged.create_item({"id": "before", "pk": "p"})

    changes, continuation = await read(logged)
    await logged.delete_item("before", "p")
    later, _ = await read(logged, continuation)

    assert changes == []
    assert [change["metadata"]["operationType"] for change in later] == ["delete"]


async def test_an_expired_item_is_deleted_in_the_feed_when_it_is_purged(logged: ContainerProxy, clock: Clock) -> None:
    _, start = await read(logged)
    await logged.create_item({"id": "a", "pk": "p", "ttl": 5})
    clock.advance(6)

    changes = await until_read(logged, start, 2)

    delete = changes[1]["metadata"]
    assert (delete["operationType"], delete["timeToLiveExpired"], delete["id"]) == ("delete", True, "a")
    assert delete["lsn"] > changes[0]["metadata"]["lsn"]
    assert "previous" not in changes[1]


async def test_an_expired_item_is_deleted_before_its_successor_is_created(clock: Clock) -> None:
    async with emulator_client(EmulatorSettings(clock=clock, purge_interval_s=3600)) as client:
        database = await client.create_database("db")
        container = await database.create_container("c", PartitionKey("/pk"), change_feed_policy=POLICY, default_ttl=5)
        _, start = await read(container)
        await container.create_item({"id": "a", "pk": "p"})
        clock.advance(6)
        await container.create_item({"id": "a", "pk": "p"})

        changes, _ = await read(container, start)

    assert [change["metadata"]["operationType"] for change in changes] == ["create", "delete", "create"]
    assert changes[1]["metadata"]["timeToLiveExpired"] is True


async def test_batches_and_scripts_are_in_the_feed_only_if_they_succeed(logged: ContainerProxy) -> None:
    _, start = await read(logged)
    body = """function (fails) {
        __.createDocument(__.getSelfLink(), {id: 's', pk: 'p'});
        if (fails) throw new Error('rolled back');
    }"""
    await logged.scripts.create_stored_procedure({"id": "s", "body": body})
    await logged.execute_item_batch([("create", ({"id": "b", "pk": "p"},)), ("delete", ("b",))], "p")
    with fails_with(400, match="rolled back"):
        await logged.scripts.execute_stored_procedure("s", partition_key="p", parameters=[True])
    await logged.scripts.execute_stored_procedure("s", partition_key="p", parameters=[False])

    changes, _ = await read(logged, start)

    assert [(change["metadata"]["operationType"], change["current"].get("id")) for change in changes] == [
        ("create", "b"),
        ("delete", None),
        ("create", "s"),
    ]
    assert changes[0]["metadata"]["lsn"] == changes[1]["metadata"]["lsn"]


async def test_the_feed_of_one_partition_key_has_only_its_changes(logged: ContainerProxy) -> None:
    found = [one async for one in logged.query_items_change_feed(mode=MODE, partition_key="b")]
    headers: Any = logged.client_connection.last_response_headers
    for name in ("a", "b"):
        await logged.create_item({"id": name, "pk": name})

    changes, _ = await read(logged, headers["etag"])

    assert found == []
    assert [change["current"]["id"] for change in changes] == ["b"]


async def test_both_modes_read_the_same_container(logged: ContainerProxy) -> None:
    await logged.create_item({"id": "a", "pk": "p"})
    await logged.delete_item("a", "p")
    await logged.create_item({"id": "b", "pk": "p"})

    latest = [item["id"] async for item in logged.query_items_change_feed(start_time="Beginning")]

    assert latest == ["b"]


async def test_deleting_a_partition_key_is_in_the_feed(logged: ContainerProxy) -> None:
    _, start = await read(logged)
    for number in range(3):
        await logged.create_item({"id": str(number), "pk": "p"})

    await logged.delete_all_items_by_partition_key("p")

    changes, _ = await read(logged, start)
    assert [change["metadata"]["operationType"] for change in changes] == ["create"] * 3 + ["delete"] * 3


async def test_changes_are_kept_for_the_retention_time(logged: ContainerProxy, clock: Clock) -> None:
    _, start = await read(logged)
    await logged.create_item({"id": "old", "pk": "p"})
    _, later = await read(logged)
    clock.advance(9 * 60)
    await logged.create_item({"id": "new", "pk": "p"})
    assert [change["current"]["id"] for change in (await read(logged, start))[0]] == ["old", "new"]

    clock.advance(2 * 60)

    with fails_with(400, match="You must read the change feed from within the retention period"):
        async with asyncio.timeout(60):
            while True:
                await read(logged, start)
    assert [change["current"]["id"] for change in (await read(logged, later))[0]] == ["new"]


async def feed(raw: RawClient, **headers: str) -> RawResponse:
    sent = {"A-IM": "Full-Fidelity Feed", "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=sent)


async def test_the_feed_cannot_start_in_the_past(raw: RawClient, logged: ContainerProxy) -> None:
    for start in ({}, {"If_Modified_Since": "Thu, 01 Jan 2026 00:00:00 GMT"}):
        response = await feed(raw, **start)
        assert response.status == 400
        assert "You must read the change feed from within the retention period." in response.json["message"]
        assert "now" in response.json["message"]
    assert (await feed(raw, If_None_Match="*")).status == 304
    assert (await feed(raw, If_None_Match='"1"')).status == 400  # before the container was created


async def test_a_page_never_splits_a_transaction(raw: RawClient, logged: ContainerProxy) -> None:
    start = (await feed(raw, If_None_Match="*")).headers["etag"]
    await logged.create_item({"id": "alone", "pk": "p"})
    await logged.execute_item_batch([("create", ({"id": str(n), "pk": "p"},)) for n in range(3)], "p")

    first = await feed(raw, If_None_Match=start, x_ms_max_item_count="1")
    second = await feed(raw, If_None_Match=first.headers["etag"], x_ms_max_item_count="1")
    end = await feed(raw, If_None_Match=second.headers["etag"])

    assert [[one["current"]["id"] for one in page.json["Documents"]] for page in (first, second)] == [
        ["alone"],
        ["0", "1", "2"],
    ]
    assert (end.status, end.headers["etag"]) == (304, second.headers["etag"])


async def test_a_page_does_not_load_the_whole_log(raw: RawClient, logged: ContainerProxy) -> None:
    start = (await feed(raw, If_None_Match="*")).headers["etag"]
    for number in range(40):
        await logged.create_item({"id": str(number), "pk": "p", "text": "x" * 1_000_000})

    tracemalloc.start()
    try:
        page = await feed(raw, If_None_Match=start, x_ms_max_item_count="-1")
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 0 < page.json["_count"] <= 16
    assert most_bytes < 30_000_000


async def test_changes_removed_from_the_log_during_a_page_are_not_skipped(
    logged: ContainerProxy, raw: RawClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await logged.replace_throughput(20_000)
    of_second = {"x_ms_documentdb_partitionkeyrangeid": "2"}
    start, start_of_second = [
        (await feed(raw, If_None_Match="*", **place)).headers["etag"] for place in ({}, of_second)
    ]
    for number in range(20):
        await logged.create_item({"id": str(number), "pk": str(number)})

    async def trim_second(_: float) -> None:
        monkeypatch.undo()
        clock.advance(11 * 60)
        async with asyncio.timeout(20):
            while (await feed(raw, If_None_Match=start_of_second, **of_second)).status != 400:
                pass

    monkeypatch.setattr(list_changes, "asyncio", SimpleNamespace(sleep=trim_second))
    page = await feed(raw, If_None_Match=start)

    assert page.status == 400
    assert "retention" in page.text


async def test_a_container_without_a_retention_time_has_no_such_feed(
    database: DatabaseProxy, container: ContainerProxy
) -> None:
    disabled = await database.create_container(
        "disabled", PartitionKey("/pk"), change_feed_policy={"retentionDuration": 0}
    )

    for one in (container, disabled):
        with fails_with(400, match="All Versions and Deletes.* must be enabled"):
            await read(one)


async def test_the_policy_is_returned_and_applies_from_its_change(raw: RawClient, container: ContainerProxy) -> None:
    body = {**await container.read(), "changeFeedPolicy": POLICY}
    await container.create_item({"id": "before", "pk": "p"})

    response = await raw.send("PUT", f"/{CONTAINER}", kind="colls", link=CONTAINER, body=body)
    _, start = await read(container)
    await container.create_item({"id": "after", "pk": "p"})

    assert response.json["changeFeedPolicy"] == POLICY
    assert [change["current"]["id"] for change in (await read(container, start))[0]] == ["after"]
    await raw.send("PUT", f"/{CONTAINER}", kind="colls", link=CONTAINER, body={**body, "changeFeedPolicy": None})
    with fails_with(400, match="must be enabled"):
        await read(container, start)
    await container.create_item({"id": "unlogged", "pk": "p"})
    await raw.send("PUT", f"/{CONTAINER}", kind="colls", link=CONTAINER, body=body)
    with fails_with(400, match="You must read the change feed from within the retention period"):
        await read(container, start)


@pytest.mark.parametrize("policy", [[], {}, {"retentionDuration": -1}, {"retentionDuration": "10"}, {"days": 1}])
async def test_an_invalid_policy_is_rejected(database: DatabaseProxy, policy: Any) -> None:
    with fails_with(400, match="retentionDuration"):
        await database.create_container("c", PartitionKey("/pk"), change_feed_policy=policy)


async def test_the_log_survives_a_restart(settings: EmulatorSettings, tmp_path: Path) -> None:
    durable = replace(settings, data_dir=tmp_path)
    async with emulator_client(durable) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"), change_feed_policy=POLICY)
        _, start = await read(container)
        await container.create_item({"id": "a", "pk": "p"})
        await container.delete_item("a", "p")

    async with emulator_client(durable) as client:
        container = client.get_database_client("db").get_container_client("items")
        changes, _ = await read(container, start)

    assert [change["metadata"]["operationType"] for change in changes] == ["create", "delete"]


async def test_the_feed_of_a_hierarchical_key_names_each_level(database: DatabaseProxy) -> None:
    key = PartitionKey(["/a", "/b"], kind="MultiHash")
    container = await database.create_container("levels", key, change_feed_policy=POLICY)
    _, start = await read(container)
    await container.create_item({"id": "x", "a": "t", "b": 1})
    await container.delete_item("x", ["t", 1])

    changes, _ = await read(container, start)

    assert changes[1]["metadata"]["partitionKey"] == {"a": "t", "b": 1}


async def test_the_feed_continues_after_a_split(logged: ContainerProxy) -> None:
    async def write(step: int) -> None:
        for number in range(6):
            await logged.upsert_item({"id": str(number), "pk": f"p{number}", "n": step})
        await logged.delete_item("0", "p0")

    _, start = await read(logged)
    await write(1)
    await logged.replace_throughput(20_000)
    await write(2)

    changes = [
        (change["metadata"]["operationType"], change["current"].get("n"))
        async for change in logged.query_items_change_feed(mode=MODE, continuation=start)
    ]

    expected = [("create", 1)] * 6 + [("delete", None)] * 2 + [("create", 2)] + [("replace", 2)] * 5
    assert sorted(changes, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("days", [7, 30])
async def test_continuous_backup_enables_the_feed_of_every_container(
    settings: EmulatorSettings, clock: Clock, days: Literal[7, 30]
) -> None:
    async with emulator_client(replace(settings, continuous_backup_days=days)) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        _, start = await read(container)
        await container.create_item({"id": "a", "pk": "p"})
        clock.advance(days * 24 * 3600 - 60)
        await container.delete_item("a", "p")

        changes, _ = await read(container, start)
        clock.advance(120)
        with fails_with(400, match="You must read the change feed from within the retention period"):
            await until_read(container, start, 3)

    assert [change["metadata"]["operationType"] for change in changes] == ["create", "delete"]


async def test_a_container_has_its_own_retention_time_beside_continuous_backup(
    settings: EmulatorSettings, clock: Clock
) -> None:
    async with emulator_client(replace(settings, continuous_backup_days=7)) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"), change_feed_policy=POLICY)
        _, start = await read(container)
        await container.create_item({"id": "a", "pk": "p"})
        clock.advance(11 * 60)

        with fails_with(400, match="You must read the change feed from within the retention period"):
            await until_read(container, start, 2)


async def test_the_feed_of_a_container_from_before_continuous_backup_starts_with_it(
    settings: EmulatorSettings, tmp_path: Path
) -> None:
    durable = replace(settings, data_dir=tmp_path)
    async with emulator_client(durable) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "before", "pk": "p"})

    async with emulator_client(replace(durable, continuous_backup_days=30)) as client:
        container = client.get_database_client("db").get_container_client("items")
        _, start = await read(container)
        await container.create_item({"id": "after", "pk": "p"})
        changes, _ = await read(container, start)

    assert [change["current"]["id"] for change in changes] == ["after"]


async def test_the_feed_with_continuous_backup_continues_after_a_split(settings: EmulatorSettings) -> None:
    async with emulator_client(replace(settings, continuous_backup_days=7)) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})
        await container.replace_throughput(12_000)
        _, start = await read(container)
        await container.delete_item("a", "p")
        changes, _ = await read(container, start)

    assert [change["metadata"]["operationType"] for change in changes] == ["delete"]
