"""Send the load that azure-light-cosmos-emulator publishes: queries of 20,000 items of 1 KiB from 64 clients.

https://github.com/pbrouillet/azure-light-cosmos-emulator/blob/157e4453bd180ce952f66bd141a0cc56c525a835/PERF.md

Each client sends the same query again and again for 15 s. It returns about half of the items. There are two differences
from the published load. Its query has `c.value`, which the service rejects, because VALUE is a keyword: here, the
property is `amount`. And requests are signed, because only that emulator accepts its header instead of a signature.

As in the published load, all clients are in one process, and send plain HTTP. With azure-cosmos, the client would be
the bottleneck: one process sends about 700 point reads a second, and here it would parse 10,000 rows for each response.
Instead, only the first answer is parsed, to check its rows. In the others, the ids are counted.

The limits are the published rows with the most queries/s, of a processor with 16 cores. (With one query at a time, that
emulator needs less memory: 777 MiB at 2.8 queries/s with SQLite.) This also measures another emulator:

    BENCH_SCANS_PEER='cosmos-emulator start --port {port} --storage in-memory --disable-throughput-enforcement' \\
        python -m bench.local_stack --only scans

In the command, {port} is a free port, and {directory} an empty directory. If the endpoint has a path, it is in
BENCH_SCANS_PEER_PATH.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, ClientTimeout, TCPConnector
from cosmos_emulator.settings import WELL_KNOWN_KEY

from bench.report import TargetResult
from bench.servers import Server, emulator, started
from bench.signing import signed
from bench.timing import BenchmarkError, Times

_ITEMS: Final = 20_000
_BYTES: Final = 1024
_KEYS: Final = 16
_CLIENTS: Final = 64
_LASTING_S: Final = 15.0
_ROUNDS: Final = 2  # in opposite orders, so that other load affects all alike
_ANSWER_S: Final = 300.0
_QUERY: Final = "SELECT c.id, c.amount FROM c WHERE c.amount > 500"
_LINK: Final = "dbs/scans/colls/items"
_VERSION: Final = "2018-12-31"
_HEADERS: Final = {
    "Content-Type": "application/query+json",
    "x-ms-documentdb-isquery": "true",
    "x-ms-documentdb-query-enablecrosspartition": "true",
    "x-ms-max-item-count": str(_ITEMS),  # not -1, which cosmium does not understand
    "x-ms-version": _VERSION,
}
_PUBLISHED: Final = {"durable": (3.7, 2017), "in memory": (8.2, 1861)}  # queries/s and peak MiB
_OTHER: Final = "the peer"


@dataclass
class _Load:
    """The answers of a server in all rounds."""

    server: Server
    rows: int
    seconds: list[float] = field(default_factory=list)
    lasted_s: float = 0.0

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.lasted_s

    @property
    def peak_mib(self) -> float:
        return self.server.memory_bytes()[1] / 2**20

    @property
    def detail(self) -> str:
        times = Times(tuple(self.seconds))
        return (
            f"p50 {times.p50_ms:,.0f} ms, p95 {times.p95_ms:,.0f} ms, p99 {times.p99_ms:,.0f} ms;"
            f" {times.rounds:,} queries in {self.lasted_s:.0f} s; peak {self.peak_mib:,.0f} MiB"
        )


async def measure(directory: Path) -> list[TargetResult]:
    """Measure queries per second and peak memory of the emulator, and of the peer if there is one."""
    async with AsyncExitStack() as stack:
        servers = {
            "durable": await stack.enter_async_context(emulator(directory / "durable", "--partitions", "1")),
            "in memory": await stack.enter_async_context(emulator(None, "--partitions", "1")),
        }
        if command := os.environ.get("BENCH_SCANS_PEER"):
            path = os.environ.get("BENCH_SCANS_PEER_PATH", "")
            servers[_OTHER] = await stack.enter_async_context(started(shlex.split(command), path))
        loads = {name: await _filled(server) for name, server in servers.items()}
        for number in range(_ROUNDS):
            for load in list(loads.values())[:: -1 if number % 2 else 1]:
                await _send(load)
        return list(_findings(loads))


def _findings(loads: Mapping[str, _Load]) -> Iterator[TargetResult]:
    what = f"queries of half of {_ITEMS:,} items of 1 KiB by {_CLIENTS} clients"
    other = loads.get(_OTHER)
    for name, (least, most) in _PUBLISHED.items():
        ours = loads[name]
        yield _at_least(f"{what}, {name}, against azure-light's published figure", least, ours, ours.detail)
        memory = f"peak resident memory of these queries, {name}, against azure-light's published figure"
        yield TargetResult.at_most(memory, most, ours.peak_mib, " MiB", "the process, including its start and import")
        if other is not None:
            measure = f"{what}, {name}, against the peer"
            yield _at_least(measure, other.per_second, ours, f"{ours.detail}; the peer: {other.detail}")


def _at_least(measure: str, limit: float, load: _Load, detail: str) -> TargetResult:
    value = load.per_second
    return TargetResult(measure, f"at least {limit:.1f}/s", f"{value:.1f}/s", value >= limit, detail)


async def _filled(server: Server) -> _Load:
    """Create the items, and check the rows of the first answer."""
    items = [item(number) for number in range(_ITEMS)]
    async with _session() as session:
        await _create(session, server, "", "dbs", {"id": "scans"})
        definition = {"id": "items", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
        await _create(session, server, "dbs/scans", "colls", definition)
        await _each(items, lambda one: _create(session, server, _LINK, "docs", one, key=one["pk"]))
        async with asyncio.timeout(_ANSWER_S):  # a server may never send the last page
            pages = await _answer(session, server)
    rows = sorted(row["id"] for page in pages for row in json.loads(page)["Documents"])
    if rows != sorted(one["id"] for one in items if one["amount"] > 500):
        raise BenchmarkError(f"{server.endpoint} returned {len(rows)} rows, which are not the expected ones")
    return _Load(server, len(rows))


async def _each(items: Sequence[dict[str, Any]], action: Callable[[dict[str, Any]], Awaitable[object]]) -> None:
    """Run an action for each item, as many at once as there are clients."""
    left = iter(items)

    async def work() -> None:
        for one in left:
            await action(one)

    async with asyncio.TaskGroup() as clients:
        for _ in range(_CLIENTS):
            clients.create_task(work())


async def _create(
    session: ClientSession, server: Server, link: str, kind: str, content: dict[str, Any], *, key: str | None = None
) -> None:
    headers = {
        "Content-Type": "application/json",
        "x-ms-version": _VERSION,
        **signed(WELL_KNOWN_KEY, "POST", kind, link),
    }
    if key is not None:
        headers["x-ms-documentdb-partitionkey"] = json.dumps([key])
    url = f"{server.endpoint}{link}/{kind}" if link else f"{server.endpoint}{kind}"
    async with session.post(url, data=json.dumps(content), headers=headers) as answer:
        if answer.status != 201:
            raise BenchmarkError(f"{url} returned {answer.status}: {(await answer.text())[:200]}")


def item(number: int) -> dict[str, Any]:
    """Return an item like the items of the published load."""
    content: dict[str, Any] = {
        "id": f"doc-{number}",
        "pk": f"pk-{number % _KEYS}",
        "seq": number,
        "amount": number * 7919 % 1000,
        "active": number % 2 == 0,
        "tags": [f"t{number % 10}", f"g{number % 3}"],
        "nested": {"a": number, "b": f"label-{number % 50}", "c": number % 4 == 0},
        "filler": "",
    }
    length = len(json.dumps(content, separators=(",", ":")))
    return {**content, "filler": "x" * (_BYTES - length)}


async def _send(load: _Load) -> None:
    """Let all clients send the query until the time is over, and await the last answers."""
    begun = time.perf_counter()

    async def client(session: ClientSession) -> None:
        while time.perf_counter() - begun < _LASTING_S:
            sent = time.perf_counter()
            pages = await _answer(session, load.server)
            load.seconds.append(time.perf_counter() - sent)
            if (count := sum(page.count(b'"id"') for page in pages)) != load.rows:
                raise BenchmarkError(f"{load.server.endpoint} returned {count} rows instead of {load.rows}")

    async with _session() as session, asyncio.TaskGroup() as clients:
        for _ in range(_CLIENTS):
            clients.create_task(client(session))
    load.lasted_s += time.perf_counter() - begun


async def _answer(session: ClientSession, server: Server) -> list[bytes]:
    """Return all pages of the query. Raises BenchmarkError for an error."""
    content = json.dumps({"query": _QUERY, "parameters": []})
    url = f"{server.endpoint}{_LINK}/docs"
    pages: list[bytes] = []
    continuation: dict[str, str] = {}
    while True:
        headers = {**_HEADERS, **continuation, **signed(WELL_KNOWN_KEY, "POST", "docs", _LINK)}
        async with session.post(url, data=content, headers=headers) as answer:
            pages.append(await answer.read())
            if answer.status != 200:
                raise BenchmarkError(f"{url} returned {answer.status}: {pages[-1][:200]!r}")
            token = answer.headers.get("x-ms-continuation")
        if not token:
            return pages
        continuation = {"x-ms-continuation": token}


def _session() -> ClientSession:
    return ClientSession(connector=TCPConnector(limit=_CLIENTS), timeout=ClientTimeout(_ANSWER_S))
