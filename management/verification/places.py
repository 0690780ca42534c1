"""Where an item is."""

from __future__ import annotations

from dataclasses import dataclass

from shared.containers import FEED, POSTS, USERS
from shared.data.blog import Blog
from shared.platform.database.container import Container


@dataclass(frozen=True)
class Place:
    """An item's container, partition key and ID, and its type for the report."""

    container: str
    partition_key: str
    item_id: str
    item_type: str


def container_of(blog: Blog, name: str) -> Container:
    """Return one of the containers with posts or copies."""
    return {POSTS: blog.posts, USERS: blog.users, FEED: blog.feed}[name]
