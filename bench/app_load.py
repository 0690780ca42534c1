"""Throughput and startup time of the app with 50 clients: `python -m bench.app_load`; `--write` keeps the results.

Emulator, Functions host and clients are separate processes on one machine. The emulator models the request charges.
"""

from __future__ import annotations

import asyncio
import pstats
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from aiohttp import ClientSession, TCPConnector

from bench import servers
from bench.report import circumstances
from bench.servers import REPOSITORY, Server
from bench.timing import BenchmarkError
from management.commands import seed_database
from management.provision import provision
from management.seeding.plan import SeedPlan
from shared.settings import Settings

_CLIENTS: Final = 50
_WARM_UP_S: Final = 2.0
_DATABASE: Final = "load"
_STARTS: Final = 5
_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "app-load.md"
# Labels by path for the profile; the first match counts.
_PLACES: Final = (
    (f"{REPOSITORY.as_posix()}/shared/", "the app: shared/"),
    (f"{REPOSITORY.as_posix()}/functions/", "the app: functions/"),
    ("/functions_host/", "local Functions host"),
    ("/azure/cosmos/", "azure-cosmos"),
    ("/azure/", "azure-core, azure-functions"),
    ("/aiohttp/", "aiohttp"),
    ("/pydantic/", "pydantic"),
    ("/json/", "json"),
    ("/asyncio/", "asyncio"),
    ("/logging/", "logging"),
    ("importlib", "imports at startup"),
)
_BUILT_IN: Final = "~"


@dataclass(frozen=True)
class LoadResult:
    name: str
    seconds: tuple[float, ...]
    lasted_s: float
    request_units: float

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.lasted_s

    @property
    def per_thousand_ru(self) -> float:
        return 1000 * self.request_units / len(self.seconds)

    def row(self) -> str:
        ordered = sorted(self.seconds)
        p50, p95 = statistics.median(ordered), ordered[int(0.95 * len(ordered))]
        return (
            f"| {self.name} | {len(ordered):,} | {self.per_second:,.0f} | {p50 * 1000:.1f} | {p95 * 1000:.1f} |"
            f" {self.per_thousand_ru:,.1f} |"
        )


async def load(url: str, name: str, path: str, seconds: float) -> LoadResult:
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
        for lasting in (_WARM_UP_S, seconds):
            times.clear()
            charges.clear()
            begun = time.perf_counter()
            await asyncio.gather(*(client(session, begun + lasting) for _ in range(_CLIENTS)))
            lasted_s = time.perf_counter() - begun
    return LoadResult(name, tuple(times), lasted_s, sum(charges))


@asynccontextmanager
async def _blog(directory: Path, *, profile: Path | None = None) -> AsyncIterator[tuple[Server, str]]:
    """Start the app with a small blog; yield the host and a post's ID."""
    async with servers.emulator(None) as emulator:
        settings = emulator.settings(_DATABASE)
        await provision(settings)
        await seed_database(settings, SeedPlan(), if_empty=True, concurrency=16)
        async with servers.functions_host(settings, directory, profile=profile) as host:
            yield host, await _some_post(host.endpoint)


async def _some_post(url: str) -> str:
    async with ClientSession() as session, session.get(f"{url}/api/feed?limit=1") as answer:
        return str((await answer.json())["items"][0]["id"])


async def loads(seconds: float) -> list[LoadResult]:
    """Measure Q2 and Q6."""
    with tempfile.TemporaryDirectory() as directory:
        async with _blog(Path(directory)) as (host, post_id):
            return [
                await load(host.endpoint, "Q2, `GET /api/posts/{postId}`", f"/api/posts/{post_id}", seconds),
                await load(host.endpoint, "Q6, `GET /api/feed` (20 posts)", "/api/feed", seconds),
                await load(host.endpoint, "Q6, `GET /api/feed?limit=100`", "/api/feed?limit=100", seconds),
            ]


async def profile(path: str, seconds: float) -> list[tuple[str, float]]:
    """Profile the host and return shares of its CPU time by place. `path` is formatted with a post ID."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "host.profile"
        async with _blog(Path(directory), profile=file) as (host, post_id):
            await load(host.endpoint, path, path.format(post=post_id), seconds)
        stats = pstats.Stats(str(file)).stats  # type: ignore[attr-defined]  # missing in typeshed
    by_place: defaultdict[str, float] = defaultdict(float)
    for (source, _, function), (_, _, own_s, _, callers) in stats.items():
        if source != _BUILT_IN:
            by_place[place(source)] += own_s
        elif "poll" not in function:  # poll waits; other built-ins count for their callers
            for (caller, _, _), (_, _, for_caller_s, _) in callers.items():
                by_place[place(caller)] += for_caller_s
    total = sum(by_place.values())
    return sorted(((label, own_s / total) for label, own_s in by_place.items()), key=lambda entry: -entry[1])


def place(source: str) -> str:
    """Return the label of a source file."""
    return next((label for part, label in _PLACES if part in Path(source).as_posix()), "other")


async def first_answers() -> list[float]:
    """Return the seconds from each start of a host to its first response."""
    seconds = []
    async with servers.emulator(None) as emulator:
        settings = emulator.settings(_DATABASE)
        await provision(settings)
        for _ in range(_STARTS):
            with tempfile.TemporaryDirectory() as directory:
                started = time.perf_counter()
                async with servers.functions_host(settings, Path(directory)) as host:
                    await _first_answer(host.endpoint, settings)
                    seconds.append(time.perf_counter() - started)
    return seconds


async def _first_answer(url: str, settings: Settings) -> None:
    async with ClientSession() as session, session.get(f"{url}/api/feed") as answer:
        if answer.status != 200:
            raise BenchmarkError(f"the first request to {settings.database} returned {answer.status} instead of 200")


async def report(seconds: float) -> str:
    """Measure everything and return a Markdown page."""
    started = datetime.now(UTC)
    starts = await first_answers()
    measured = await loads(seconds)
    profiles = {name: await profile(path, seconds) for name, path in (("Q2", "/api/posts/{post}"), ("Q6", "/api/feed"))}
    lines = [
        "# The app under load",
        "",
        f"{_CLIENTS} clients each send one request after another for {seconds:g} s. Emulator, Functions host and"
        " clients are three processes on one machine. Request charges are modeled.",
        "",
        "    python -m bench.app_load --write",
        "",
        *circumstances(started),
        "",
        "| request | requests | per second | p50, ms | p95, ms | RU per 1,000 requests |",
        "|---|---|---|---|---|---|",
        *(each.row() for each in measured),
        "",
        f"Time from starting the host process to its first response: {statistics.median(starts):.2f} s"
        f" (median of {len(starts)}, {min(starts):.2f} to {max(starts):.2f}).",
        "",
        "## CPU profile",
        "",
        "Shares of the host process's CPU time under the same load, measured with cProfile, which slows Python code"
        " more than C code.",
        "",
        "| | " + " | ".join(profiles) + " |",
        "|---|" + "---|" * len(profiles),
        *_profile_rows(profiles),
    ]
    return "\n".join(lines) + "\n"


def _profile_rows(profiles: dict[str, list[tuple[str, float]]]) -> list[str]:
    places = {place: None for shares in profiles.values() for place, _ in shares}
    rows = []
    for place in places:
        figures = [dict(shares).get(place, 0.0) for shares in profiles.values()]
        rows.append(f"| {place} | " + " | ".join(f"{figure:.0%}" for figure in figures) + " |")
    return rows


def main(
    seconds: Annotated[float, typer.Option(help="Duration of each load, in seconds.")] = 10.0,
    write: Annotated[bool, typer.Option("--write", help="Write the results to docs/benchmarks.")] = False,
) -> None:
    """Measure the app's throughput with 50 clients, and its startup."""
    text = asyncio.run(report(seconds))
    sys.stdout.write(text)
    if write:
        _RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
