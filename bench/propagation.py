"""Time until a new post shows in the lists of copies: `python -m bench.propagation`.

An emulator and a Functions host run without other load. A client creates posts one at a time and polls the author's
posts (Q3) and the feed (Q6) every 10 ms. Random pauses cover every phase of the host's polling. Exits with 1 if the
99th percentile exceeds the target.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.report import circumstances
from bench.servers import emulator, functions_host
from bench.tables import table
from bench.timing import BenchmarkError, Times
from management.provision import provision

_TARGET_S: Final = 1.5
_LOOK_S: Final = 0.01
_GIVEN_UP_S: Final = 30.0
# Longer than the host's delay between idle polls.
_LONGEST_PAUSE_S: Final = 0.7
_WARM_UP: Final = 5
_POSTS: Final = 200
_LISTS: Final = ("Q3, the author's posts", "Q6, the feed")


def main() -> int:
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    times = asyncio.run(measure())
    lines = [
        f"{_POSTS} posts",
        *circumstances(started, load_before),
        "",
        *table(
            ["from the 201 response until shown in", "p50", "p95", "p99", "max"],
            ((name, *(f"{ms:.0f} ms" for ms in _quantiles(measured))) for name, measured in times.items()),
        ),
        "",
    ]
    worst_s = max(measured.p99_ms for measured in times.values()) / 1000
    verdict = "met" if worst_s < _TARGET_S else "missed"
    sys.stdout.write("\n".join([*lines, f"Target, p99 under {_TARGET_S:g} s: {verdict} ({worst_s:.2f} s).\n"]))
    return int(worst_s >= _TARGET_S)


def _quantiles(times: Times) -> tuple[float, ...]:
    return (times.p50_ms, times.p95_ms, times.p99_ms, max(times.seconds) * 1000)


async def measure() -> dict[str, Times]:
    """Return times by list."""
    pauses = random.Random(1)  # noqa: S311 - the same pauses in every run
    seconds: dict[str, list[float]] = {name: [] for name in _LISTS}
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        server = await stack.enter_async_context(emulator(directory))
        settings = server.settings("blog")
        await provision(settings)
        host = await stack.enter_async_context(functions_host(settings))
        session = await stack.enter_async_context(aiohttp.ClientSession(host.endpoint, raise_for_status=True))
        author = await _created(session, "/api/users", {"username": "ada"})
        paths = (f"/api/users/{author['id']}/posts?limit=1", "/api/feed?limit=1")
        for done in range(_WARM_UP + _POSTS):
            await asyncio.sleep(pauses.uniform(0, _LONGEST_PAUSE_S))
            post = await _created(session, "/api/posts", _post(author, done))
            started = time.perf_counter()
            shown = await asyncio.gather(*(_shown(session, path, post["id"], started) for path in paths))
            if done >= _WARM_UP:
                for name, passed in zip(_LISTS, shown, strict=True):
                    seconds[name].append(passed)
    return {name: Times(tuple(passed)) for name, passed in seconds.items()}


def _post(author: dict[str, Any], number: int) -> dict[str, str]:
    return {"userId": author["id"], "title": f"Post {number}", "content": "word " * 296}


async def _created(session: aiohttp.ClientSession, path: str, body: dict[str, str]) -> dict[str, Any]:
    async with session.post(path, json=body) as answer:
        return dict(await answer.json())


async def _shown(session: aiohttp.ClientSession, path: str, post_id: str, started: float) -> float:
    """Return the seconds until the list starts with the post. Raises BenchmarkError after 30 s."""
    while (passed := time.perf_counter() - started) < _GIVEN_UP_S:
        async with session.get(path) as answer:
            items = (await answer.json())["items"]
        if items and items[0]["id"] == post_id:
            return time.perf_counter() - started
        await asyncio.sleep(_LOOK_S)
    raise BenchmarkError(f"{path} does not show a post after {passed:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
