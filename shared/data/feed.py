"""The most recent posts in short form, in the single logical partition of `feed`."""

from __future__ import annotations

from shared.data.pages import newest_first
from shared.database.container import Container
from shared.models.base import Item
from shared.models.post import Post

# Also in stored_procedures/truncateFeed.js; a test compares them.
FEED_LENGTH = 100


async def list_recent_posts(feed: Container, *, limit: int) -> list[Item]:
    """Q6. One query in one partition."""
    return await newest_first(feed, Post, Post.TYPE, Post.TYPE, limit=limit, cursor=None)
