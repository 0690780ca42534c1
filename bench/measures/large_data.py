"""Measure import, requests, startup and memory with a million items per container.

One data directory holds a small and a large database.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.blog_items import feed_items, posts_items, users_items
from bench.loading import import_items, write_lines
from bench.measures import growth, process
from bench.report import TargetResult
from bench.servers import emulator
from bench.sizes import Sizes
from management.provision import provision
from shared.database.containers import FEED, POSTS, USERS
from shared.models.base import Item

_PER_SECOND: Final = 10_000


async def measure(sizes: Sizes, directory: Path) -> list[TargetResult]:
    data_dir = directory / "data"
    async with emulator(data_dir) as server:
        for database in (growth.SMALL, growth.LARGE):
            await provision(server.settings(database))
    rate = await _fill(sizes, directory, data_dir)
    loaded = TargetResult(
        f"import of {sizes.large:,} items into a container with the blog's indexing policy",
        f"at least {_PER_SECOND:,}/s",
        f"{rate:,.0f}/s",
        rate >= _PER_SECOND,
        "the whole process, including its start",
    )
    return [
        loaded,
        *await growth.measure(sizes, data_dir),
        *await process.starts(sizes, directory, data_dir),
        await process.memory(sizes, data_dir),
    ]


async def _fill(sizes: Sizes, directory: Path, data_dir: Path) -> float:
    """Fill both databases; return the items per second of the large `posts`."""
    rate = 0.0
    for database, container, items in _contents(sizes):
        file = directory / "items.jsonl"
        count = write_lines(file, items)
        rate = count / await import_items(data_dir, database, container, file)
        file.unlink()
    return rate


def _contents(sizes: Sizes) -> Iterator[tuple[str, str, Iterator[Item]]]:
    for database, count, busy in ((growth.SMALL, sizes.small, 0), (growth.LARGE, sizes.large, sizes.busy)):
        yield database, USERS, users_items(count)
        yield database, FEED, feed_items(count)
        yield database, POSTS, posts_items(count, busy=busy)
