"""What telemetry costs a request: `python -m bench.telemetry`; `--write` keeps the results.

Two Functions hosts run the app on one database, one of them with OpenTelemetry and an OTLP endpoint. They take turns,
so that other load on the machine affects both alike.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from aiohttp import ClientSession, TCPConnector

from bench import servers
from bench.report import circumstances
from bench.servers import REPOSITORY, Server
from bench.timing import BenchmarkError, Times, in_turn
from management.commands import seed_database
from management.provision import provision
from management.seeding.plan import SeedPlan

_DATABASE: Final = "telemetry"
_SLICE_S: Final = 1.0
_REPETITIONS: Final = 2_000
_WARM_UP: Final = 50
_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "telemetry.md"
_CLIENTS: Final = 50
# Change-feed functions would work for requests that have long ended.
_QUIET: Final = {f"AzureWebJobs.on_{name}_changed.Disabled": "true" for name in ("posts", "users")}

# Sends one request, given a post.
Send = Callable[[ClientSession, str, Mapping[str, Any]], Any]
_REQUESTS: Final[Mapping[str, Send]] = {
    "Q6, the feed": lambda session, url, _: session.get(f"{url}/api/feed"),
    "Q2, a post": lambda session, url, post: session.get(f"{url}/api/posts/{post['id']}"),
    "Q4, a post's comments": lambda session, url, post: session.get(f"{url}/api/posts/{post['id']}/comments"),
    "C3, a new comment": lambda session, url, post: session.post(
        f"{url}/api/posts/{post['id']}/comments", json={"userId": post["userId"], "content": "Well put."}
    ),
    "C4, a like": lambda session, url, post: session.post(
        f"{url}/api/posts/{post['id']}/likes", json={"userId": post["userId"]}
    ),
}


@dataclass(frozen=True)
class Overhead:
    """Response times of one client, and processor time per request with many, without and with telemetry."""

    name: str
    without: Times
    with_telemetry: Times
    processor_s: tuple[tuple[float, float], ...]

    def row(self) -> str:
        before, after = self.without.p50_ms, self.with_telemetry.p50_ms
        busy_before, busy_after = (statistics.median(times) for times in zip(*self.processor_s, strict=True))
        added = statistics.median(with_s / without_s for without_s, with_s in self.processor_s) - 1
        return (
            f"| {self.name} | {before:.2f} | {after:.2f} | {after / before - 1:+.1%}"
            f" | {busy_before * 1000:.2f} | {busy_after * 1000:.2f} | {added:+.1%} |"
        )


async def _request(session: ClientSession, send: Send, url: str, post: Mapping[str, Any]) -> None:
    async with send(session, url, post) as answer:
        await answer.read()
        if answer.status not in (200, 201):
            raise BenchmarkError(f"{answer.url} returned {answer.status}")


async def _processor_s(host: Server, posts: list[dict[str, Any]], send: Send) -> float:
    """Return the host's processor time per request under load."""
    count = 0

    async def client(session: ClientSession, until: float) -> None:
        nonlocal count
        while time.perf_counter() < until:
            await _request(session, send, host.endpoint, random.choice(posts))  # noqa: S311 - made up, not secret
            count += 1

    async with ClientSession(connector=TCPConnector(limit=_CLIENTS)) as session:
        before_s, until = host.processor_s(), time.perf_counter() + _SLICE_S
        await asyncio.gather(*(client(session, until) for _ in range(_CLIENTS)))
        return (host.processor_s() - before_s) / count


@asynccontextmanager
async def _hosts(directory: Path) -> AsyncIterator[tuple[Server, Server]]:
    """Yield a host without telemetry and one with it."""
    async with AsyncExitStack() as stack:
        emulator = await stack.enter_async_context(servers.emulator(None))
        sink = await stack.enter_async_context(servers.telemetry_sink())
        settings = emulator.settings(_DATABASE)
        await provision(settings)
        await seed_database(settings, SeedPlan(), if_empty=True, concurrency=16)
        hosts = []
        for name, environment in (("without", {}), ("with", {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint})):
            state_dir = directory / name
            state_dir.mkdir()
            given = {**_QUIET, **environment}
            hosts.append(
                await stack.enter_async_context(servers.functions_host(settings, state_dir, environment=given))
            )
        yield hosts[0], hosts[1]


async def measure(rounds: int) -> list[Overhead]:
    """Measure every request."""
    results = []
    with tempfile.TemporaryDirectory() as directory:
        async with _hosts(Path(directory)) as (without, with_telemetry), ClientSession() as session:
            async with session.get(f"{without.endpoint}/api/feed?limit=100") as answer:
                posts = (await answer.json())["items"]
            for name, send in _REQUESTS.items():
                actions = {
                    host.endpoint: lambda number, send=send, url=host.endpoint: _request(
                        session, send, url, posts[number % len(posts)]
                    )
                    for host in (without, with_telemetry)
                }
                times = await in_turn(actions, _REPETITIONS, warm_up=_WARM_UP, block=1)
                busy = []
                for _ in range(rounds):
                    found = {
                        host: await _processor_s(host, posts, send)
                        for host in random.sample((without, with_telemetry), 2)
                    }
                    busy.append((found[without], found[with_telemetry]))
                results.append(Overhead(name, times[without.endpoint], times[with_telemetry.endpoint], tuple(busy)))
                sys.stderr.write(f"{results[-1].row()}\n")
    return results


def report(started: datetime, rounds: int, results: list[Overhead]) -> str:
    """Return a Markdown page."""
    lines = [
        "# Telemetry overhead",
        "",
        "The app without telemetry, and with OpenTelemetry: every request is traced, and spans and metrics go to an"
        f" OTLP endpoint. p50 is the median response time of one client, whose requests alternate between the two hosts"
        f" (at most {_REPETITIONS:,} each, for a minute). CPU is the host's processor time per request with {_CLIENTS}"
        f" clients, including the export; its change is the median of {rounds} paired ratios of {_SLICE_S:g} s each.",
        "",
        "    python -m bench.telemetry --write",
        "",
        *circumstances(started),
        f"- load average during the last 15 minutes: {os.getloadavg()[2]:.1f}",
        "",
        "| request | p50 without, ms | p50 with, ms | change | CPU without, ms | CPU with, ms | change |",
        "|---|---|---|---|---|---|---|",
        *(each.row() for each in results),
    ]
    return "\n".join(lines) + "\n"


def main(
    rounds: Annotated[int, typer.Option(help="Pairs of loads per request.")] = 24,
    write: Annotated[bool, typer.Option("--write", help="Write the results to docs/benchmarks.")] = False,
) -> None:
    """Measure what telemetry adds to the response times."""
    started = datetime.now(UTC)
    text = report(started, rounds, asyncio.run(measure(rounds)))
    sys.stdout.write(text)
    if write:
        _RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
