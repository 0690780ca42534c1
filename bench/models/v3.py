"""The article's V3: V2 plus copies of each post in `users`, beside its author, and in `feed`.

The change feed of `posts` writes the copies sequentially; the trigger `truncateFeed` truncates the feed. As in the
article, the trigger treats every upsert as a new post: an edit, or a late old post, makes a full feed lose its oldest
post.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from azure.cosmos.aio import ContainerProxy

from bench.models.interface import FRONT_PAGE_LENGTH, ContainerPlan, ModelFeed, PostView, UserView, post_of, user_of
from bench.models.plan import ArticlePlan
from bench.models.v1 import MOST_RECENT, new_id, newest_first, rows_in
from bench.models.v2 import POSTS, V2, as_kept
from management.newest import Newest
from shared.models.summary import summary
from shared.platform.models import Item, iso_utc, parse_moment

USERS: Final = ContainerPlan({"id": "users", "partitionKey": {"paths": ["/userId"], "kind": "Hash", "version": 2}})
FEED: Final = ContainerPlan(
    {"id": "feed", "partitionKey": {"paths": ["/type"], "kind": "Hash", "version": 2}}, triggers=("truncateFeed",)
)


class V3(V2):
    """Requests as listed in the article."""

    NAME: ClassVar[str] = "V3"
    CONTAINERS: ClassVar[Sequence[ContainerPlan]] = (USERS, POSTS, FEED)

    @property
    def feed_container(self) -> ContainerProxy:
        return self.database.get_container_client("feed")

    @staticmethod
    def items(plan: ArticlePlan) -> Iterator[tuple[str, Item]]:
        newest: Newest[Item] = Newest(FRONT_PAGE_LENGTH)
        for index in range(plan.users):
            author = plan.user(index)
            yield "users", _user_item(author["id"], author["username"])
            for post in plan.posts(index, author):
                copy = _copy(as_kept(post))
                newest.offer((copy["creationDate"], copy["id"]), copy)
                yield "users", copy
                yield "posts", as_kept(post)
                for _, response in plan.responses(index, post):
                    yield "posts", as_kept(response)
        for copy in newest.values():
            yield "feed", copy

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        return (ModelFeed("users", self.on_users_changed), ModelFeed("posts", self.on_posts_changed))

    async def on_users_changed(self, changes: list[Item]) -> None:
        """Like V2, but skip the copies of posts."""
        await super().on_users_changed([item for item in changes if item["type"] == "user"])

    async def on_posts_changed(self, changes: list[Item]) -> None:
        """Write two copies per post, sequentially, plus the trigger's writes."""
        for post in changes:
            if post["type"] == "post":
                copy = _copy(_without_system_properties(post))
                await self.users.upsert_item(copy)
                await self.feed_container.upsert_item(copy, post_trigger_include="truncateFeed")

    async def create_user(self, username: str) -> UserView:
        """C1. One write."""
        return user_of(await self.users.create_item(_user_item(new_id(), username)))

    async def rename_user(self, user: UserView, username: str) -> UserView:
        """C1. One write."""
        return user_of(await self.users.upsert_item(_user_item(user.id, username)))

    async def list_user_posts(self, user_id: str) -> list[PostView]:
        """Q3. One single-partition query of `users`."""
        query = "SELECT * FROM p WHERE p.userId = @userId AND p.type = 'post'"
        return newest_first([post_of(item) for item in await rows_in(self.users, query, user_id, userId=user_id)])

    async def feed(self) -> list[PostView]:
        """Q6. One single-partition query of `feed`."""
        return [post_of(item) for item in await rows_in(self.feed_container, MOST_RECENT, "post")]


def _user_item(user_id: str, username: str) -> Item:
    return {"id": user_id, "type": "user", "userId": user_id, "username": username}


def _copy(post: Item) -> Item:
    return post | {"content": summary(post["content"]), "creationDate": _written_date(post["creationDate"])}


def _without_system_properties(item: Item) -> Item:
    return {name: value for name, value in item.items() if not name.startswith("_")}


def _written_date(text: str) -> str:
    """Write a date with three digits again: the host delivers `….790Z` as `….79Z`, which sorts elsewhere."""
    return iso_utc(parse_moment(text))
