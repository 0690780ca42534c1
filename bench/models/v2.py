"""The article's V2: V1 plus usernames on posts, comments and likes, and counts on posts.

Stored procedures count. The change feed of `users` updates usernames in `posts`: a query finds the partitions, then
`updateUsernames` runs in each, even for a new user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from bench.models import v1
from bench.models.interface import (
    CommentView,
    ContainerPlan,
    LikeView,
    ModelFeed,
    PostView,
    UserView,
    comment_of,
    like_of,
    post_of,
)
from bench.models.plan import ArticlePlan
from bench.models.v1 import (
    USERS,
    V1,
    most_recent,
    new_post,
    new_response,
    newest_first,
    responses_of,
    rows_across,
    stored,
)
from shared.models.summary import summary
from shared.platform.models import Item

POSTS: Final = replace(v1.POSTS, procedures=("createComment", "createLike", "updateUsernames"))
POSTS_WITH_NAME: Final = "SELECT DISTINCT VALUE c.postId FROM c WHERE c.userId = @userId"


class V2(V1):
    """Requests as listed in the article."""

    NAME: ClassVar[str] = "V2"
    CONTAINERS: ClassVar[Sequence[ContainerPlan]] = (USERS, POSTS)

    @staticmethod
    def items(plan: ArticlePlan) -> Iterator[tuple[str, Item]]:
        for index in range(plan.users):
            author = plan.user(index)
            yield "users", {"id": author["id"], "username": author["username"]}
            for post in plan.posts(index, author):
                yield "posts", as_kept(post)
                for _, response in plan.responses(index, post):
                    yield "posts", as_kept(response)

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        return (ModelFeed("users", self.on_users_changed),)

    async def on_users_changed(self, changes: list[Item]) -> None:
        """Run a query per user, then a procedure per partition, sequentially."""
        for user in changes:
            for post_id in await self.posts_with_name(user["id"]):
                await self.rename_in(post_id, user["id"], user["username"])

    async def posts_with_name(self, user_id: str) -> list[str]:
        """Send one cross-partition query for the IDs of the posts that the user wrote or responded to."""
        return await rows_across(self.posts, POSTS_WITH_NAME, userId=user_id)

    async def rename_in(self, post_id: str, user_id: str, username: str) -> None:
        """Run the procedure in one partition."""
        parameters: list[Any] = [user_id, username]
        await self.posts.scripts.execute_stored_procedure(
            "updateUsernames", partition_key=post_id, parameters=parameters
        )

    async def create_post(self, author: UserView, title: str, content: str) -> PostView:
        """C2. One write."""
        return post_of(await self.posts.create_item(stored(new_post(author, title, content))))

    async def edit_post(self, post: PostView, title: str, content: str) -> PostView:
        """C2. One write, which overwrites counts and username with those the caller has read."""
        return post_of(await self.posts.upsert_item(stored(replace(post, title=title, content=content))))

    async def get_post(self, post_id: str) -> PostView:
        """Q2. One point read."""
        return post_of(await self.posts.read_item(post_id, post_id))

    async def list_user_posts(self, user_id: str) -> list[PostView]:
        """Q3. One cross-partition query."""
        query = "SELECT * FROM p WHERE p.type = 'post' AND p.userId = @userId"
        return newest_first([short(item) for item in await rows_across(self.posts, query, userId=user_id)])

    async def create_comment(self, post_id: str, author: UserView, content: str) -> CommentView:
        """C3. One stored procedure."""
        comment = new_response("comment", post_id, author, content=content)
        await self.posts.scripts.execute_stored_procedure("createComment", partition_key=post_id, parameters=[comment])
        return comment_of(comment)

    async def list_comments(self, post_id: str) -> list[CommentView]:
        """Q4. One single-partition query."""
        return [comment_of(item) for item in await responses_of(self.posts, post_id, "comment")]

    async def like(self, post_id: str, liker: UserView) -> LikeView:
        """C4. One stored procedure."""
        like = new_response("like", post_id, liker)
        await self.posts.scripts.execute_stored_procedure("createLike", partition_key=post_id, parameters=[like])
        return like_of(like)

    async def list_likes(self, post_id: str) -> list[LikeView]:
        """Q5. One single-partition query."""
        return [like_of(item) for item in await responses_of(self.posts, post_id, "like")]

    async def feed(self) -> list[PostView]:
        """Q6. One cross-partition query."""
        return [short(item) for item in await most_recent(self.posts)]


def as_kept(item: Item) -> Item:
    """Remove the properties of this project's model."""
    return {name: value for name, value in item.items() if name not in ("nameVersion", "version")}


def short(item: Item) -> PostView:
    return post_of(item | {"content": summary(item["content"])})
