"""The front page: one query of `feed` per second serves every request of the process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from async_lru import alru_cache

from shared.containers import FEED
from shared.models.post import Post
from shared.platform.data.pages import in_order, without_damaged
from shared.platform.database.client import open_container
from shared.platform.database.container import Container
from shared.platform.database.scope import deadline, nested_scope
from shared.platform.models import Item

# Posts on the front page. Also in stored_procedures/truncateFeed.js; a test compares them.
FRONT_PAGE_LENGTH = 100
CACHE_S = 1.0
# Less than the deadline of a request, so that the error of a shared query still reaches all its requests.
FRONT_PAGE_DEADLINE_S = 9.0


@dataclass(frozen=True, eq=False)
class FrontPage:
    """The posts of one query, as JSON values. Compared by identity, so that a response can be cached for each query."""

    posts: list[dict[str, Any]]


@alru_cache(maxsize=1, ttl=CACHE_S)
async def front_page() -> FrontPage:
    """Read the front page, at most once in `CACHE_S` seconds. Raises DatabaseThrottled, DatabaseUnavailable.

    Concurrent calls share one query, which is charged to the request that started it. Errors are not cached.
    """
    with nested_scope():  # without the session of one request, whose token could delay or fail the others
        async with deadline(FRONT_PAGE_DEADLINE_S):
            posts = await list_recent_posts(await open_container(FEED))
    return FrontPage([Post.serialize(post) for post in posts])


async def list_recent_posts(feed: Container) -> list[Item]:
    """Q6, the posts of the front page: one query in the only partition of `feed`."""
    newest = await in_order(feed, Post, Post.TYPE, Post.TYPE, limit=FRONT_PAGE_LENGTH, cursor=None)
    return without_damaged(Post, newest)
