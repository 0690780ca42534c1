"""The front page: one query of `feed` per second serves every request of the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import azure.functions as func
from async_lru import alru_cache

from shared.data.posts import FRONT_PAGE_LENGTH, list_recent_posts
from shared.database.charges import deadline
from shared.database.container import Container
from shared.database.retries import FRONT_PAGE_DEADLINE_S
from shared.http.calls import Call
from shared.http.responses import Document, served, shown
from shared.models.post import Post

KEPT_S = 1.0
# A query that takes longer is cancelled and sent again: its connection may be dead, and other requests wait for it.
HELD_UP_S = 1.0
# A cached page is at most two seconds old, one here and one downstream. Revalidation can add another.
CACHE_CONTROL = "public, max-age=1, stale-while-revalidate=1"


@dataclass
class FrontPage:
    """The posts of one query, serialized and compressed once per limit."""

    posts: list[dict[str, Any]]
    _lists: dict[int, Document] = field(default_factory=dict)

    def response(self, call: Call[None]) -> func.HttpResponse:
        """Return 200 with the `limit` most recent posts, or 304 if If-None-Match names that list."""
        if call.limit not in self._lists:
            text = json.dumps({"items": self.posts[: call.limit]}, ensure_ascii=False, separators=(",", ":"))
            self._lists[call.limit] = Document(text.encode(), "application/json", CACHE_CONTROL)
        return served(call, self._lists[call.limit])


def front_page_reader(
    open_feed: Callable[[], Awaitable[Container]], *, kept_s: float = KEPT_S
) -> Callable[[], Awaitable[FrontPage]]:
    """Return a function that reads the front page, at most once in `kept_s` seconds.

    Concurrent calls share one query, which is charged to the request that started it. Errors are not cached. The
    function raises DatabaseThrottled, DatabaseUnavailable.
    """

    @alru_cache(maxsize=1, ttl=kept_s)
    async def read() -> FrontPage:
        async with deadline(FRONT_PAGE_DEADLINE_S):
            feed = await open_feed()
            with suppress(TimeoutError):
                async with asyncio.timeout(HELD_UP_S):
                    return await _read(feed)
            return await _read(feed)

    return read


async def _read(feed: Container) -> FrontPage:
    items = await list_recent_posts(feed, limit=FRONT_PAGE_LENGTH)
    return FrontPage([shown(Post, item) for item in items])
