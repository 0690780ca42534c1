"""The blog's database on the emulator, for tests below HTTP."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azure.cosmos.aio import CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosResourceExistsError
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.faults import Faults
from cosmos_emulator.latency import Latency
from cosmos_emulator.runtime.loop_thread import LoopThread

from management.provision import provision
from shared.data.blog import Blog as StoredBlog
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.models import Item
from shared.platform.settings import Account
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from shared.settings import Settings, TransactionMode
from shared.transactions import transactions

STORED_PROCEDURES = Path(__file__).parent.parent / "stored_procedures"
# The article's scripts, from the benchmark.
NAIVE = Path(__file__).parent.parent / "bench" / "models" / "stored_procedures"


class EmulatorThread:
    """An emulator on its own thread and event loop, which tests on any loop can share."""

    def __init__(self, settings: EmulatorSettings) -> None:
        self._thread = LoopThread()
        self._emulator = CosmosEmulator(settings)
        self.settings = settings

    def __enter__(self) -> EmulatorThread:
        self._thread.__enter__()
        self._thread.run(self._emulator.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(self._emulator.__aexit__(None, None, None))
        self._thread.__exit__()

    @property
    def endpoint(self) -> str:
        return self._emulator.endpoint

    @property
    def key(self) -> str:
        return self._emulator.key

    @property
    def faults(self) -> Faults:
        return self._emulator.faults


@dataclass(frozen=True)
class Blog:
    """A provisioned database and its containers."""

    emulator: EmulatorThread
    settings: Settings
    database: DatabaseProxy

    def container(self, name: str) -> Container:
        return Container(self.database.get_container_client(name))

    @property
    def users(self) -> Container:
        return self.container("users")

    @property
    def posts(self) -> Container:
        return self.container("posts")

    @property
    def feed(self) -> Container:
        return self.container("feed")

    @property
    def failures(self) -> Container:
        return self.container("failures")

    @property
    def stored(self) -> StoredBlog:
        """The blog as the app has it."""
        return StoredBlog(self.users, self.posts, self.feed, self.failures, transactions(self.settings.transactions))

    async def handle_users(self, changes: Iterable[Mapping[str, Any]]) -> list[Exception]:
        return await handle_changed_users(self.stored, changes)

    async def handle_posts(self, changes: Iterable[Mapping[str, Any]]) -> list[Exception]:
        return await handle_changed_posts(self.stored, changes)

    @contextmanager
    def accepting(self, operations: int) -> Iterator[None]:
        """Inside the block, each script gets only this many operations accepted, as if it then ran out of time."""
        before = self.emulator.settings.script_operations
        self.emulator.settings.script_operations = operations
        try:
            yield
        finally:
            self.emulator.settings.script_operations = before

    async def deploy_naive_procedure(self, name: str) -> None:
        """Create `naive-{name}`, the article's procedure, unless it exists."""
        body = (NAIVE / f"{name}.js").read_text(encoding="utf-8")
        with suppress(CosmosResourceExistsError):
            await self.posts.proxy.scripts.create_stored_procedure({"id": f"naive-{name}", "body": body})

    async def deploy_naive_trigger(self, name: str) -> None:
        """Create `naive-{name}`, the article's trigger."""
        body = (NAIVE / f"{name}.js").read_text(encoding="utf-8")
        trigger = {"id": f"naive-{name}", "body": body, "triggerType": "Post", "triggerOperation": "All"}
        await self.feed.proxy.scripts.create_trigger(trigger)

    async def items_of(self, post: Item) -> list[Item]:
        """Return the items in a post's logical partition, ordered by id."""
        return await self.posts.query("SELECT * FROM c ORDER BY c.id", {}, partition_key=post["postId"], page_size=1000)

    async def counts(self, post: Item) -> tuple[int, int]:
        """Return the post's counts of comments and likes, after comparing them with the items."""
        items = await self.items_of(post)
        stored = next(item for item in items if item["id"] == post["id"])
        of_items = tuple(sum(item["type"] == kind for item in items) for kind in ("comment", "like"))
        assert (stored["commentCount"], stored["likeCount"]) == of_items
        return stored["commentCount"], stored["likeCount"]

    async def all_items(self, container: Container) -> list[Item]:
        """Return every item of a container."""
        return [item async for item in container.query_across("SELECT * FROM c", {}, page_size=1000)]

    async def changes(self, container: Container) -> list[Item]:
        """Return the change feed from its beginning: the latest version of each item, oldest write first."""
        feed = container.proxy.query_items_change_feed(start_time="Beginning")
        changes = [item async for item in feed]
        return sorted(changes, key=lambda change: change["_ts"])

    async def drain(self) -> None:
        """Run both change-feed functions on all changes until they write nothing more."""
        seen: list[list[str]] = []
        for _ in range(10):
            posts, users = await self.changes(self.posts), await self.changes(self.users)
            etags = [sorted(change["_etag"] for change in changes) for changes in (posts, users)]
            if etags == seen:
                return
            seen = etags
            await self.handle_posts(posts)
            await self.handle_users(users)
        raise AssertionError("the change-feed functions keep writing")


def at(settings: Settings, endpoint: str) -> Settings:
    """The same database at another endpoint, such as a gateway's."""
    return settings.model_copy(update={"account": Account(endpoint, settings.account.key)})


@contextmanager
def lagging(blog: Blog) -> Iterator[None]:
    """Inside the block, replicas stand still: only the primary, or a newer session token, sees later writes."""
    blog.emulator.settings.replica_lag = Latency(3600)
    try:
        yield
    finally:
        blog.emulator.settings.replica_lag = None


@asynccontextmanager
async def new_blog(emulator: EmulatorThread, transactions: TransactionMode = "batch") -> AsyncIterator[Blog]:
    """Provision a database, and delete it afterwards."""
    settings = Settings(
        account=Account(emulator.endpoint, emulator.key),
        database=f"blog-{uuid.uuid4().hex[:10]}",
        transactions=transactions,
    )
    await provision(settings)
    client: CosmosClient
    async with connect(settings) as client:
        try:
            yield Blog(emulator, settings, client.get_database_client(settings.database))
        finally:
            await client.delete_database(settings.database)
