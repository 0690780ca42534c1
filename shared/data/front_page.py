"""The front page: one query of `feed` per second serves every request of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from async_lru import alru_cache

from shared.data.posts import FRONT_PAGE_LENGTH, list_recent_posts
from shared.models.post import Post
from shared.platform.database.container import Container
from shared.platform.database.scope import deadline

CACHE_S = 1.0
# A query that takes longer is cancelled and sent again: its connection may be dead, and other requests wait for it.
RESEND_AFTER_S = 1.0
# Less than the deadline of a request, so that the error of a shared query still reaches all its requests.
FRONT_PAGE_DEADLINE_S = 9.0


@dataclass(frozen=True, eq=False)
class FrontPage:
    """The posts of one query, as JSON values. Compared by identity, so that a response can be cached for each query."""

    posts: list[dict[str, Any]]


def front_page_reader(
    open_feed: Callable[[], Awaitable[Container]],
    *,
    cache_s: float = CACHE_S,
    resend_after_s: float = RESEND_AFTER_S,
    deadline_s: float = FRONT_PAGE_DEADLINE_S,
) -> Callable[[], Awaitable[FrontPage]]:
    """Return a function that reads the front page, at most once in `cache_s` seconds.

    Concurrent calls share one query, which is charged to the request that started it. Errors are not cached. The
    function raises DatabaseThrottled, DatabaseUnavailable.
    """

    @alru_cache(maxsize=1, ttl=cache_s)
    async def read() -> FrontPage:
        async with deadline(deadline_s):
            feed = await open_feed()
            with suppress(TimeoutError):
                async with asyncio.timeout(resend_after_s):
                    return await _read(feed)
            return await _read(feed)

    return read


async def _read(feed: Container) -> FrontPage:
    return FrontPage([Post.serialize(item) for item in await list_recent_posts(feed, limit=FRONT_PAGE_LENGTH)])
