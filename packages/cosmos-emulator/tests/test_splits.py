"""Splits of physical partitions, when throughput is raised."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.latency import Latency
from cosmos_emulator.operations import execute_stored_procedure, query_items
from cosmos_emulator.store import partition
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.store.schema import open_connection
from tests.clock import Clock
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

from tests.polling import eventually

DOCS = f"/{CONTAINER}/docs"
ITEMS = 40
IDS = [f"item {number}" for number in range(ITEMS)]
OF_RANGE = "x-ms-documentdb-partitionkeyrangeid"
KILLED_WHILE_SPLITTING = """
import asyncio, os, signal, sys
from pathlib import Path
from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.store.resources import ResourceTable

replace_ranges = ResourceTable.replace_ranges

def killed(*arguments):
    if sys.argv[2] == "after the commit":
        replace_ranges(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

ResourceTable.replace_ranges = killed

async def split():
    async with CosmosEmulator(EmulatorSettings(data_dir=Path(sys.argv[1]))) as emulator:
        async with CosmosClient(emulator.endpoint, emulator.key) as client:
            await client.get_database_client("db").get_container_client("items").replace_throughput(20_000)

asyncio.run(split())
"""


@pytest.fixture
def partitions() -> int:
    return 1


@pytest.fixture
async def filled(container: ContainerProxy) -> ContainerProxy:
    """A container with one partition and items of as many partition keys."""
    await fill(container)
    return container


async def fill(container: ContainerProxy, ids: list[str] = IDS) -> None:
    for item_id in ids:
        await container.create_item({"id": item_id, "pk": f"key of {item_id}"})


async def ranges_of(raw: RawClient, etag: str | None = None) -> list[dict[str, Any]]:
    headers = {"A-IM": "Incremental feed"} | ({"If-None-Match": etag} if etag else {})
    response = await raw.send("GET", f"/{CONTAINER}/pkranges", kind="pkranges", link=CONTAINER, headers=headers)
    return list(response.json["PartitionKeyRanges"]) if response.status == 200 else []


async def read(raw: RawClient, **headers: str) -> RawResponse:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await raw.send("GET", DOCS, kind="docs", link=CONTAINER, headers=sent)


async def query(raw: RawClient, text: str, **headers: str) -> RawResponse:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent |= {"x-ms-documentdb-isquery": "true", "content-type": "application/query+json"}
    return await raw.send("POST", DOCS, kind="docs", link=CONTAINER, headers=sent, body={"query": text})


def ids_of(response: RawResponse) -> list[str]:
    return [item["id"] for item in response.json["Documents"]] if response.text else []


async def ids_in(pages: AsyncIterator[Any]) -> list[str]:
    return [item["id"] async for item in pages]


@pytest.mark.parametrize(
    ("ru_s", "parents"),
    [
        (10_000, [[]]),
        (10_100, [["0"], ["0"]]),
        (25_000, [["0", "1"], ["0", "1"], ["0"]]),
        (40_000, [["0", "1"], ["0", "1"], ["0", "2"], ["0", "2"]]),
    ],
)
async def test_a_partition_is_split_for_every_10000_ru_s(
    container: ContainerProxy, raw: RawClient, ru_s: int, parents: list[list[str]]
) -> None:
    await container.replace_throughput(ru_s)

    ranges = await ranges_of(raw)
    assert [one["parents"] for one in ranges] == parents
    assert [ranges[0]["minInclusive"], ranges[-1]["maxExclusive"]] == ["", "FF"]
    assert [one["maxExclusive"] for one in ranges[:-1]] == [one["minInclusive"] for one in ranges[1:]]
    assert len({one["id"] for one in ranges}) == len(ranges)
    assert (await container.get_throughput()).offer_throughput == ru_s


async def test_raising_the_autoscale_maximum_splits(database: DatabaseProxy, raw: RawClient) -> None:
    autoscale = ThroughputProperties(auto_scale_max_throughput=4_000)
    container = await database.create_container("items", PartitionKey("/pk"), offer_throughput=autoscale)

    await container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=11_000))

    assert len(await ranges_of(raw)) == 2


async def test_raising_the_shared_throughput_splits_containers_without_their_own(client: CosmosClient) -> None:
    database = await client.create_database("shared", offer_throughput=400)
    sharing = await database.create_container("sharing", PartitionKey("/pk"))
    own = await database.create_container("own", PartitionKey("/pk"), offer_throughput=400)

    await database.replace_throughput(20_000)

    async with CosmosClient(client.client_connection.url_connection, client.client_connection.master_key) as fresh:
        counts = [
            len(
                [one async for one in fresh.get_database_client("shared").get_container_client(name).read_feed_ranges()]
            )
            for name in (sharing.id, own.id)
        ]
    assert counts == [2, 1]


async def test_lowering_the_throughput_merges_nothing(container: ContainerProxy, raw: RawClient) -> None:
    await container.replace_throughput(20_000)

    await container.replace_throughput(400)

    assert [one["id"] for one in await ranges_of(raw)] == ["1", "2"]


async def test_the_ranges_of_an_older_etag_include_the_children(container: ContainerProxy, raw: RawClient) -> None:
    response = await raw.send("GET", f"/{CONTAINER}/pkranges", kind="pkranges", link=CONTAINER)
    before = response.headers["etag"]
    assert await ranges_of(raw, before) == []

    await container.replace_throughput(20_000)

    assert [one["id"] for one in await ranges_of(raw, before)] == ["1", "2"]


@pytest.mark.parametrize("definition", [PartitionKey("/pk", version=1), PartitionKey(["/pk", "/id"], kind="MultiHash")])
async def test_every_kind_of_partition_key_can_be_split(database: DatabaseProxy, definition: PartitionKey) -> None:
    container = await database.create_container("items", definition)
    await fill(container)

    await container.replace_throughput(40_000)

    found = [
        await ids_in(container.query_items("SELECT c.id FROM c", feed_range=one))
        async for one in container.read_feed_ranges(force_refresh=True)
    ]
    assert Counter(chain.from_iterable(found)) == Counter(IDS)
    assert len(found) == 4
    assert all(found)


async def test_the_sdk_reads_and_writes_all_items_after_a_split(filled: ContainerProxy) -> None:
    assert len(await ids_in(filled.query_items("SELECT * FROM c ORDER BY c.id"))) == ITEMS  # fills the SDK's cache

    await filled.replace_throughput(25_000)

    assert await ids_in(filled.query_items("SELECT * FROM c ORDER BY c.id")) == sorted(IDS)
    assert sorted(await ids_in(filled.read_all_items())) == sorted(IDS)
    counted = filled.query_items("SELECT VALUE COUNT(1) FROM c")
    assert [count async for count in counted] == [ITEMS]
    for item_id in IDS:
        key = f"key of {item_id}"
        read_back = await filled.read_item(item_id, key)
        await filled.replace_item(item_id, {**read_back, "n": 1})
        await filled.delete_item(item_id, key)
    assert await ids_in(filled.read_all_items()) == []


async def test_unique_keys_rids_and_expiry_survive_a_split(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container(
        "items",
        PartitionKey("/pk"),
        default_ttl=100,
        unique_key_policy={"uniqueKeys": [{"paths": ["/name"]}]},
    )
    for item_id in IDS:
        await container.create_item({"id": item_id, "pk": item_id, "name": "taken"})
    rids = {item["id"]: item["_rid"] async for item in container.read_all_items()}

    await container.replace_throughput(25_000)

    assert {item["id"]: item["_rid"] async for item in container.read_all_items()} == rids
    for item_id in IDS:
        with fails_with(409):
            await container.create_item({"id": "new", "pk": item_id, "name": "taken"})
        await container.create_item({"id": "new", "pk": item_id, "name": "free"})
    new = [item["_rid"] async for item in container.read_all_items() if item["id"] == "new"]
    assert len({*new, *rids.values()}) == 2 * ITEMS
    clock.advance(101)
    assert await ids_in(container.read_all_items()) == []


async def test_a_request_for_a_range_that_was_split_returns_410_1002(filled: ContainerProxy, raw: RawClient) -> None:
    await filled.replace_throughput(20_000)

    answers = [
        await read(raw, **{OF_RANGE: "0"}),
        await read(raw, **{OF_RANGE: "0", "A-IM": "Incremental feed"}),
        await query(raw, "SELECT * FROM c", **{OF_RANGE: "0"}),
    ]

    assert [(one.status, one.headers["x-ms-substatus"]) for one in answers] == [(410, "1002")] * 3


async def pages_with_splits(container: ContainerProxy, fetch: Any, splits: dict[int, int]) -> list[str]:
    """Read pages to the end. `splits` sets the throughput after a number of pages."""
    found: list[str] = []
    continuation, count = None, 0
    while continuation is not None or not count:
        response = await fetch(continuation)
        found += ids_of(response)
        continuation, count = response.headers.get("x-ms-continuation"), count + 1
        if count in splits:
            await container.replace_throughput(splits[count])
    return found


@pytest.mark.parametrize("splits", [{2: 20_000}, {2: 20_000, 4: 40_000}, {3: 40_000, 7: 80_000}])
@pytest.mark.parametrize("text", [None, "SELECT * FROM c", "SELECT * FROM c WHERE STARTSWITH(c.id, 'item')"])
async def test_the_pages_of_a_read_continue_after_splits(
    filled: ContainerProxy, raw: RawClient, splits: dict[int, int], text: str | None
) -> None:
    async def fetch(continuation: str | None) -> RawResponse:
        headers = {"x-ms-max-item-count": "3", "x-ms-documentdb-query-enablecrosspartition": "true"}
        headers |= {"x-ms-continuation": continuation} if continuation else {}
        return await read(raw, **headers) if text is None else await query(raw, text, **headers)

    found = await pages_with_splits(filled, fetch, splits)

    assert Counter(found) == Counter(IDS)


@pytest.mark.parametrize(
    "text", ["SELECT * FROM c", "SELECT * FROM c ORDER BY c.id", "SELECT * FROM c ORDER BY c.pk DESC"]
)
async def test_the_children_continue_a_query_of_their_parent(filled: ContainerProxy, raw: RawClient, text: str) -> None:
    first = await query(raw, text, **{OF_RANGE: "0", "x-ms-max-item-count": "7"})

    await filled.replace_throughput(20_000)

    rest: list[str] = []
    for child in ("1", "2"):
        continuation = first.headers["x-ms-continuation"]
        while continuation:
            headers = {OF_RANGE: child, "x-ms-max-item-count": "7", "x-ms-continuation": continuation}
            page = await query(raw, text, **headers)
            rest += ids_of(page)
            continuation = page.headers.get("x-ms-continuation", "")
    assert Counter(ids_of(first) + rest) == Counter(IDS)


async def test_a_query_that_counts_its_rows_continues_only_in_a_logical_partition(
    filled: ContainerProxy, raw: RawClient
) -> None:
    await filled.create_item({"id": "another", "pk": "key of item 0"})
    text = "SELECT DISTINCT c.id FROM c"
    key = {"x-ms-documentdb-partitionkey": '["key of item 0"]', "x-ms-max-item-count": "1"}
    of_key = await query(raw, text, **key)
    of_range = await query(raw, text, **{OF_RANGE: "0", "x-ms-max-item-count": "1"})

    await filled.replace_throughput(20_000)

    continued = await query(raw, text, **key, **{"x-ms-continuation": of_key.headers["x-ms-continuation"]})
    refused = await query(raw, text, **{OF_RANGE: "1", "x-ms-continuation": of_range.headers["x-ms-continuation"]})
    assert (ids_of(of_key), ids_of(continued)) == (["item 0"], ["another"])
    assert refused.status == 400
    assert "start it again" in refused.text


async def test_the_sdk_continues_a_query_after_a_split(filled: ContainerProxy) -> None:
    found: list[str] = []
    pages = filled.query_items("SELECT * FROM c ORDER BY c.id", max_item_count=4).by_page()
    async for page in pages:
        found += [item["id"] async for item in page]
        if len(found) == 8:
            await filled.replace_throughput(25_000)

    assert Counter(found) >= Counter(IDS)


@pytest.mark.parametrize("container_wide", [True, False])
async def test_the_change_feed_continues_after_splits(
    filled: ContainerProxy, raw: RawClient, container_wide: bool
) -> None:
    start = {} if container_wide else {OF_RANGE: "0"}
    headers = {"A-IM": "Incremental feed", "x-ms-max-item-count": "5"}
    first = await read(raw, **headers, **start)
    found = ids_of(first)
    etags = {"0": first.headers["etag"]}
    for ru_s, new in ((20_000, "a"), (40_000, "b")):
        await filled.replace_throughput(ru_s)
        await fill(filled, [f"{new} {number}" for number in range(10)])
        if not container_wide:
            parents = {one["id"]: one["parents"] for one in await ranges_of(raw)}
            etags = {child: etags.get(child) or etags[parents[child][-1]] for child in parents}
        for child, etag in etags.items():
            for _ in range(3):
                place = {} if container_wide else {OF_RANGE: child}
                page = await read(raw, **headers, **place, **{"If-None-Match": etag})
                found += ids_of(page)
                etag = etags[child] = page.headers["etag"]
    for child, etag in etags.items():
        place = {} if container_wide else {OF_RANGE: child}
        while (page := await read(raw, **headers, **place, **{"If-None-Match": etag})).status != 304:
            found += ids_of(page)
            etag = page.headers["etag"]
    assert Counter(found) == Counter([*IDS, *(f"{new} {number}" for new in "ab" for number in range(10))])


async def test_a_change_feed_continuation_of_the_sdk_survives_splits(filled: ContainerProxy) -> None:
    async def changes(continuation: str | None) -> tuple[list[str], str]:
        options: Any = {"continuation": continuation} if continuation else {"start_time": "Beginning"}
        pages = filled.query_items_change_feed(**options, max_item_count=3).by_page()
        found: list[str] = []
        async for page in pages:
            found += [item["id"] async for item in page]
            if not continuation:
                break
        return found, str(pages.continuation_token)

    found, token = await changes(None)
    for ru_s, new in ((20_000, "a"), (50_000, "b")):
        await filled.replace_throughput(ru_s)
        await fill(filled, [f"{new} {number}" for number in range(10)])
        more, token = await changes(token)
        found += more

    assert Counter(found) == Counter([*IDS, *(f"{new} {number}" for new in "ab" for number in range(10))])


async def test_the_session_continues_in_the_children(filled: ContainerProxy, raw: RawClient) -> None:
    before = (await read(raw)).headers["x-ms-session-token"]
    range_id, _, lsn = before.replace("#", ":").split(":")
    assert before == f"{range_id}:-1#{lsn}"

    await filled.replace_throughput(20_000)

    async def tokens(**headers: str) -> list[str]:
        answers = [await read(raw, **headers, **{OF_RANGE: one}) for one in ("1", "2")]
        return [answer.headers["x-ms-session-token"] for answer in answers]

    assert await tokens(**{"x-ms-session-token": before}) == [f"1:0#{lsn}", f"2:0#{lsn}"]
    await filled.upsert_item({"id": "item 0", "pk": "key of item 0"})
    after = await tokens()
    assert sum(int(one.partition("#")[2]) for one in after) == 2 * int(lsn) + 1
    ahead = await read(raw, **{"x-ms-session-token": f"0:-1#{int(lsn) + 2}"})
    assert (ahead.status, ahead.headers["x-ms-substatus"]) == (404, "1002")


async def test_a_lagging_child_serves_a_session_of_its_parent(
    emulator: CosmosEmulator, filled: ContainerProxy, raw: RawClient
) -> None:
    emulator.settings.replica_lag = Latency.parse("3600000ms")
    await fill(filled, ["newest"])
    token = filled.client_connection.last_response_headers["x-ms-session-token"]

    await filled.replace_throughput(20_000)

    assert "newest" in ids_of(await read(raw, **{"x-ms-session-token": token, "x-ms-max-item-count": "-1"}))


async def test_writes_continue_during_splits(container: ContainerProxy) -> None:
    written: list[str] = []
    is_over = asyncio.Event()

    async def write(writer: int) -> None:
        while not is_over.is_set():
            item_id = f"{writer} {len(written)}"
            await container.create_item({"id": item_id, "pk": item_id})
            written.append(item_id)

    writers = [asyncio.create_task(write(number)) for number in range(4)]
    for ru_s in (20_000, 40_000, 80_000):
        reached = len(written) + 40
        await eventually(lambda reached=reached: len(written) > reached)
        await container.replace_throughput(ru_s)
    is_over.set()
    await asyncio.gather(*writers)

    assert Counter(await ids_in(container.read_all_items())) == Counter(written)
    changes = container.query_items_change_feed(start_time="Beginning")
    assert Counter([item["id"] async for item in changes]) == Counter(written)


@dataclass
class Pause:
    """Stops a worker thread between two moments of a test."""

    is_reached: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)

    def before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def paused(*arguments: Any, **options: Any) -> Any:
            self.is_reached.set()
            assert self.is_over.wait(20)
            return work(*arguments, **options)

        return paused


@pytest.fixture
def pause() -> Pause:
    return Pause()


async def test_a_query_that_runs_during_a_split_sees_the_state_before(
    filled: ContainerProxy, raw: RawClient, pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled.scripts.create_user_defined_function({"id": "same", "body": "function (x) { return x; }"})
    monkeypatch.setattr(query_items, "_whole_page", pause.before(query_items._whole_page))
    headers = {"x-ms-documentdb-query-enablecrosspartition": "true", "x-ms-max-item-count": "-1"}
    running = asyncio.create_task(query(raw, "SELECT VALUE {'id': udf.same(c.id)} FROM c", **headers))
    await eventually(pause.is_reached.is_set)

    await filled.replace_throughput(25_000)
    await fill(filled, ["later"])
    pause.is_over.set()

    response = await running
    assert response.status == 200
    assert Counter(ids_of(response)) == Counter(IDS)


async def test_a_script_finishes_before_its_partition_is_split(
    filled: ContainerProxy, raw: RawClient, pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "function () { __.createDocument(__.getSelfLink(), {id: 'by the script', pk: 'p'}); }"
    await filled.scripts.create_stored_procedure({"id": "write", "body": body})
    original = execute_stored_procedure.execute_stored_procedure
    monkeypatch.setattr(execute_stored_procedure, "execute_stored_procedure", pause.before(original))
    running = asyncio.create_task(filled.scripts.execute_stored_procedure("write", partition_key="p"))
    await eventually(pause.is_reached.is_set)

    splitting = asyncio.create_task(filled.replace_throughput(20_000))
    assert not (await asyncio.wait([splitting], timeout=0.2))[0]
    assert [one["id"] for one in await ranges_of(raw)] == ["0"]
    pause.is_over.set()
    await asyncio.gather(running, splitting)

    assert [one["id"] for one in await ranges_of(raw)] == ["1", "2"]
    assert (await filled.read_item("by the script", "p"))["id"] == "by the script"


async def test_a_container_can_be_deleted_while_it_is_split(
    emulator: CosmosEmulator,
    database: DatabaseProxy,
    filled: ContainerProxy,
    pause: Pause,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Partition, "_copy_to", pause.before(Partition._copy_to))
    splitting = asyncio.create_task(filled.replace_throughput(40_000))
    await eventually(pause.is_reached.is_set)

    deleting = asyncio.create_task(database.delete_container("items"))
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        left = client.get_database_client("db")
        while [one async for one in left.list_containers()]:
            pass
    pause.is_over.set()

    async with asyncio.timeout(20):
        await deleting
        with fails_with(404):
            await splitting


@pytest.mark.nightly
async def test_each_child_has_its_share_of_the_throughput(emulator: CosmosEmulator, filled: ContainerProxy) -> None:
    emulator.settings.throttle = True
    await filled.replace_throughput(12_000)
    body = "x" * 100_000

    async with CosmosClient(emulator.endpoint, emulator.key, retry_total=0) as client:
        container = client.get_database_client("db").get_container_client("items")
        spent = 0.0
        with fails_with(429, 3200):
            while spent < 12_000:
                await container.upsert_item({"id": "a", "pk": "one", "body": body})
                spent += float(container.client_connection.last_response_headers["x-ms-request-charge"])

    assert 6_000 <= spent < 8_000


async def test_the_parent_files_are_deleted_and_the_children_survive_a_restart(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await fill(container)
        await container.replace_throughput(25_000)
        await eventually(lambda: files_in(tmp_path) == ["2.sqlite", "3.sqlite", "4.sqlite"])

    async with emulator_client(settings) as client:
        container = client.get_database_client("db").get_container_client("items")
        assert Counter(await ids_in(container.read_all_items())) == Counter(IDS)
        await container.replace_throughput(40_000)
        assert Counter(await ids_in(container.read_all_items())) == Counter(IDS)
        assert len([one async for one in container.read_feed_ranges(force_refresh=True)]) == 4
        await client.delete_database("db")
    assert files_in(tmp_path) == []


async def test_a_split_after_a_restart_opens_the_parent_only_once(
    tmp_path: Path, pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        await fill(await database.create_container("items", PartitionKey("/pk")))
    opened: list[str] = []
    copy = Partition._copy_to

    def reported(*arguments: Any) -> None:
        pause.is_reached.set()
        copy(*arguments)

    def counted(path: Path, **options: Any) -> Any:
        if not options.get("read_only"):
            opened.append(path.name)
            if threading.current_thread() is not threading.main_thread():
                assert pause.is_over.wait(20)
        return open_connection(path, **options)

    monkeypatch.setattr(Partition, "_copy_to", reported)
    monkeypatch.setattr(partition, "open_connection", counted)
    async with emulator_client(settings) as client:
        container = client.get_database_client("db").get_container_client("items")
        splitting = asyncio.create_task(container.replace_throughput(20_000))
        await eventually(pause.is_reached.is_set)
        assert (await container.read_item("item 0", "key of item 0"))["id"] == "item 0"
        pause.is_over.set()
        await splitting

    assert opened.count("0.sqlite") == 1


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("*/*.sqlite"))


@pytest.mark.nightly
@pytest.mark.parametrize(("moment", "partitions"), [("before the commit", 1), ("after the commit", 2)])
async def test_a_kill_leaves_either_the_parent_or_its_children(tmp_path: Path, moment: str, partitions: int) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await fill(container)

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED_WHILE_SPLITTING, str(tmp_path), moment)
    assert await asyncio.wait_for(process.wait(), 60) == -9
    assert files_in(tmp_path) == ["0.sqlite", "1.sqlite", "2.sqlite"]

    async with emulator_client(settings) as client:
        container = client.get_database_client("db").get_container_client("items")
        assert len([one async for one in container.read_feed_ranges()]) == partitions
        assert Counter(await ids_in(container.read_all_items())) == Counter(IDS)
        await fill(container, ["later"])
        await container.replace_throughput(20_000)
        assert Counter(await ids_in(container.read_all_items())) == Counter([*IDS, "later"])
        await eventually(lambda: files_in(tmp_path) == ["1.sqlite", "2.sqlite"])
