"""Measure the time of a change feed batch, and the CPU time of a request and a change.

The emulator runs in a separate process and delays responses by `LATENCY_MS`, like a database in the same region. CPU
time is that of the measured process only. It hardly depends on other load; elapsed times do.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import aiohttp

from bench.request_charges import add_like, add_post, add_user
from bench.servers import Server, connect, emulator, functions_host
from management.account import open_blog
from management.provision import provision
from shared.data.blog import Blog
from shared.data.posts import get_post
from shared.models.base import Item
from shared.propagation.posts import PostChangeHandler

LATENCY_MS: Final = 10
BATCH: Final = 100
_ROUNDS: Final = 9
_REQUESTS: Final = 600
_CLIENTS: Final = 16
_DATABASE: Final = "timings"

Made = TypeVar("Made")


@dataclass(frozen=True)
class Timings:
    """Seconds of a batch of 100 changes, the fastest of nine, and CPU seconds.

    `spread_s`: 50 likes of as many posts; `hot_s`: 99 likes of one post. `change_cpu_s` is per change of the former.
    `request_cpu_s` is one Q2 on the local Functions host (server, app and SDK).
    """

    spread_s: float
    hot_s: float
    change_cpu_s: float
    request_cpu_s: float

    @property
    def spread_changes_per_s(self) -> float:
        return BATCH / self.spread_s

    @property
    def hot_changes_per_s(self) -> float:
        return BATCH / self.hot_s


async def measure_timings() -> Timings:
    """Measure everything; takes up to a minute."""
    with tempfile.TemporaryDirectory(prefix="timings-") as directory:
        async with emulator(None, "--latency", f"{LATENCY_MS}ms") as server:
            await provision(server.settings(_DATABASE))
            async with connect(server) as client:
                blog = await open_blog(client, _DATABASE)
                people = await _together(BATCH - 1, lambda number: add_user(blog, f"person_{number:03}"))
                posts = await _together(BATCH // 2, lambda number: add_post(blog, people[number]))
                spread, cpu = await _spread(blog, people, posts)
                hot = await _hot(blog, people, posts[0])
                request_cpu_s = await _request_cpu_s(server, Path(directory), posts[0]["id"])
        return Timings(spread, hot, cpu / BATCH, request_cpu_s)


async def _spread(blog: Blog, people: list[Item], posts: list[Item]) -> tuple[float, float]:
    likes = await _together(len(posts), lambda number: add_like(blog, posts[number], people[-1 - number]))
    changes = likes + await _together(len(posts), lambda number: get_post(blog.posts, posts[number]["id"]))
    return await _fastest(blog, changes)


async def _hot(blog: Blog, people: list[Item], post: Item) -> float:
    likes = await _together(len(people), lambda number: add_like(blog, post, people[number]))
    seconds, _ = await _fastest(blog, [*likes, await get_post(blog.posts, post["id"])])
    return seconds


async def _fastest(blog: Blog, changes: list[Item]) -> tuple[float, float]:
    """Return the seconds and CPU seconds of the fastest batch.

    Each round uses newer versions of the posts, so that copies are written. The first, which creates them, does not
    count.
    """
    handler = PostChangeHandler(blog)
    seconds, cpu = [], []
    for number in range(_ROUNDS + 1):
        later = [_later(change, number) for change in changes]
        began, cpu_began = time.perf_counter(), time.process_time()
        await handler.on_changed(later)
        seconds.append(time.perf_counter() - began)
        cpu.append(time.process_time() - cpu_began)
    return min(seconds[1:]), min(cpu[1:])


def _later(change: Item, number: int) -> Item:
    return change | {"version": change["version"] + number} if "version" in change else change


async def _request_cpu_s(server: Server, directory: Path, post_id: str) -> float:
    async with functions_host(server.settings(_DATABASE), directory) as host, aiohttp.ClientSession() as session:

        async def get(_: int) -> None:
            async with session.get(f"{host.endpoint.rstrip('/')}/api/posts/{post_id}") as answer:
                answer.raise_for_status()
                await answer.read()

        await _together(_CLIENTS, get)
        before = _cpu_s(host)
        await _together(_REQUESTS, get)
        return (_cpu_s(host) - before) / _REQUESTS


def _cpu_s(server: Server) -> float:
    """Return user plus system time (proc_pid_stat(5))."""
    stat = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="utf-8")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _together(count: int, make: Callable[[int], Awaitable[Made]]) -> list[Made]:
    """Run up to `_CLIENTS` calls at a time; return results in order."""
    slots = asyncio.Semaphore(_CLIENTS)

    async def one(number: int) -> Made:
        async with slots:
            return await make(number)

    return list(await asyncio.gather(*(one(number) for number in range(count))))
