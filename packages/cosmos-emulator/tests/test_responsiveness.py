"""Long requests do not delay point reads, and end."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import asyncio
import sys
import threading
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from azure.core.exceptions import AzureError
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import WELL_KNOWN_KEY, CosmosEmulator
from cosmos_emulator import emulator as emulator_module
from cosmos_emulator.operations import query_items
from cosmos_emulator.reads import paging
from tests.errors import fails_with
from tests.processes import cpu_ticks, emulator_process
from tests.raw_client import CONTAINER, RawClient

from tests.polling import eventually

pytestmark = pytest.mark.emulator_only("the emulator's own speed")

READ_S = 0.1
CUBE = "FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a"
NINE = "FROM c " + " ".join(f"JOIN x{number} IN c.a" for number in range(9))
MANY_WORDS = " OR ".join(f"c.n = {number} + 0.5" for number in range(3000))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[tuple[Process, str]]:
    async with emulator_process("--memory", "--lenient-order-by") as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stored(served: tuple[Process, str]) -> AsyncIterator[ContainerProxy]:
    """A container in an emulator process, with 120 elements in one item and 2,000 small items.

    All tests share it. What they write has a partition key of its own.
    """
    async with CosmosClient(served[1], WELL_KNOWN_KEY) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "cube", "pk": "p", "a": [*range(120)], "b": [*range(5)], "s": "a" * 40})
        for first in range(0, 2000, 100):
            batch = [
                {"id": str(n), "pk": "many", "n": n, "s": f"text {n * 7919 % 2000}"} for n in range(first, first + 100)
            ]
            await container.execute_item_batch([("create", (item,)) for item in batch], "many")
        yield container


@pytest.fixture
def clock_s(served: tuple[Process, str]) -> Callable[[], float]:
    """The emulator's CPU time on Linux, which other processes do not change, else the time."""
    if sys.platform != "linux":
        return time.perf_counter
    return lambda: cpu_ticks(served[0].pid) / 100


async def _query(container: ContainerProxy, query: str, key: str = "p") -> None:
    async for _ in container.query_items(query, partition_key=key):
        pass


async def _write_large(container: ContainerProxy) -> None:
    numbers = [{"n": number} for number in range(60_000)]
    for _ in range(3):
        await container.upsert_item({"id": "large", "pk": "large", "numbers": numbers})


async def _patch(container: ContainerProxy, condition: str) -> None:
    operations = [{"op": "add", "path": "/n", "value": 1}]
    with fails_with(412):
        await container.patch_item("cube", "p", operations, filter_predicate=f"FROM c WHERE {condition}")


LONG_REQUESTS: dict[str, Callable[[ContainerProxy], Awaitable[None]]] = {
    "JOIN of 120³ rows": lambda c: _query(c, f"SELECT VALUE x {CUBE} WHERE x + y + z < 0"),
    "aggregate over 120³ rows": lambda c: _query(c, f"SELECT VALUE COUNT(1) {CUBE}"),
    "ORDER BY over many rows": lambda c: _query(
        c, "SELECT TOP 1 VALUE x FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.b ORDER BY c.s"
    ),
    "subquery": lambda c: _query(  # a single row, for which a slow machine must not need 5 s
        c, "SELECT VALUE (SELECT VALUE COUNT(1) FROM x IN c.a JOIN y IN c.a JOIN z IN c.b JOIN w IN c.b) FROM c"
    ),
    "regular expression": lambda c: _refused(c, "SELECT VALUE c.id FROM c WHERE RegexMatch(c.s, '(a|a)*$|b')"),
    "long text": lambda c: _query(c, f"SELECT VALUE c.id FROM c WHERE {MANY_WORDS}"),
    "sorts without an index": lambda c: _query(c, "SELECT VALUE c.n FROM c WHERE c.n > 1 ORDER BY c.s", "many"),
    "groups": lambda c: _query(c, "SELECT c.s, COUNT(1) AS n FROM c GROUP BY c.s", "many"),
    "large items": _write_large,
    "condition of a patch": lambda c: _patch(
        c, "EXISTS(SELECT VALUE 1 FROM x IN c.a JOIN y IN c.a JOIN z IN c.a WHERE x < 0)"
    ),
}


async def _refused(container: ContainerProxy, query: str) -> None:
    with fails_with(400):
        await _query(container, query.replace("c.s,", "CONCAT(c.s, '!'),"))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", LONG_REQUESTS)
async def test_a_point_read_completes_while_a_long_request_runs(
    stored: ContainerProxy, clock_s: Callable[[], float], name: str
) -> None:
    await stored.read_item("0", "many")
    times_s: list[float] = []
    running = asyncio.ensure_future(LONG_REQUESTS[name](stored))

    while not running.done():
        started = clock_s()
        await stored.read_item("0", "many")
        times_s.append(clock_s() - started)
    await running

    assert sorted(times_s)[len(times_s) // 2] < READ_S
    assert sum(one < READ_S for one in times_s) >= 0.9 * len(times_s), times_s


@pytest.mark.nightly
@pytest.mark.asyncio(loop_scope="module")
async def test_many_long_queries_take_turns(stored: ContainerProxy, clock_s: Callable[[], float]) -> None:
    queries = [f"SELECT VALUE COUNT(1) {CUBE} WHERE x < {number + 5}" for number in range(4)]
    running = asyncio.gather(*(_query(stored, query) for query in queries))
    times_s: list[float] = []

    while not running.done():
        started = clock_s()
        await stored.read_item("0", "many")
        times_s.append(clock_s() - started)
    await running

    assert sorted(times_s)[len(times_s) // 2] < READ_S


@pytest.fixture
async def cube(container: ContainerProxy) -> list[int]:
    """Store an array in an item of `container`, and return it."""
    array = [*range(30)]
    await container.create_item({"id": "a", "pk": "p", "a": array})
    return array


async def _page(raw: RawClient, query: str, **headers: str) -> Any:
    sent = {"x-ms-documentdb-isquery": "True", "x-ms-documentdb-partitionkey": '["p"]'}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await raw.send(
        "POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body={"query": query}, headers=sent
    )


async def test_a_join_that_exceeds_the_page_time_continues_on_the_next_page(
    raw: RawClient, cube: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.2)
    query = f"SELECT VALUE [x, y, z] {CUBE} JOIN w IN c.a WHERE x % 10 = 9 AND y = 29 AND z = 3 AND w = 7"
    found: list[Any] = []
    pages = [await _page(raw, query)]

    while "x-ms-continuation" in pages[-1].headers:
        pages.append(await _page(raw, query, x_ms_continuation=pages[-1].headers["x-ms-continuation"]))
    for page in pages:
        found += page.json["Documents"]

    assert len(pages) > 1
    assert {page.status for page in pages} == {200}
    assert found == [[x, 29, 3] for x in cube if x % 10 == 9]


async def test_nine_joins_return_empty_pages_with_a_continuation(
    raw: RawClient, cube: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.5)
    query = f"SELECT VALUE 1 {NINE} WHERE x0 < 0"

    first = await _page(raw, query)
    second = await _page(raw, query, x_ms_continuation=first.headers["x-ms-continuation"])

    assert (first.status, first.json["_count"], second.status, second.json["_count"]) == (200, 0, 200, 0)
    assert second.headers["x-ms-continuation"] != first.headers["x-ms-continuation"]


LATER_RESULTS: dict[str, list[Any]] = {
    f"SELECT VALUE COUNT(1) {CUBE} JOIN w IN c.a WHERE w < 3": [30**3 * 3],
    f"SELECT DISTINCT VALUE y {CUBE} JOIN w IN c.a WHERE y > 27 AND x = 29": [28, 29],
    f"SELECT z, COUNT(1) AS n {CUBE} JOIN w IN c.a WHERE z > 27 AND w = 0 GROUP BY z": [
        {"z": 28, "n": 900},
        {"z": 29, "n": 900},
    ],
    f"SELECT VALUE z {CUBE} JOIN w IN c.a WHERE x = 29 AND y = 29 AND z > 27 AND w = 0 ORDER BY c.id": [28, 29],
    f"SELECT TOP 1 VALUE z {CUBE} JOIN w IN c.a WHERE x = 29 AND y = 29 AND z = 29": [29],
}


@pytest.mark.nightly
@pytest.mark.parametrize("query", LATER_RESULTS)
async def test_a_page_without_a_result_yet_has_a_continuation(
    raw: RawClient, cube: list[int], container: ContainerProxy, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE_S", 60.0)  # a busy machine is slow
    (whole,) = await _pages(raw, query)
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.05)

    pages = await _pages(raw, query)

    assert len(pages) > 2
    assert {page.status for page in pages} == {200}
    assert [page.json["Documents"] for page in pages] == [[]] * (len(pages) - 1) + [LATER_RESULTS[query]]
    tokens = {page.headers["x-ms-continuation"] for page in pages[:-1]}
    assert len(tokens) == len(pages) - 1  # each is remembered for a time of its own
    charges = [float(page.headers["x-ms-request-charge"]) for page in pages]
    assert sum(charges) == charges[-1] == float(whole.headers["x-ms-request-charge"])
    scopes: list[dict[str, str]] = [{"partition_key": "p"}]
    if "GROUP BY" not in query:  # which this SDK does not merge
        scopes.append({})
    for scope in scopes:
        found = [row async for row in container.query_items(query, **scope)]
        assert found == LATER_RESULTS[query]
    await eventually(lambda: not _resting_pages())


async def test_a_forgotten_page_starts_again(raw: RawClient, cube: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    query = next(iter(LATER_RESULTS))
    with monkeypatch.context() as patch:
        patch.setattr(paging, "MAX_PAGE_S", 0.05)
        patch.setattr("cosmos_emulator.reads.unfinished.MOST", 0)
        first = await _page(raw, query)
    await eventually(lambda: not _resting_pages())

    second = await _page(raw, query, x_ms_continuation=first.headers["x-ms-continuation"])

    assert (first.json["Documents"], second.json["Documents"]) == ([], LATER_RESULTS[query])


async def test_no_page_rests_after_the_end_of_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.05)
    async with (
        CosmosEmulator() as emulator,
        CosmosClient(emulator.endpoint, emulator.key) as client,
        ClientSession() as session,
    ):
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p", "a": [*range(30)]})
        assert (
            "x-ms-continuation" in (await _page(RawClient(session, emulator), f"SELECT VALUE COUNT(1) {NINE}")).headers
        )

    await eventually(lambda: not _resting_pages())


def _resting_pages() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "cosmos-page"]


async def _pages(raw: RawClient, query: str) -> list[Any]:
    pages = [await _page(raw, query)]
    while "x-ms-continuation" in pages[-1].headers:
        pages.append(await _page(raw, query, x_ms_continuation=pages[-1].headers["x-ms-continuation"]))
    return pages


@pytest.mark.parametrize(
    "query",
    [
        "SELECT VALUE 1 FROM c WHERE EXISTS(SELECT VALUE 1 FROM x IN c.a JOIN y IN c.a JOIN z IN c.a JOIN w IN c.a "
        "JOIN v IN c.a WHERE x < 0)",
    ],
)
async def test_a_result_that_takes_too_long_is_refused(
    raw: RawClient, cube: list[int], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE_S", 0.2)
    monkeypatch.setattr(query_items, "MAX_WORK_S", 0.2)

    answer = await _page(raw, query)

    assert (answer.status, answer.json["code"]) == (408, "RequestTimeout")


async def test_an_emulator_stops_during_a_long_query(monkeypatch: pytest.MonkeyPatch) -> None:
    is_running = threading.Event()
    run = query_items._whole_page

    def reported(*arguments: Any) -> Any:
        is_running.set()
        return run(*arguments)

    monkeypatch.setattr(query_items, "_whole_page", reported)
    monkeypatch.setattr(emulator_module, "_SHUTDOWN_S", 0.1)
    async with CosmosEmulator() as emulator, CosmosClient(emulator.endpoint, emulator.key, retry_total=0) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p", "a": [*range(30)]})
        running = asyncio.create_task(_query(container, f"SELECT VALUE COUNT(1) {NINE}"))
        await eventually(is_running.is_set)
        stopped_at = time.monotonic()

    assert time.monotonic() - stopped_at < 10
    with pytest.raises(AzureError):
        await running
