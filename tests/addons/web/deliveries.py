"""Whether change feeds have delivered what a test waits for."""

from __future__ import annotations

from tests.api import Api, Json


async def feed_has(api: Api, count: int) -> bool:
    return len((await api.get_feed(limit=100)).body["items"]) >= count


async def has_copies(api: Api, author: Json, count: int) -> bool:
    return len((await api.list_user_posts(author["id"])).body["items"]) == count
