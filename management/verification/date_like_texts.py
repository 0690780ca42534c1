"""Find texts that the Functions host treats as dates, written before the blog stored them in another form."""

from __future__ import annotations

from dataclasses import dataclass

from shared.data.blog import Blog
from shared.database.container import Container
from shared.database.containers import FEED, POSTS, USERS
from shared.database.date_like_texts import TEXTS, UNMARKED

_PAGE_SIZE = 1000

_PARTITION_KEYS = {POSTS: "postId", USERS: "userId", FEED: "type"}
_FOUND = "(" + " OR ".join(f"REGEXMATCH(c.{name}, @pattern, 's')" for name in TEXTS) + ")"


@dataclass(frozen=True)
class Place:
    """An item's container, partition key and ID, and its type for the report."""

    container: str
    partition_key: str
    item_id: str
    item_type: str


async def find_date_like_texts(blog: Blog) -> list[Place]:
    """Query the stored texts of all items, because `Container` returns both forms alike."""
    places: list[Place] = []
    for name, key in _PARTITION_KEYS.items():
        query = f"SELECT c.id, c.{key} AS partitionKey, c.type FROM c WHERE {_FOUND} AND IS_STRING(c.{key})"  # noqa: S608 - constants
        rows = container_of(blog, name).query_across(query, {"pattern": UNMARKED}, page_size=_PAGE_SIZE)
        places += [Place(name, row["partitionKey"], row["id"], str(row.get("type"))) async for row in rows]
    return places


async def is_date_like(blog: Blog, place: Place) -> bool:
    """Return whether the item still has such a text: one query in one partition."""
    rows = await container_of(blog, place.container).query(
        f"SELECT VALUE c.id FROM c WHERE c.id = @id AND {_FOUND}",  # noqa: S608 - constants
        {"id": place.item_id, "pattern": UNMARKED},
        partition_key=place.partition_key,
        page_size=1,
    )
    return bool(rows)


def container_of(blog: Blog, name: str) -> Container:
    """Return one of the containers with posts or copies."""
    return {POSTS: blog.posts, USERS: blog.users, FEED: blog.feed}[name]
