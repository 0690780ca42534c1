"""This project's model as deployed: the code of shared/data and shared/propagation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final

from azure.cosmos.aio import CosmosClient, DatabaseProxy

from bench.models.interface import (
    CommentView,
    ContainerPlan,
    LikeView,
    Model,
    ModelFeed,
    PostView,
    UserView,
    comment_of,
    like_of,
    post_of,
    user_of,
)
from bench.models.plan import ArticlePlan
from management.newest import Newest
from management.provision import provision
from shared.containers import FAILURES, FEED, POSTS, USERS, container_definitions
from shared.data.blog import Blog
from shared.data.comments import create_comment, list_comments
from shared.data.front_page import FRONT_PAGE_LENGTH, list_recent_posts
from shared.data.likes import create_like, list_likes
from shared.data.posts import create_post, edit_post, get_post, list_posts_of_user
from shared.data.username_reservations import reservation_item
from shared.data.users import create_user, edit_user, get_user
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, PostChanges, short_form
from shared.models.user import NewUser, UserChanges, name_version
from shared.platform.database.container import Container
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from shared.settings import Settings, TransactionMode
from shared.transactions import transactions

# The API's largest page; every list fits.
_WHOLE: Final = 100


class ProjectModel(Model):
    """Sends the same requests as the API."""

    NAME: ClassVar[str] = "this"
    TRANSACTIONS: ClassVar[TransactionMode] = "batch"
    CONTAINERS: ClassVar[Sequence[ContainerPlan]] = tuple(map(ContainerPlan, container_definitions()))

    def __init__(self, database: DatabaseProxy) -> None:
        super().__init__(database)
        self.users, self.posts, self.feed_container, self.failures = (
            Container(database.get_container_client(name)) for name in (USERS, POSTS, FEED, FAILURES)
        )
        self.blog = Blog(self.users, self.posts, self.feed_container, self.failures, transactions(self.TRANSACTIONS))

    @classmethod
    async def provision(cls, client: CosmosClient, configuration: Settings, *, throughput: int | None = None) -> None:
        del client
        await provision(configuration, throughput=throughput)

    @staticmethod
    def items(plan: ArticlePlan) -> Iterator[tuple[str, Item]]:
        newest: Newest[Item] = Newest(FRONT_PAGE_LENGTH)
        for index in range(plan.users):
            author = plan.user(index)
            yield USERS, reservation_item(author["username"], author["id"], name_version(author))
            yield USERS, author
            for post in plan.posts(index, author):
                copy = short_form(post)
                newest.offer((copy["creationDate"], copy["id"]), copy)
                yield USERS, copy
                yield POSTS, post
                for _, response in plan.responses(index, post):
                    yield POSTS, response
        for copy in newest.values():
            yield FEED, copy

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        by_batches = replace(self.blog, transactions=transactions("batch"))
        users, posts = partial(handle_changed_users, by_batches), partial(handle_changed_posts, by_batches)
        return (ModelFeed(USERS, users), ModelFeed(POSTS, posts))

    async def create_user(self, username: str) -> UserView:
        return user_of(await create_user(self.users, NewUser(username=username), idempotency_key=None))

    async def rename_user(self, user: UserView, username: str) -> UserView:
        return user_of(await edit_user(self.users, user.id, UserChanges(username=username)))

    async def get_user(self, user_id: str) -> UserView:
        return user_of(await get_user(self.users, user_id))

    async def create_post(self, author: UserView, title: str, content: str) -> PostView:
        new = NewPost(user_id=author.id, title=title, content=content)
        return post_of(await create_post(self.blog, new, idempotency_key=None))

    async def edit_post(self, post: PostView, title: str, content: str) -> PostView:
        return post_of(await edit_post(self.posts, post.id, PostChanges(title=title, content=content), by=BackEnd()))

    async def get_post(self, post_id: str) -> PostView:
        return post_of(await get_post(self.posts, post_id))

    async def list_user_posts(self, user_id: str) -> list[PostView]:
        page = await list_posts_of_user(self.users, user_id, limit=_WHOLE, cursor=None)
        return [post_of(item) for item in page.items]

    async def create_comment(self, post_id: str, author: UserView, content: str) -> CommentView:
        new = NewComment(user_id=author.id, content=content)
        return comment_of(await create_comment(self.blog, post_id, new, idempotency_key=None))

    async def list_comments(self, post_id: str) -> list[CommentView]:
        page = await list_comments(self.posts, post_id, limit=_WHOLE, cursor=None)
        return [comment_of(item) for item in page.items]

    async def like(self, post_id: str, liker: UserView) -> LikeView:
        new = NewLike(user_id=liker.id)
        like, _ = await create_like(self.blog, post_id, new)
        return like_of(like)

    async def list_likes(self, post_id: str) -> list[LikeView]:
        page = await list_likes(self.posts, post_id, limit=_WHOLE, cursor=None)
        return [like_of(item) for item in page.items]

    async def feed(self) -> list[PostView]:
        return [post_of(item) for item in await list_recent_posts(self.feed_container)]


class ProjectModelWithProcedures(ProjectModel):
    """Comments and likes are written by stored procedures."""

    NAME: ClassVar[str] = "this, procedures"
    TRANSACTIONS: ClassVar[TransactionMode] = "procedure"
