"""Measure the emulator's startup time and resident memory."""

from __future__ import annotations

import statistics
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from azure.cosmos.aio import CosmosClient

from bench.blog_items import GROUP, post_id, user_id
from bench.measures.growth import LARGE
from bench.report import TargetResult
from bench.servers import connect, emulator
from bench.sizes import Sizes
from bench.timing import exhaust
from management.account import open_blog
from shared.data.comments import list_comments
from shared.data.feed import FEED_LENGTH, list_recent_posts
from shared.data.posts import get_post, list_posts_of_user

_EMPTY_S: Final = 1.0
_LARGE_S: Final = 2.0
_MEMORY_MB: Final = 300.0
_REQUESTS: Final = 2000
_SERVING_S: Final = 60.0  # afterwards, fewer requests suffice


async def starts(sizes: Sizes, directory: Path, data_dir: Path) -> list[TargetResult]:
    """Measure the median time from process start to the first SDK response, of an empty and a large account.

    The operating system may have cached the files.
    """
    empty = [await _seconds_to_answer(directory / f"empty-{number}", read=False) for number in range(sizes.runs)]
    large = [await _seconds_to_answer(data_dir, read=True) for _ in range(sizes.runs)]
    gigabytes = _bytes_in(data_dir) / 1e9
    return [
        _start("start to first response, no data", _EMPTY_S, empty),
        _start(f"start to first response, {gigabytes:.1f} GB of data", _LARGE_S, large),
    ]


def _start(measure: str, limit_s: float, seconds: list[float]) -> TargetResult:
    detail = f"{min(seconds):.2f} to {max(seconds):.2f} s in {len(seconds)} starts"
    return TargetResult.at_most(measure, limit_s, statistics.median(seconds), " s", detail)


async def _seconds_to_answer(data_dir: Path, *, read: bool) -> float:
    started = time.perf_counter()
    async with emulator(data_dir) as server, connect(server) as client:
        if read:
            await (await open_blog(client, LARGE)).posts.proxy.read_item(post_id(7), post_id(7))
        return time.perf_counter() - started


def _bytes_in(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


async def memory(sizes: Sizes, data_dir: Path) -> TargetResult:
    """Measure the peak resident memory of a new process that serves reads, lists and a large partition."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(data_dir))
        client = await stack.enter_async_context(connect(server))
        served = await _serve(client, sizes)
        now, most = server.memory_bytes()
    return TargetResult.at_most(
        f"peak resident memory, {sizes.large:,} items of about 500 bytes in each of three containers",
        _MEMORY_MB,
        most / 1e6,
        " MB",
        f"{now / 1e6:.0f} MB at the end, after {served:,} reads and lists across all data",
    )


async def _serve(client: CosmosClient, sizes: Sizes) -> int:
    """Send requests, the last for a whole large logical partition; return their number."""
    blog = await open_blog(client, LARGE)
    posts = (sizes.large - sizes.busy) // GROUP
    served = 0
    deadline = time.perf_counter() + _SERVING_S
    for number in range(_REQUESTS // 4):
        if time.perf_counter() > deadline:
            break
        place = number * 7919 % posts  # scattered
        await get_post(blog.posts, post_id(place))
        await list_comments(blog.posts, post_id(place), limit=20, cursor=None)
        await list_posts_of_user(blog.users, user_id(place), limit=20, cursor=None)
        await list_recent_posts(blog.feed, limit=FEED_LENGTH)
        served += 4
    busy = blog.posts.proxy.query_items("SELECT c.id FROM c WHERE c.type = 'comment'", partition_key=post_id(0))
    await exhaust(busy, sizes.busy + 50)
    return served
