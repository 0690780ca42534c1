"""The article's V1: `users` by ID, `posts` with comments and likes by post, without copies and counts.

Responses are assembled by one lookup after another, as the article's latencies imply (50 usernames in 55 ms). Usernames
are point reads, except in Q2, where the article lists a query: in Q4 and Q5 each costs 1.00 RU, less than any query
(2.2 RU).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from azure.cosmos.aio import ContainerProxy

from bench.models.interface import (
    CommentView,
    ContainerPlan,
    LikeView,
    Model,
    PostView,
    UserView,
    comment_of,
    like_of,
    post_of,
    user_of,
)
from bench.models.plan import ArticlePlan
from shared.models.summary import summary
from shared.platform.models import Item, now

# Rows per page and physical partition of an ordered cross-partition query, fitted to the article's Q6 (specification of
# the charges, section 3, k).
ORDERED_PAGE: Final = 18
MOST_RECENT: Final = "SELECT TOP 100 * FROM p WHERE p.type = 'post' ORDER BY p.creationDate DESC"
USERS: Final = ContainerPlan({"id": "users", "partitionKey": {"paths": ["/id"], "kind": "Hash", "version": 2}})
POSTS: Final = ContainerPlan({"id": "posts", "partitionKey": {"paths": ["/postId"], "kind": "Hash", "version": 2}})


class V1(Model):
    """Requests as listed in the article."""

    NAME: ClassVar[str] = "V1"
    CONTAINERS: ClassVar[Sequence[ContainerPlan]] = (USERS, POSTS)

    @property
    def users(self) -> ContainerProxy:
        return self.database.get_container_client("users")

    @property
    def posts(self) -> ContainerProxy:
        return self.database.get_container_client("posts")

    @staticmethod
    def items(plan: ArticlePlan) -> Iterator[tuple[str, Item]]:
        for index in range(plan.users):
            author = plan.user(index)
            yield "users", {"id": author["id"], "username": author["username"]}
            for post in plan.posts(index, author):
                yield "posts", _as_kept(post)
                for _, response in plan.responses(index, post):
                    yield "posts", _without_name(response)

    async def create_user(self, username: str) -> UserView:
        """C1. One write."""
        return user_of(await self.users.create_item({"id": new_id(), "username": username}))

    async def rename_user(self, user: UserView, username: str) -> UserView:
        """C1. One write."""
        return user_of(await self.users.upsert_item({"id": user.id, "username": username}))

    async def get_user(self, user_id: str) -> UserView:
        """Q1. One point read."""
        return user_of(await self.users.read_item(user_id, user_id))

    async def create_post(self, author: UserView, title: str, content: str) -> PostView:
        """C2. One write."""
        post = new_post(author, title, content)
        await self.posts.create_item(_as_kept(stored(post)))
        return post

    async def edit_post(self, post: PostView, title: str, content: str) -> PostView:
        """C2. One write."""
        edited = replace(post, title=title, content=content)
        await self.posts.upsert_item(_as_kept(stored(edited)))
        return edited

    async def get_post(self, post_id: str) -> PostView:
        """Q2. A point read and three single-partition queries."""
        item = await self.posts.read_item(post_id, post_id)
        author = item["userId"]
        names = await rows_in(self.users, "SELECT u.username FROM u WHERE u.id = @id", author, id=author)
        return await self._counted(_post_of(item, names[0]["username"]))

    async def list_user_posts(self, user_id: str) -> list[PostView]:
        """Q3. A cross-partition query, then the author's name and two counts per post."""
        query = "SELECT * FROM p WHERE p.type = 'post' AND p.userId = @userId"
        items = await rows_across(self.posts, query, userId=user_id)
        name = (await self.get_user(user_id)).username
        return newest_first([await self._short(item, name) for item in items])

    async def create_comment(self, post_id: str, author: UserView, content: str) -> CommentView:
        """C3. One write."""
        item = await self.posts.create_item(_without_name(new_response("comment", post_id, author, content=content)))
        return comment_of(item | {"userUsername": author.username})

    async def list_comments(self, post_id: str) -> list[CommentView]:
        """Q4. A single-partition query, then a point read per comment."""
        return [comment_of(item) for item in await self._named(await responses_of(self.posts, post_id, "comment"))]

    async def like(self, post_id: str, liker: UserView) -> LikeView:
        """C4. One write."""
        item = await self.posts.create_item(_without_name(new_response("like", post_id, liker)))
        return like_of(item | {"userUsername": liker.username})

    async def list_likes(self, post_id: str) -> list[LikeView]:
        """Q5. As Q4."""
        return [like_of(item) for item in await self._named(await responses_of(self.posts, post_id, "like"))]

    async def feed(self) -> list[PostView]:
        """Q6. An ordered cross-partition query, then a username and two counts per post."""
        items = await most_recent(self.posts)
        return [await self._short(item, (await self.get_user(item["userId"])).username) for item in items]

    async def _short(self, item: Item, username: str) -> PostView:
        post = await self._counted(_post_of(item, username))
        return replace(post, content=summary(post.content))

    async def _counted(self, post: PostView) -> PostView:
        comments, likes = await self._count(post.id, "comment"), await self._count(post.id, "like")
        return replace(post, comment_count=comments, like_count=likes)

    async def _count(self, post_id: str, kind: str) -> int:
        query = "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @postId AND c.type = @type"
        return int((await rows_in(self.posts, query, post_id, postId=post_id, type=kind))[0])

    async def _named(self, items: list[Item]) -> list[Item]:
        return [item | {"userUsername": (await self.get_user(item["userId"])).username} for item in items]


def new_id() -> str:
    return str(uuid.uuid4())


def new_post(author: UserView, title: str, content: str) -> PostView:
    return PostView(new_id(), author.id, author.username, title, content, 0, 0, now())


def new_response(kind: str, post_id: str, author: UserView, **more: str) -> Item:
    """Return a comment or like as V2 and V3 store it."""
    by = {"postId": post_id, "userId": author.id, "userUsername": author.username}
    return {"id": new_id(), "type": kind, **by, **more, "creationDate": now()}


async def rows_in(container: ContainerProxy, query: str, partition_key: str, **parameters: Any) -> list[Any]:
    rows = container.query_items(query, parameters=_named(parameters), partition_key=partition_key)
    return [row async for row in rows]


async def rows_across(
    container: ContainerProxy, query: str, *, page_size: int | None = None, **parameters: Any
) -> list[Any]:
    rows = container.query_items(query, parameters=_named(parameters), max_item_count=page_size)
    return [row async for row in rows]


async def responses_of(posts: ContainerProxy, post_id: str, kind: str) -> list[Item]:
    """Return a post's comments or likes, newest first, with one single-partition query."""
    query = "SELECT * FROM c WHERE c.postId = @postId AND c.type = @type"
    items = await rows_in(posts, query, post_id, postId=post_id, type=kind)
    return sorted(items, key=lambda item: (item["creationDate"], item["id"]), reverse=True)


async def most_recent(posts: ContainerProxy) -> list[Item]:
    """Return the newest posts with one cross-partition query."""
    return await rows_across(posts, MOST_RECENT, page_size=ORDERED_PAGE)


def newest_first(posts: list[PostView]) -> list[PostView]:
    return sorted(posts, key=lambda post: (post.creation_date, post.id), reverse=True)


def _named(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"@{name}", "value": value} for name, value in parameters.items()]


def _post_of(item: Item, username: str) -> PostView:
    return post_of(item | {"userUsername": username, "commentCount": 0, "likeCount": 0})


def stored(post: PostView) -> Item:
    """Return a post as V2 and V3 store it."""
    by = {"postId": post.id, "userId": post.user_id, "userUsername": post.username}
    counts = {"commentCount": post.comment_count, "likeCount": post.like_count, "creationDate": post.creation_date}
    return {"id": post.id, "type": "post", **by, "title": post.title, "content": post.content, **counts}


def _as_kept(post: Item) -> Item:
    names = ("id", "type", "postId", "userId", "title", "content", "creationDate")
    return {name: post[name] for name in names}


def _without_name(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in ("userUsername", "nameVersion")}
