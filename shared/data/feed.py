"""The front page: the most recent posts in short form, in the one logical partition of `feed`."""

from __future__ import annotations

from shared.cosmos import Container
from shared.data.pages import newest_first
from shared.models.base import Item
from shared.models.post import Post

# The same number stands in stored_procedures/truncateFeed.js; a test holds the two together.
FEED_LENGTH = 100


async def list_recent_posts(feed: Container, *, limit: int) -> list[Item]:
    """Q6. One query inside the one partition of `feed`."""
    return await newest_first(feed, Post, partition_key=Post.TYPE, types=(Post.TYPE,), limit=limit)
