"""Measure import, startup and memory with a million items per container."""

from __future__ import annotations

import statistics
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.blog_items import GROUP, feed_items, post_id, posts_items, user_id, users_items
from bench.loading import import_items
from bench.report import TargetResult
from bench.servers import connect, emulator
from bench.timing import exhaust
from management.account import open_containers
from management.provision import provision
from shared.containers import FEED, POSTS, USERS
from shared.data.blog import Blog
from shared.data.comments import list_comments
from shared.data.front_page import list_recent_posts
from shared.data.posts import get_post, list_posts_of_user

_DATABASE: Final = "large"
_ITEMS: Final = 1_000_000  # in each container
_BUSY: Final = 100_000  # of them in one logical partition
_RUNS: Final = 7
_IMPORTS_PER_S: Final = 10_000
_PAGE: Final = 20
# A prime stride visits all logical partitions in scattered order.
_STRIDE: Final = 7919
_SERVED: Final = 2000
_SERVING_S: Final = 60.0  # afterwards, fewer requests suffice


async def measure(directory: Path) -> list[TargetResult]:
    data_dir = directory / "data"
    async with emulator(data_dir) as server:
        await provision(server.settings(_DATABASE))
    await import_items(data_dir, _DATABASE, USERS, users_items(_ITEMS))
    await import_items(data_dir, _DATABASE, FEED, feed_items(_ITEMS))
    rate = await import_items(data_dir, _DATABASE, POSTS, posts_items(_ITEMS, busy=_BUSY))
    loaded = TargetResult(
        f"import of {_ITEMS:,} items into a container with the blog's indexing policy",
        f"at least {_IMPORTS_PER_S:,}/s",
        f"{rate:,.0f}/s",
        rate >= _IMPORTS_PER_S,
        "the whole process, including its start",
    )
    return [loaded, *await _starts(directory, data_dir), await _memory(data_dir)]


async def _starts(directory: Path, data_dir: Path) -> list[TargetResult]:
    """Measure the median time from process start to the first SDK response, of an empty and a large account.

    The operating system may have cached the files.
    """
    empty = [await _seconds_to_answer(directory / f"empty-{number}", read=False) for number in range(_RUNS)]
    large = [await _seconds_to_answer(data_dir, read=True) for _ in range(_RUNS)]
    gigabytes = _bytes_in(data_dir) / 1e9
    return [
        TargetResult.at_most(
            f"start to first response, {data}",
            limit_s,
            statistics.median(seconds),
            " s",
            f"{min(seconds):.2f} to {max(seconds):.2f} s in {len(seconds)} starts",
        )
        for data, limit_s, seconds in (("no data", 1.0, empty), (f"{gigabytes:.1f} GB of data", 2.0, large))
    ]


def _bytes_in(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


async def _seconds_to_answer(data_dir: Path, *, read: bool) -> float:
    started = time.perf_counter()
    async with emulator(data_dir) as server, connect(server) as client:
        if read:
            await (await open_containers(client, _DATABASE)).posts.proxy.read_item(post_id(7), post_id(7))
        return time.perf_counter() - started


async def _memory(data_dir: Path) -> TargetResult:
    """Measure the peak resident memory of a new process that serves reads, lists and a large partition."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(data_dir))
        client = await stack.enter_async_context(connect(server))
        served = await _serve(await open_containers(client, _DATABASE))
        now, most = server.memory_bytes()
    return TargetResult.at_most(
        f"peak resident memory, {_ITEMS:,} items of about 500 bytes in each of three containers",
        300.0,
        most / 1e6,
        " MB",
        f"{now / 1e6:.0f} MB at the end, after {served:,} reads and lists across all data",
    )


async def _serve(blog: Blog) -> int:
    """Send requests, the last for a whole large logical partition; return their number."""
    served, deadline = 0, time.perf_counter() + _SERVING_S
    while served < _SERVED and time.perf_counter() < deadline:
        place = served // 4 * _STRIDE % ((_ITEMS - _BUSY) // GROUP)
        await get_post(blog.posts, post_id(place))
        await list_comments(blog.posts, post_id(place), limit=_PAGE, cursor=None)
        await list_posts_of_user(blog.users, user_id(place), limit=_PAGE, cursor=None)
        await list_recent_posts(blog.feed)
        served += 4
    busy = blog.posts.proxy.query_items("SELECT c.id FROM c WHERE c.type = 'comment'", partition_key=post_id(0))
    await exhaust(busy, _BUSY + 50)
    return served
