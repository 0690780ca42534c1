"""The hand-made views of this project beside global secondary indexes: `python -m bench.secondary_indexes`.

The same blog as in bench/request_charges.py. Reads are charged by the emulator's model. The service's charge for
updating an index is not documented: the estimate is that of the same writes in a container with the policy of the
index. Each view has an index of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from azure.cosmos.aio import DatabaseProxy

from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import ChangeFeed, ContainerPlan, provision_container
from bench.models.observation import observed, observed_client
from bench.models.project_model import ProjectModel
from bench.models.v4 import BY_TYPE, BY_USER, NEWEST, PROPERTIES, index_of_posts
from bench.request_charges import add_comment, add_like, add_post, fill
from bench.servers import Server, emulator
from bench.tables import table
from management.account import open_blog
from management.provision import provision
from shared.data.posts import FRONT_PAGE_LENGTH, get_post, list_posts_of_user, list_recent_posts
from shared.database.container import Container
from shared.database.containers import FEED, POSTS, USERS
from shared.models.base import Item

PARTITIONS: Final = (1, 4)
# The indexes of V4, with what this project's posts also have.
_PROPERTIES: Final = (*PROPERTIES, "version", "nameVersion", "editedDate")
_INDEXES: Final = tuple(index_of_posts(plan.name, plan.key, _PROPERTIES) for plan in (BY_USER, BY_TYPE))
_NEWEST: Final = f"{NEWEST} OFFSET 0 LIMIT @limit"
_OF_USER: Final = "SELECT c._id, c.postId FROM c WHERE c.type IN ('post', 'comment', 'like')"
_OF_POST: Final = "SELECT * FROM c WHERE c.postId = @id"
_ACROSS: Final = f"{_OF_USER.replace('c._id', 'c.id')} AND c.userId = @userId"
Row = tuple[str, float, float]
"""What is done, and its charge by hand and with an index."""


class _Read(ProjectModel):
    """Reads the change feed of `posts`, as the service must for an index, and does nothing else."""

    @property
    def change_feeds(self) -> Sequence[ChangeFeed]:
        return (ChangeFeed(POSTS, _ignore),)


async def measure(server: Server) -> tuple[list[Row], dict[str, float]]:
    """Return the rows, and the sizes of an index's items by type, in KB."""
    configuration = server.settings("views")
    await provision(configuration)
    async with observed_client(configuration) as client:
        blog = await open_blog(client, configuration.database)
        author, post = await fill(blog)
        database = client.get_database_client(configuration.database)
        by_user, by_type = [Container(await provision_container(database, plan)) for plan in _INDEXES]
        plain = [await _plain(database, plan) for plan in _INDEXES]
        user_id = author["id"]
        reads: list[tuple[str, Callable[[], Awaitable[object]], Callable[[], Awaitable[object]]]] = [
            (
                "Q3 list a user's posts",
                lambda: list_posts_of_user(blog.users, user_id, limit=100, cursor=None),
                lambda: by_user.query(_NEWEST, {"limit": 101}, partition_key=user_id, page_size=101),
            ),
            (
                "Q6 list the most recent posts",
                lambda: list_recent_posts(blog.feed, limit=FRONT_PAGE_LENGTH),
                lambda: by_type.query(_NEWEST, {"limit": 100}, partition_key="post", page_size=100),
            ),
            (
                "find what a rename must change",
                lambda: _all(blog.posts.query_across(_ACROSS, {"userId": user_id}, page_size=100)),
                lambda: by_user.query(_OF_USER, {}, partition_key=user_id, page_size=100),
            ),
        ]
        found: list[Row] = []
        for name, by_hand, indexed in reads:
            await server.next_second()
            found.append((name, await _charge(by_hand()), await _charge(indexed())))
        for container in plain:
            await container.create(_projected(post))
        functions = await ChangeFeedFollower.start(ProjectModel(database), from_now=True)
        service = await ChangeFeedFollower.start(_Read(database), from_now=True)
        commands: dict[str, Callable[[], Awaitable[Item]]] = {
            "a new post": lambda: add_post(blog, author),
            "a comment": lambda: add_comment(blog, post, author),
            "a like": lambda: add_like(blog, post, author),
        }
        for name, command in commands.items():
            await server.next_second()
            item = await command()
            changed = [item] if item["type"] == "post" else [item, await get_post(blog.posts, post["id"])]
            await server.next_second()
            with observed() as read:
                await service.settle(together=True)
            with observed() as handled:
                await functions.settle(together=True)
            written = [await _charge(_write(container, changed)) for container in plain]
            for view, copies, charge_ru in zip(("Q3", "Q6"), (USERS, FEED), written, strict=True):
                found.append((f"update {view} after {name}", handled.by_container[copies], charge_ru))
            found.append((f"read `posts` after {name}", handled.by_container[POSTS], read.by_container[POSTS]))
        items = await _all(by_type.query_across(_OF_POST, {"id": post["id"]}, page_size=100))
        return found, {item["type"]: _kb(item) for item in items}


async def _write(index: Container, items: Sequence[Item]) -> None:
    """Write what an update of an index writes, in a container like it."""
    for item in items:
        await index.proxy.upsert_item(_projected(item))


async def _charge(work: Awaitable[object]) -> float:
    with observed() as observation:
        await work
    return observation.request_units


async def _ignore(_: Sequence[Item]) -> None: ...


async def _all(rows: Any) -> list[Any]:
    return [row async for row in rows]


async def _plain(database: DatabaseProxy, index: ContainerPlan) -> Container:
    """Create a container with the partition key and the policy of an index."""
    plain = {name: index.definition[name] for name in ("partitionKey", "indexingPolicy")}
    return Container(await provision_container(database, ContainerPlan({"id": f"plain-{index.name}", **plain})))


def _projected(item: Item) -> Item:
    return {name: item.get(name) for name in _PROPERTIES} | {"_id": item["id"], "id": item["id"]}


def _kb(item: Item) -> float:
    return len(json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()) / 1024


async def main() -> None:
    measured = []
    for partitions in PARTITIONS:
        async with emulator(None, "--partitions", str(partitions)) as server:
            measured.append(await measure(server))
    rows = [
        (name, *(f"{charge_ru:.2f}" for found, _ in measured for charge_ru in found[number][1:]))
        for number, (name, *_) in enumerate(measured[0][0])
    ]
    heads = [f"{kind}, P = {number}" for number in PARTITIONS for kind in ("by hand", "index")]
    sys.stdout.write("\n".join(table(["request units", *heads], rows)))
    sizes = ", ".join(f"{kind} {size:.2f}" for kind, size in sorted(measured[0][1].items()))
    sys.stdout.write(f"\n\nItems of an index, KB of JSON: {sizes}.\n")


if __name__ == "__main__":
    asyncio.run(main())
