"""V2 with global secondary indexes of `posts` in place of V3's copies.

The article is older than these indexes. The service updates them later than `posts`. What it charges for that is not
documented, and the emulator charges nothing: docs/benchmarks/secondary-indexes.md has an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from azure.cosmos.aio import ContainerProxy

from bench.models.interface import FRONT_PAGE_LENGTH, ContainerPlan, ModelFeed, PostView
from bench.models.v1 import USERS, rows_in
from bench.models.v2 import POSTS, POSTS_WITH_NAME, V2, short
from shared.containers import container_definitions
from shared.platform.models import Item

# All that a list of posts shows. An index has no WHERE, so comments and likes are in it, too.
PROPERTIES: Final = (
    *("id", "type", "postId", "userId", "userUsername", "title", "content"),
    *("commentCount", "likeCount", "creationDate"),
)
# In the order of the policy's composite index, so that only the returned posts are read.
NEWEST: Final = "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.type DESC, c.creationDate DESC, c.id DESC"


def index_of_posts(name: str, key: str, properties: Sequence[str]) -> ContainerPlan:
    """Define an index with this partition key and the policy of this project's `users`, which serves such lists."""
    definition = f"SELECT {', '.join(f'c.{one}' for one in properties)} FROM c"  # noqa: S608 - names from the code
    return ContainerPlan(
        {
            "id": name,
            "partitionKey": {"paths": [f"/{key}"], "kind": "Hash", "version": 2},
            "indexingPolicy": next(one for one in container_definitions() if one["id"] == "users")["indexingPolicy"],
            "globalSecondaryIndex": {"sourceCollectionId": POSTS.name, "definition": definition},
        }
    )


BY_USER: Final = index_of_posts("by-user", "userId", PROPERTIES)
BY_TYPE: Final = index_of_posts("by-type", "type", PROPERTIES)


class V4(V2):
    """Writes like V2; lists from indexes."""

    NAME: ClassVar[str] = "V4"
    CONTAINERS: ClassVar[Sequence[ContainerPlan]] = (USERS, POSTS, BY_USER, BY_TYPE)

    @property
    def by_user(self) -> ContainerProxy:
        return self.database.get_container_client(BY_USER.name)

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        return (*super().change_feeds, ModelFeed(BY_USER.name, self.on_indexed))

    async def posts_with_name(self, user_id: str) -> list[str]:
        """Send one single-partition query, which does not find what the index still lacks."""
        return await rows_in(self.by_user, POSTS_WITH_NAME, user_id, userId=user_id)

    async def on_indexed(self, changes: list[Item]) -> None:
        """Rename what reached the index after the rename. One point read per user."""
        for user_id in {item["userId"] for item in changes}:
            name = (await self.get_user(user_id)).username
            items = [item for item in changes if item["userId"] == user_id and item["userUsername"] != name]
            for post_id in {item["postId"] for item in items}:
                await self.rename_in(post_id, user_id, name)

    async def list_user_posts(self, user_id: str) -> list[PostView]:
        """Q3. One single-partition query of an index."""
        return [_short(item) for item in await rows_in(self.by_user, NEWEST, user_id)]

    async def feed(self) -> list[PostView]:
        """Q6. One single-partition query of an index."""
        by_type = self.database.get_container_client(BY_TYPE.name)
        query = f"{NEWEST} OFFSET 0 LIMIT {FRONT_PAGE_LENGTH}"
        return [_short(item) for item in await rows_in(by_type, query, "post")]


def _short(item: Item) -> PostView:
    """Return an index's item, whose `id` is its own, with the summary, which an index cannot store."""
    return short(item | {"id": item["_id"]})
