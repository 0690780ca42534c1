"""Leases of the Cosmos DB trigger: documents, ownership, renewal, splits."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from functions_host import FunctionsHost
from tests.cosmos_apps import Account, calls, ids_of, trigger
from tests.running import app_module, eventually, running, settings, write_app


async def test_a_created_lease_container_is_partitioned_by_id_and_enables_ttl(account: Account, tmp_path: Path) -> None:
    source = trigger(lease_container_name="mine", lease_database_name="other", lease_container_prefix="p-%HOST%")
    async with running(write_app(tmp_path, source), {**account.environment, "HOST": "x"}) as host:
        await host.ready()
        made = account.items.client_connection
        container = await made.ReadContainer("dbs/other/colls/mine")

    assert container["partitionKey"]["paths"] == ["/id"]
    assert container["defaultTtl"] == -1


@pytest.mark.parametrize("partitions", [4])
async def test_leases_have_the_shape_of_the_change_feed_processor(account: Account, tmp_path: Path) -> None:
    rid = (await account.items.read())["_rid"]
    database_rid = (await account.database.read())["_rid"]
    source = trigger(start_from_beginning=True, lease_container_prefix="pre")
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        leases = await eventually(lambda: all_owned(account, 4))
        await eventually(account.has_checkpoint)
        leases = await account.lease_items()
        proxy = account.database.get_container_client("leases")
        others = {item["id"] async for item in proxy.read_all_items() if "LeaseToken" not in item}

    prefix = f"pre127.0.0.1_{database_rid}_{rid}"
    assert others == {f"{prefix}.info"}
    assert [lease["id"] for lease in leases] == [f"{prefix}..{lease['LeaseToken']}" for lease in leases]
    for lease in leases:
        assert set(lease["FeedRange"]["Range"]) == {"min", "max"}
        assert (lease["version"], lease["Mode"], lease["properties"]) == (0, "Incremental Feed", {})
        assert len(lease["timestamp"]) == len("2024-01-01T00:00:00.0000000Z")
    assert len({lease["Owner"] for lease in leases}) == 1
    assert [lease["ContinuationToken"][0] for lease in leases if lease["ContinuationToken"]] == ['"']


async def all_owned(account: Account, count: int) -> list[dict[str, Any]]:
    leases = await account.lease_items()
    return leases if len(leases) == count and all(lease["Owner"] for lease in leases) else []


async def test_a_missing_lease_container_is_logged_and_retried(
    account: Account, tmp_path: Path, http: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    source = trigger(create_lease_container_if_not_exists=False, start_from_beginning=True)
    source += "\n@app.route(route='hello')\ndef hello(req): return 'x'\n"
    await account.write("a")
    async with running(write_app(tmp_path, source), account.environment) as host:
        await eventually(lambda: "does not exist" in caplog.text)
        assert "'leases'" in caplog.text
        assert (await http.get(f"{host.url}/api/hello")).status == 200
        assert not host.is_listening("changed")
        await account.database.create_container("leases", PartitionKey("/id"))
        await eventually(calls)


async def test_a_trigger_with_an_invalid_key_is_reported_and_not_listening(
    account: Account, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    invalid = {"COSMOS": f"AccountEndpoint={account.endpoint};AccountKey=not base64;"}
    async with running(write_app(tmp_path, trigger()), invalid) as host:
        await eventually(lambda: "function 'changed' was unable to start" in caplog.text)

        assert not host.is_listening("changed")


async def test_a_lease_container_requires_key_id_or_partition_key(
    account: Account, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await account.database.create_container("wrong", PartitionKey("/other"))
    await account.database.create_container("keyed", PartitionKey("/partitionKey"))
    source = trigger("a", lease_container_name="wrong") + trigger(
        "b", lease_container_name="keyed", start_from_beginning=True
    )
    await account.write("x")
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: calls("b"))
        await eventually(lambda: "must be partitioned by /id" in caplog.text)
        leases = await account.lease_items("keyed")

    assert [lease["partitionKey"] for lease in leases] == [lease["id"] for lease in leases]


async def test_functions_with_different_prefixes_each_receive_every_change(account: Account, tmp_path: Path) -> None:
    source = trigger("one", start_from_beginning=True, lease_container_prefix="one")
    source += trigger("two", start_from_beginning=True, lease_container_prefix="two")
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a", "b")
        await eventually(lambda: ids_of(calls("one")) == ids_of(calls("two")) == ["a", "b"])


@pytest.mark.parametrize("partitions", [4])
async def test_functions_with_the_same_prefix_share_the_changes(account: Account, tmp_path: Path) -> None:
    source = trigger("one", start_from_beginning=True) + trigger("two", start_from_beginning=True)
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: owners_with(account, [2, 2]))
        rounds = iter(range(100))
        # Until a function notices that it lost a lease, both can receive a change.
        await eventually(lambda: is_split_cleanly(account, f"r{next(rounds)}-"))


async def is_split_cleanly(account: Account, prefix: str) -> bool:
    """Write items, wait for their delivery and return whether each reached one function and both got some."""
    wanted = {f"{prefix}{n}" for n in range(20)}
    await account.write(*wanted)

    def of_round(name: str) -> list[str]:
        return [item_id for item_id in ids_of(calls(name)) if item_id.startswith(prefix)]

    await eventually(lambda: {*of_round("one"), *of_round("two")} == wanted)
    one, two = of_round("one"), of_round("two")
    return bool(one and two) and len(one) + len(two) == len(wanted)


async def owners_with(account: Account, shares: list[int]) -> bool:
    owners = [lease["Owner"] for lease in await account.lease_items()]
    return sorted(owners.count(owner) for owner in set(owners) if owner) == shares


async def test_stop_releases_the_leases_without_a_checkpoint(account: Account, tmp_path: Path) -> None:
    app_dir = write_app(
        tmp_path, trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    )
    host = FunctionsHost(settings(app_dir, account.environment))
    await host.start()
    module = app_module()
    await account.write("a")
    await eventually(lambda: module.changed_calls)

    stop = asyncio.create_task(host.stop())
    await asyncio.wait([stop], timeout=0.2)
    assert not stop.done()
    module.gate.set()
    await stop

    assert [(lease["Owner"], lease["ContinuationToken"]) for lease in await account.lease_items()] == [(None, None)]
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(calls)
        assert (calls()[0][0], calls()[0][1]) == (["a"], 0)


async def test_a_lease_is_renewed_while_its_function_runs(account: Account, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        first = (await account.lease_items())[0]["timestamp"]
        await eventually(lambda: renewed_after(account, first))
        app_module().gate.set()


async def renewed_after(account: Account, timestamp: str) -> bool:
    return bool((await account.lease_items())[0]["timestamp"] > timestamp)


async def test_a_lost_lease_stops_processing_without_a_checkpoint(
    account: Account, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        lease = (await account.lease_items())[0]
        far = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z"
        stolen = {**lease, "Owner": "somebody", "timestamp": far}
        await account.database.get_container_client("leases").upsert_item(stolen)
        app_module().gate.set()
        await account.write("b")
        await eventually(lambda: "taken over by somebody" in caplog.text)
        delivered = ids_of(calls())
        after = (await account.lease_items())[0]

    assert delivered == ["a"]
    assert (after["Owner"], after["ContinuationToken"]) == ("somebody", None)


@pytest.mark.parametrize("partitions", [4])
async def test_a_split_replaces_the_lease_with_those_of_the_children(account: Account, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True))
    async with running(app_dir, account.environment):
        await eventually(lambda: all_owned(account, 4))
    leases = account.database.get_container_client("leases")
    children = await account.lease_items()
    for child in children:
        await leases.delete_item(child["id"], child["id"])
    parent = {**children[0], "id": children[0]["id"].rpartition("..")[0] + "..parent", "LeaseToken": "parent"}
    parent["FeedRange"] = {"Range": {"min": "", "max": "FF"}}
    await leases.create_item({name: value for name, value in parent.items() if not name.startswith("_")})

    wanted = {f"i{n}" for n in range(20)}
    await account.write(*wanted)
    async with running(app_dir, account.environment):
        await eventually(lambda: set(ids_of(calls())) == wanted)
        after = await all_owned(account, 4)

    assert [lease["LeaseToken"] for lease in after] == [lease["LeaseToken"] for lease in children]


@pytest.mark.parametrize("partitions", [1])
@pytest.mark.parametrize("start_from_beginning", [True, False])
async def test_a_split_loses_no_change(account: Account, tmp_path: Path, start_from_beginning: bool) -> None:
    written: list[str] = []

    async def write() -> None:
        while not is_over.is_set():
            await account.write(f"{len(written)}")
            written.append(f"{len(written)}")

    is_over = asyncio.Event()
    async with running(write_app(tmp_path, trigger(start_from_beginning=start_from_beginning)), account.environment):
        await eventually(lambda: all_owned(account, 1))
        writing = asyncio.create_task(write())
        for ru_s, partitions in ((20_000, 2), (40_000, 4)):
            await eventually(lambda: set(written) <= set(ids_of(calls())) and calls())
            await account.items.replace_throughput(ru_s)
            leases = await eventually(lambda count=partitions: all_owned(account, count))
        is_over.set()
        await writing
        await eventually(lambda: set(ids_of(calls())) == set(written))

    assert [lease["LeaseToken"] for lease in leases] == ["3", "4", "5", "6"]


async def test_a_lease_is_not_released_if_its_batch_outlasts_the_stop(account: Account, tmp_path: Path) -> None:
    """As in the real host, another host delivers the batch again when the lease expires."""
    source = trigger(start_from_beginning=True, body="await asyncio.Event().wait()")
    async with running(write_app(tmp_path, source), account.environment, grace_s=0.1):
        await account.write("a")
        await eventually(calls)

    assert await account.checkpoints() == [None]
    assert [lease["Owner"] is None for lease in await account.lease_items()] == [False]
