"""Throughput and startup time of the app with 50 clients: `python -m bench.app_load`; `--write` keeps the results.

Emulator, Functions host and clients are separate processes on one machine. The emulator models the request charges.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import ClientSession, TCPConnector

from bench.generated.plan import SeedPlan
from bench.report import circumstances
from bench.seed import seed_database
from bench.servers import REPOSITORY, emulator, functions_host
from bench.tables import table
from bench.timing import BenchmarkError, Times
from management.provision import provision

_CLIENTS: Final = 50
_WARM_UP_S: Final = 2.0
_LASTING_S: Final = 10.0
_DATABASE: Final = "load"
_STARTS: Final = 5
_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "app-load.md"


@dataclass(frozen=True)
class LoadResult:
    name: str
    times: Times
    lasted_s: float
    request_units: float

    def row(self) -> tuple[str, ...]:
        count, times = self.times.rounds, (f"{self.times.p50_ms:.1f}", f"{self.times.p95_ms:.1f}")
        return (
            *(self.name, f"{count:,}", f"{count / self.lasted_s:,.0f}", *times),
            f"{1000 * self.request_units / count:,.1f}",
        )


async def load(url: str, name: str, path: str) -> LoadResult:
    """Send `path` from 50 clients, each one request at a time. Raises BenchmarkError unless the status is 200."""
    times: list[float] = []
    charges: list[float] = []

    async def client(session: ClientSession, until: float) -> None:
        while time.perf_counter() < until:
            started = time.perf_counter()
            async with session.get(url + path) as answer:
                await answer.read()
                if answer.status != 200:
                    raise BenchmarkError(f"GET {path} returned {answer.status} instead of 200")
                times.append(time.perf_counter() - started)
                charges.append(float(answer.headers.get("x-ms-request-charge", 0)))

    async with ClientSession(connector=TCPConnector(limit=_CLIENTS)) as session:
        for lasting in (_WARM_UP_S, _LASTING_S):
            times.clear()
            charges.clear()
            begun = time.perf_counter()
            await asyncio.gather(*(client(session, begun + lasting) for _ in range(_CLIENTS)))
            lasted_s = time.perf_counter() - begun
    return LoadResult(name, Times(tuple(times)), lasted_s, sum(charges))


async def _feed(url: str) -> list[dict[str, Any]]:
    async with ClientSession(raise_for_status=True) as session, session.get(f"{url}/api/feed") as answer:
        return list((await answer.json())["items"])


async def loads() -> list[LoadResult]:
    """Measure Q2 and Q6 on a small blog."""
    async with emulator(None) as server:
        settings = server.settings(_DATABASE)
        await provision(settings)
        await seed_database(settings, SeedPlan())
        async with functions_host(settings) as host:
            post_id = (await _feed(host.endpoint))[0]["id"]
            return [
                await load(host.endpoint, "Q2, `GET /api/posts/{postId}`", f"/api/posts/{post_id}"),
                await load(host.endpoint, "Q6, `GET /api/feed` (20 posts)", "/api/feed"),
                await load(host.endpoint, "Q6, `GET /api/feed?limit=100`", "/api/feed?limit=100"),
            ]


async def first_answers() -> list[float]:
    """Return the seconds from each start of a host to its first response."""
    seconds = []
    async with emulator(None) as server:
        settings = server.settings(_DATABASE)
        await provision(settings)
        for _ in range(_STARTS):
            started = time.perf_counter()
            async with functions_host(settings) as host:
                await _feed(host.endpoint)
                seconds.append(time.perf_counter() - started)
    return seconds


async def report() -> str:
    """Measure everything and return a Markdown page."""
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    starts = await first_answers()
    rows = [each.row() for each in await loads()]
    lines = [
        "# The app under load",
        "",
        "For developers of the app. "
        f"{_CLIENTS} clients each send one request after another for {_LASTING_S:g} s. Emulator, Functions host and"
        " clients are three processes on one machine. Request charges are modeled.",
        "",
        "    python -m bench.app_load --write",
        "",
        *circumstances(started, load_before),
        "",
        *table(["request", "requests", "per second", "p50, ms", "p95, ms", "RU per 1,000 requests"], rows),
        "",
        f"Time from starting the host process to its first response: {statistics.median(starts):.2f} s"
        f" (median of {len(starts)}, {min(starts):.2f} to {max(starts):.2f}).",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.app_load", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {_RESULTS.relative_to(REPOSITORY)}")
    given = parser.parse_args()
    text = asyncio.run(report())
    sys.stdout.write(text)
    if given.write:
        _RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
