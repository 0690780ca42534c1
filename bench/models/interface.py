"""The interface of all models: the article's ten requests.

A write receives the username, because the article's V2 and V3 store it without reading it. This project pays for
reading it. Lists are returned whole, newest first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy

from bench.models.plan import ArticlePlan
from bench.timing import until
from shared.platform.models import Item
from shared.settings import Settings

FRONT_PAGE_LENGTH: Final = 100
_BUILD_S: Final = 1800  # the largest blog, with 700,000 items in each index, takes minutes
_SCRIPTS: Final = Path(__file__).parent / "stored_procedures"


@dataclass(frozen=True)
class UserView:
    """Result of C1 and Q1."""

    id: str
    username: str


@dataclass(frozen=True)
class PostView:
    """Result of C2 and Q2; in Q3 and Q6, `content` is a summary."""

    id: str
    user_id: str
    username: str
    title: str
    content: str
    comment_count: int
    like_count: int
    creation_date: str


@dataclass(frozen=True)
class CommentView:
    """Result of C3 and Q4."""

    id: str
    post_id: str
    user_id: str
    username: str
    content: str
    creation_date: str


@dataclass(frozen=True)
class LikeView:
    """Result of C4 and Q5, without an ID, which each model generates differently."""

    post_id: str
    user_id: str
    username: str
    creation_date: str


@dataclass(frozen=True)
class ContainerPlan:
    """A container's definition, as the service expects it, and its scripts by name.

    A definition with `globalSecondaryIndex` (`sourceCollectionId`, `definition`) defines an index.
    """

    definition: Item
    procedures: Sequence[str] = ()
    triggers: Sequence[str] = ()

    @property
    def name(self) -> str:
        return str(self.definition["id"])

    @property
    def key(self) -> str:
        return str(self.definition["partitionKey"]["paths"][0]).removeprefix("/")

    @property
    def is_index(self) -> bool:
        return "globalSecondaryIndex" in self.definition


@dataclass(frozen=True)
class ModelFeed:
    """A container and the function that handles its changes."""

    container: str
    on_changed: Callable[[list[Item]], Awaitable[object]]


class Model(ABC):
    """A model with its own database."""

    NAME: ClassVar[str]
    CONTAINERS: ClassVar[Sequence[ContainerPlan]]

    def __init__(self, database: DatabaseProxy) -> None:
        self.database = database

    @classmethod
    async def provision(cls, client: CosmosClient, configuration: Settings, *, throughput: int | None = None) -> None:
        """Create what is missing, and wait until its indexes are built. `throughput` is shared, in RU/s."""
        await client.create_database_if_not_exists(configuration.database, offer_throughput=throughput)
        proxy = client.get_database_client(configuration.database)
        for container in cls.CONTAINERS:
            await provision_container(proxy, container)

    @staticmethod
    @abstractmethod
    def items(plan: ArticlePlan) -> Iterator[tuple[str, Item]]:
        """Yield the planned items with their containers, grouped by logical partition."""

    @property
    def change_feeds(self) -> Sequence[ModelFeed]:
        return ()

    # C1 and its edit, whose copies the change feeds update, and Q1
    @abstractmethod
    async def create_user(self, username: str) -> UserView: ...
    @abstractmethod
    async def rename_user(self, user: UserView, username: str) -> UserView: ...
    @abstractmethod
    async def get_user(self, user_id: str) -> UserView: ...

    # C2 and its edit, Q2, and Q3 with summaries
    @abstractmethod
    async def create_post(self, author: UserView, title: str, content: str) -> PostView: ...
    @abstractmethod
    async def edit_post(self, post: PostView, title: str, content: str) -> PostView: ...
    @abstractmethod
    async def get_post(self, post_id: str) -> PostView: ...
    @abstractmethod
    async def list_user_posts(self, user_id: str) -> list[PostView]: ...

    # C3, Q4, C4 and Q5
    @abstractmethod
    async def create_comment(self, post_id: str, author: UserView, content: str) -> CommentView: ...
    @abstractmethod
    async def list_comments(self, post_id: str) -> list[CommentView]: ...
    @abstractmethod
    async def like(self, post_id: str, liker: UserView) -> LikeView: ...
    @abstractmethod
    async def list_likes(self, post_id: str) -> list[LikeView]: ...

    # Q6: the 100 newest posts, with summaries
    @abstractmethod
    async def feed(self) -> list[PostView]: ...


def user_of(item: Item) -> UserView:
    return UserView(item["id"], item["username"])


def post_of(item: Item) -> PostView:
    written = (item["id"], item["userId"], item["userUsername"], item["title"], item["content"])
    return PostView(*written, item["commentCount"], item["likeCount"], item["creationDate"])


def comment_of(item: Item) -> CommentView:
    by = (item["userId"], item["userUsername"])
    return CommentView(item["id"], item["postId"], *by, item["content"], item["creationDate"])


def like_of(item: Item) -> LikeView:
    return LikeView(item["postId"], item["userId"], item["userUsername"], item["creationDate"])


async def provision_container(database: DatabaseProxy, plan: ContainerPlan) -> ContainerProxy:
    """Create the container with its scripts; return an index when it is built. Raises TimeoutError."""
    definition: dict[str, Any] = plan.definition
    container = await database.create_container_if_not_exists(
        plan.name,
        definition["partitionKey"],
        indexing_policy=definition.get("indexingPolicy"),
        full_text_policy=definition.get("fullTextPolicy"),
        global_secondary_index=definition.get("globalSecondaryIndex"),
    )
    for name in plan.procedures:
        await container.scripts.create_stored_procedure({"id": name, "body": _script(name)})
    for name in plan.triggers:
        body = {"id": name, "body": _script(name), "triggerType": "Post", "triggerOperation": "All"}
        await container.scripts.create_trigger(body)
    if plan.is_index:
        await until(partial(_is_built, container), _BUILD_S)
    return container


async def _is_built(index: ContainerProxy) -> bool:
    """Whether the index has all items that its source had when it was created."""
    properties = await index.read()
    return bool(properties["globalSecondaryIndexDefinition"]["status"] == "Active")


def _script(name: str) -> str:
    return (_SCRIPTS / f"{name}.js").read_text(encoding="utf-8")
