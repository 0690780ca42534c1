"""The change feed, without an SDK and in every mode of the Python SDK."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.clock import Clock
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

PATH = f"/{CONTAINER}/docs"


@pytest.fixture
async def feed(raw: RawClient, container: ContainerProxy) -> Any:
    """A function that requests the feed of `p1`'s physical partition without an SDK."""

    async def read(**headers: str) -> RawResponse:
        sent = {"A-IM": "Incremental feed", "x-ms-documentdb-partitionkeyrangeid": "0"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await raw.send("GET", PATH, kind="docs", link=CONTAINER, headers=sent)

    return read


def ids(response: RawResponse) -> list[str]:
    return [item["id"] for item in response.json["Documents"]] if response.text else []


async def changes(container: ContainerProxy, **options: Any) -> list[str]:
    return [item["id"] async for item in container.query_items_change_feed(**options)]


async def test_the_feed_returns_the_latest_version_of_each_item_in_lsn_order(
    feed: Any, container: ContainerProxy
) -> None:
    for name in ("a", "b", "c", "d"):
        await container.create_item({"id": name, "pk": "p1", "n": 1})
    await container.upsert_item({"id": "b", "pk": "p1", "n": 2})
    await container.delete_item("c", "p1")

    response = await feed()

    assert ids(response) == ["a", "d", "b"]
    lsns = [item["_lsn"] for item in response.json["Documents"]]
    assert lsns == sorted(lsns)
    assert response.json["Documents"][2]["n"] == 2
    assert response.headers["etag"] == f'"{lsns[-1]}"'


async def test_starting_now_returns_only_later_writes_and_304_has_an_etag(feed: Any, container: ContainerProxy) -> None:
    await container.create_item({"id": "before", "pk": "p1"})

    idle = await feed(If_None_Match="*")
    await container.create_item({"id": "after", "pk": "p1"})
    later = await feed(If_None_Match=idle.headers["etag"])
    end = await feed(If_None_Match=later.headers["etag"].strip('"'))

    assert (idle.status, idle.text, idle.headers["x-ms-item-count"]) == (304, "", "0")
    assert ids(later) == ["after"]
    assert (end.status, end.headers["etag"]) == (304, later.headers["etag"])


async def test_a_start_time_is_exclusive_and_yields_to_an_etag(
    feed: Any, container: ContainerProxy, clock: Clock
) -> None:
    await container.create_item({"id": "old", "pk": "p1"})
    moment = datetime.fromtimestamp(clock(), UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    clock.advance(1)
    await container.create_item({"id": "new", "pk": "p1"})
    future = datetime.fromtimestamp(clock() + 100, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")

    assert ids(await feed(If_Modified_Since=moment)) == ["new"]
    assert (await feed(If_Modified_Since=future)).status == 304
    assert ids(await feed(If_Modified_Since=future, If_None_Match="0")) == ["old", "new"]
    assert (await feed(If_Modified_Since="tomorrow")).status == 400


async def test_an_item_updated_between_pages_moves_to_the_end(feed: Any, container: ContainerProxy) -> None:
    for name in ("a", "b", "c"):
        await container.create_item({"id": name, "pk": "p1"})

    first = await feed(x_ms_max_item_count="1")
    await container.upsert_item({"id": "b", "pk": "p1"})
    rest = await feed(If_None_Match=first.headers["etag"])

    assert (ids(first), ids(rest)) == (["a"], ["c", "b"])


async def test_a_page_never_splits_a_transaction(feed: Any, container: ContainerProxy) -> None:
    await container.create_item({"id": "alone", "pk": "p1"})
    await container.execute_item_batch([("create", ({"id": str(n), "pk": "p1"},)) for n in range(5)], "p1")

    first = await feed(x_ms_max_item_count="1")
    second = await feed(x_ms_max_item_count="1", If_None_Match=first.headers["etag"])

    assert (ids(first), ids(second)) == (["alone"], ["0", "1", "2", "3", "4"])
    assert len({item["_lsn"] for item in second.json["Documents"]}) == 1


@pytest.mark.parametrize(
    ("mode", "status"), [("incremental FEED", 200), ("full-fidelity FEED", 400), ("Latest Feed", 400)]
)
async def test_the_mode_is_checked_without_regard_to_case(
    feed: Any, container: ContainerProxy, mode: str, status: int
) -> None:
    await container.create_item({"id": "a", "pk": "p1"})

    assert (await feed(**{"A-IM": mode})).status == status


@pytest.mark.parametrize("etag", ["x", '"-1"', "9" * 30])
async def test_an_invalid_etag_is_rejected(feed: Any, etag: str) -> None:
    assert (await feed(If_None_Match=etag)).status == 400


async def test_the_sdk_reads_all_partitions_from_the_beginning(container: ContainerProxy) -> None:
    for number in range(20):
        await container.create_item({"id": str(number), "pk": f"key {number}"})

    assert sorted(map(int, await changes(container, start_time="Beginning"))) == list(range(20))
    assert await changes(container) == []  # the default start is now


async def test_the_sdk_resumes_each_page_from_its_continuation_token(
    database: DatabaseProxy, emulator: CosmosEmulator
) -> None:
    # The SDK cannot parse its own token until it has read every range, so use one partition.
    emulator.settings.partitions = 1
    container = await database.create_container("one", PartitionKey("/pk"))
    for number in range(9):
        await container.create_item({"id": str(number), "pk": f"key {number}"})
    seen: list[str] = []
    token: str | None = None

    for _ in range(9):
        start = {"continuation": token} if token else {"start_time": "Beginning"}
        pages = container.query_items_change_feed(max_item_count=1, **start).by_page()
        seen += [item["id"] async for item in await anext(pages)]
        token = pages.continuation_token
    await container.create_item({"id": "later", "pk": "key 3"})

    assert sorted(seen) == [str(number) for number in range(9)]
    assert await changes(container, continuation=token) == ["later"]


async def test_the_sdk_reads_one_partition_key_or_one_feed_range(container: ContainerProxy) -> None:
    for number in range(12):
        await container.create_item({"id": str(number), "pk": f"key {number % 6}"})
    ranges = [feed_range async for feed_range in container.read_feed_ranges()]

    by_key = await changes(container, start_time="Beginning", partition_key="key 2")
    by_range = [await changes(container, start_time="Beginning", feed_range=feed_range) for feed_range in ranges]

    assert by_key == ["2", "8"]
    assert sorted(int(item_id) for page in by_range for item_id in page) == list(range(12))


async def test_the_sdk_reads_from_a_start_time(container: ContainerProxy, clock: Clock) -> None:
    await container.create_item({"id": "old", "pk": "p"})
    moment = datetime.fromtimestamp(clock(), UTC)
    clock.advance(2)
    await container.create_item({"id": "new", "pk": "p"})

    assert await changes(container, start_time=moment) == ["new"]


async def test_the_feed_of_a_whole_container_resumes_from_one_number(raw: RawClient, container: ContainerProxy) -> None:
    for number in range(10):
        await container.create_item({"id": str(number), "pk": f"key {number}"})
    seen: list[str] = []
    etag = "0"

    while True:
        headers = {"A-IM": "Incremental Feed", "If-None-Match": etag, "x-ms-max-item-count": "3"}
        response = await raw.send("GET", PATH, kind="docs", link=CONTAINER, headers=headers)
        etag = response.headers["etag"]
        if response.status == 304:
            break
        seen += ids(response)

    assert sorted(map(int, seen)) == list(range(10))
    assert etag.strip('"').isdecimal()


@pytest.mark.parametrize("partitions", [150])
async def test_the_feed_of_a_whole_container_has_a_position_in_any_number_of_partitions(
    raw: RawClient, container: ContainerProxy
) -> None:
    """Python prints integers of at most 4,300 digits."""
    await container.create_item({"id": "1", "pk": "p"})
    headers = {"A-IM": "Incremental Feed"}

    first = await raw.send("GET", PATH, kind="docs", link=CONTAINER, headers=headers)
    headers["If-None-Match"] = first.headers["etag"]
    second = await raw.send("GET", PATH, kind="docs", link=CONTAINER, headers=headers)

    assert (first.status, ids(first), second.status) == (200, ["1"], 304)


async def test_the_feed_omits_expired_items(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=5)
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(6)
    await container.create_item({"id": "b", "pk": "p"})

    assert await changes(container, start_time="Beginning") == ["b"]


HOUR = timedelta(hours=1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({"start_time": "Beginning"}, ["0", "1", "2", "3"]),
        ({"is_start_from_beginning": True}, ["0", "1", "2", "3"]),
        ({"is_start_from_beginning": True, "partition_key_range_id": "0"}, ["0", "1", "2", "3"]),
        ({"start_time": "Beginning", "mode": "LatestVersion", "max_item_count": 1}, ["0", "1", "2", "3"]),
        ({"start_time": "Beginning", "partition_key": "key 2"}, ["2"]),
        ({"start_time": "Beginning", "partition_key": "no such key"}, []),
        ({"start_time": -HOUR}, ["0", "1", "2", "3"]),
        ({"start_time": HOUR}, []),
        ({"start_time": "Now"}, []),
        ({"partition_key": "key 2"}, []),
        ({}, []),
    ],
)
async def test_the_sdk_supports_every_start_position(
    container: ContainerProxy, clock: Clock, start: dict[str, Any], expected: list[str]
) -> None:
    for number in range(4):
        await container.create_item({"id": str(number), "pk": f"key {number}"})
    if isinstance(start.get("start_time"), timedelta):
        start = {**start, "start_time": datetime.fromtimestamp(clock(), UTC) + start["start_time"]}

    assert sorted(await changes(container, **start)) == expected


async def test_the_sdk_reads_the_prefix_of_a_hierarchical_key(database: DatabaseProxy) -> None:
    container = await database.create_container("levels", PartitionKey(["/a", "/b"], kind="MultiHash"))
    for number in range(6):
        await container.create_item({"id": str(number), "a": f"t{number % 2}", "b": str(number)})
    prefix = await container.feed_range_from_partition_key(["t1"])

    assert await changes(container, start_time="Beginning", partition_key=["t1"]) == ["1", "3", "5"]
    assert await changes(container, start_time="Beginning", partition_key=["t1", "3"]) == ["3"]
    assert await changes(container, start_time="Beginning", feed_range=prefix) == ["1", "3", "5"]


async def test_a_continuation_token_survives_a_restart(settings: EmulatorSettings, tmp_path: Path) -> None:
    """The token contains the container's rid and the etag of each of four ranges."""
    durable = replace(settings, data_dir=tmp_path)
    async with emulator_client(durable) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        for number in range(12):
            await container.create_item({"id": str(number), "pk": f"key {number}"})
        pages = container.query_items_change_feed(start_time="Beginning").by_page()
        before = [item["id"] async for page in pages async for item in page]
        token = pages.continuation_token

    async with emulator_client(durable) as client:
        container = client.get_database_client("db").get_container_client("items")
        await container.upsert_item({"id": "7", "pk": "key 7"})
        await container.create_item({"id": "new", "pk": "key 3"})

        after = await changes(container, continuation=token)

    assert sorted(map(int, before)) == [*range(12)]
    assert sorted(after) == ["7", "new"]


async def test_a_scripts_writes_share_a_page_and_rolled_back_writes_never_appear(
    feed: Any, container: ContainerProxy
) -> None:
    body = """function (names, failure) {
        const c = __;
        names.forEach(name => c.createDocument(c.getSelfLink(), {id: name, pk: 'p1'}));
        if (failure) throw new Error('rolled back');
    }"""
    await container.scripts.create_stored_procedure({"id": "add", "body": body})

    async def add(*arguments: Any) -> None:
        await container.scripts.execute_stored_procedure("add", partition_key="p1", parameters=[*arguments])

    await add(["a", "b", "c"])
    with fails_with(400):
        await add(["d", "e"], True)
    await container.patch_item("a", "p1", [{"op": "set", "path": "/n", "value": 1}])
    first = await feed(x_ms_max_item_count="1")
    second = await feed(x_ms_max_item_count="1", If_None_Match=first.headers["etag"])
    third = await feed(If_None_Match=second.headers["etag"])

    assert (ids(first), ids(second), third.status) == (["b", "c"], ["a"], 304)
