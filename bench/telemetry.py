"""What telemetry costs a request: `python -m bench.telemetry`; `--write` keeps the results.

Functions hosts run the app on one database: one without telemetry, one with OpenTelemetry and an OTLP endpoint, and a
second one without telemetry as the control. They take turns, so that other load on the machine affects all alike. Two
processes that run the same code differ by a few percent, so every round starts new ones.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from aiohttp import ClientSession, TCPConnector

from bench import servers
from bench.report import circumstances
from bench.servers import REPOSITORY, Server
from bench.timing import Action, BenchmarkError, Times, in_turn
from management.commands import seed_database
from management.provision import provision
from management.seeding.plan import SeedPlan
from shared.settings import Settings

_DATABASE: Final = "telemetry"
_SLICE_S: Final = 1.0
_REPETITIONS: Final = 1_000
_WARM_UP: Final = 50
_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "telemetry.md"
_CLIENTS: Final = 50
# Change-feed functions would work for requests that have long ended.
_QUIET: Final = {f"AzureWebJobs.on_{name}_changed.Disabled": "true" for name in ("posts", "users")}

_random: Final = random.Random()  # noqa: S311 - not secret

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


# The kinds of hosts.
_WITHOUT, _CONTROL, _WITH = _KINDS = ("without", "control", "with")


@dataclass(frozen=True)
class Round:
    """By kind of host: response times of one client, and processor time per request with many."""

    times: Mapping[str, Times]
    processor_s: Mapping[str, float]


@dataclass
class Overhead:
    """What the rounds found about one request."""

    name: str
    rounds: list[Round] = field(default_factory=list)

    def row(self) -> str:
        p50_ms = [{kind: times.p50_ms for kind, times in one.times.items()} for one in self.rounds]
        busy_ms = [{kind: seconds * 1000 for kind, seconds in one.processor_s.items()} for one in self.rounds]
        return f"| {self.name} | {_columns(p50_ms)} | {_columns(busy_ms)} |"


def _columns(figures: Sequence[Mapping[str, float]]) -> str:
    """Medians without and with telemetry, and the medians of each round's ratios."""
    plain, traced = (statistics.median(one[kind] for one in figures) for kind in (_WITHOUT, _WITH))
    # Both processes without telemetry are equally good references.
    added = statistics.median(one[_WITH] / statistics.mean((one[_WITHOUT], one[_CONTROL])) for one in figures)
    noise = statistics.median(max(pair) / min(pair) for pair in ((one[_WITHOUT], one[_CONTROL]) for one in figures))
    return f"{plain:.2f} | {traced:.2f} | {added - 1:+.1%} | {noise - 1:.1%}"


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
            await _request(session, send, host.endpoint, _random.choice(posts))
            count += 1

    async with ClientSession(connector=TCPConnector(limit=_CLIENTS)) as session:
        before_s, until = host.processor_s(), time.perf_counter() + _SLICE_S
        await asyncio.gather(*(client(session, until) for _ in range(_CLIENTS)))
        return (host.processor_s() - before_s) / count


@asynccontextmanager
async def _hosts(settings: Settings, sink: Server, directory: Path) -> AsyncIterator[dict[str, Server]]:
    """Yield one host of each kind."""
    environments = dict.fromkeys(_KINDS, _QUIET) | {_WITH: {**_QUIET, "OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint}}
    async with AsyncExitStack() as stack:
        hosts = {}
        # No kind is always the first to start.
        for kind in _random.sample(_KINDS, len(_KINDS)):
            state_dir = directory / kind
            state_dir.mkdir(parents=True)
            started = servers.functions_host(settings, state_dir, environment=environments[kind])
            hosts[kind] = await stack.enter_async_context(started)
        yield hosts


async def measure(rounds: int) -> list[Overhead]:
    """Measure every request in each round."""
    results = {name: Overhead(name) for name in _REQUESTS}
    with tempfile.TemporaryDirectory() as directory:
        async with servers.emulator(None) as emulator, servers.telemetry_sink() as sink:
            settings = emulator.settings(_DATABASE)
            await provision(settings)
            await seed_database(settings, SeedPlan(), if_empty=True, concurrency=16)
            for number in range(rounds):
                async with _hosts(settings, sink, Path(directory) / str(number)) as hosts:
                    for name, send in _REQUESTS.items():
                        results[name].rounds.append(await _measure(hosts, send))
                sys.stderr.write(f"round {number + 1} of {rounds}\n")
    return list(results.values())


async def _measure(hosts: Mapping[str, Server], send: Send) -> Round:
    async with ClientSession() as session:
        async with session.get(f"{hosts[_WITHOUT].endpoint}/api/feed?limit=100") as answer:
            posts = (await answer.json())["items"]

        def action(url: str) -> Action:
            return lambda number: _request(session, send, url, posts[number % len(posts)])

        actions = {kind: action(host.endpoint) for kind, host in hosts.items()}
        times = await in_turn(actions, _REPETITIONS, warm_up=_WARM_UP, block=1)
    order = _random.sample(_KINDS, len(_KINDS))
    return Round(times, {kind: await _processor_s(hosts[kind], posts, send) for kind in order})


def report(started: datetime, rounds: int, results: list[Overhead]) -> str:
    """Return a Markdown page."""
    lines = [
        "# Telemetry overhead",
        "",
        "The app without telemetry, and with OpenTelemetry: every request is traced, and spans and metrics go to an"
        f" OTLP endpoint. p50 is the median response time of one client, whose requests alternate between the hosts"
        f" ({_REPETITIONS:,} each, at most a minute). CPU is the host's processor time per request with {_CLIENTS}"
        f" clients during {_SLICE_S:g} s, including the export. Each of the {rounds} rounds starts new hosts; figures"
        " are medians of the rounds. The noise is the difference between the two hosts without telemetry;"
        " smaller changes are not significant.",
        "",
        "    python -m bench.telemetry --write",
        "",
        *circumstances(started),
        f"- load average during the last 15 minutes: {os.getloadavg()[2]:.1f}",
        "",
        "| request | p50 without, ms | p50 with, ms | change | noise"
        " | CPU without, ms | CPU with, ms | change | noise |",
        "|---|---|---|---|---|---|---|---|---|",
        *(each.row() for each in results),
    ]
    return "\n".join(lines) + "\n"


def main(
    rounds: Annotated[int, typer.Option(help="Rounds, each with new hosts.")] = 5,
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
