"""The hand-made views of this project beside global secondary indexes: `python -m bench.secondary_indexes`.

The same blog as in bench/request_charges.py. Reads are charged by the emulator's model. The service's charge for
updating an index is not documented: the estimate is that of the same writes in containers with the policy of the index.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from azure.cosmos import GlobalSecondaryIndexDefinition, PartitionKey
from azure.cosmos.aio import DatabaseProxy

from bench.request_charges import add_comment, add_like, add_post, fill
from bench.servers import REPOSITORY, Server, emulator
from bench.tables import table
from management.account import open_blog, signed_in
from management.provision import provision
from shared.data.blog import Blog
from shared.data.posts import FRONT_PAGE_LENGTH, get_post, list_posts_of_user, list_recent_posts
from shared.database.container import Container
from shared.database.containers import container_definitions
from shared.database.scope import request_scope
from shared.models.base import Item
from shared.propagation.posts import handle_changed_posts

PARTITIONS: Final = (1, 4)
# All that a list of posts shows. Without WHERE, comments and likes are in the index, too.
_DEFINITION: Final = (
    "SELECT c.type, c.postId, c.userId, c.userUsername, c.title, c.content, c.commentCount, c.likeCount, c.version,"
    " c.nameVersion, c.creationDate FROM c"
)
_KEYS: Final = {"by-user": "/userId", "by-type": "/type"}
_NEWEST: Final = (
    "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_OF_USER: Final = "SELECT c._id, c.postId FROM c WHERE c.type IN ('post', 'comment', 'like')"
_ACROSS: Final = f"{_OF_USER.replace('c._id', 'c.id')} AND c.userId = @userId"
_VIEWS: Final = ("shared/propagation/posts.py", "shared/propagation/copies.py")


async def measure(server: Server) -> list[tuple[str, float, float]]:
    """Return the charges of each row: by hand, and with indexes."""
    configuration = server.settings("views")
    await provision(configuration)
    async with signed_in(configuration) as client:
        blog = await open_blog(client, configuration.database)
        author, post = await fill(blog)
        database = client.get_database_client(configuration.database)
        by_user, by_type = [await _index(database, name) for name in _KEYS]
        plain = [await _plain(database, name) for name in _KEYS]
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
        found: list[tuple[str, float, float]] = []
        for name, by_hand, indexed in reads:
            await server.next_second()
            found.append((name, await _charge(by_hand()), await _charge(indexed())))
        new = await add_post(blog, author)
        found.append(("update the views after a new post", await _by_hand(blog, new), await _updates(plain, [new])))
        for container in plain:
            await container.create(_projected(post))
        for name, add in (("comment", add_comment), ("like", add_like)):
            item = await add(blog, post, author)
            changed = await get_post(blog.posts, post["id"])
            indexed_ru = await _updates(plain, [item, changed])
            found.append((f"update the views after a {name}", await _by_hand(blog, changed), indexed_ru))
        return found


async def _by_hand(blog: Blog, post: Item) -> float:
    """Return the charge of the change-feed function for a post that is new or has new counts."""
    return await _charge(handle_changed_posts(blog, [post]))


async def _updates(indexes: list[Container], items: list[Item]) -> float:
    """Return the estimated charge of an update of the indexes: that of the same writes in containers like them."""

    async def write() -> None:
        for container in indexes:
            for item in items:
                await container.proxy.upsert_item(_projected(item))

    return await _charge(write())


async def _charge(work: Awaitable[object]) -> float:
    with request_scope() as scope:
        await work
    return scope.request_units


async def _all(rows: Any) -> list[Any]:
    return [row async for row in rows]


async def _index(database: DatabaseProxy, name: str) -> Container:
    """Create an index of `posts`, and return it when it is built."""
    proxy = await database.create_container(
        name,
        PartitionKey(_KEYS[name]),
        indexing_policy=_policy(),
        global_secondary_index=GlobalSecondaryIndexDefinition("posts", _DEFINITION),
    )
    async with asyncio.timeout(60):
        while (await proxy.read())["globalSecondaryIndexDefinition"]["status"] != "Active":  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)
    return Container(proxy)


async def _plain(database: DatabaseProxy, name: str) -> Container:
    return Container(
        await database.create_container(f"plain-{name}", PartitionKey(_KEYS[name]), indexing_policy=_policy())
    )


def _policy() -> dict[str, Any]:
    """The policy of `users`, which serves the same lists."""
    policy: dict[str, Any] = next(one for one in container_definitions() if one["id"] == "users")["indexingPolicy"]
    return policy


def _projected(item: Item) -> Item:
    names = _DEFINITION.removeprefix("SELECT ").removesuffix(" FROM c").replace("c.", "").split(", ")
    return {name: item[name] for name in names if name in item} | {"_id": item["id"], "id": item["id"]}


def _lines(*files: str) -> int:
    return sum(len((REPOSITORY / file).read_text("utf-8").splitlines()) for file in files)


async def main() -> None:
    measured = []
    for partitions in PARTITIONS:
        async with emulator(None, "--partitions", str(partitions)) as server:
            measured.append(await measure(server))
    rows = [
        (name, *(f"{charge_ru:.2f}" for found in measured for charge_ru in found[number][1:]))
        for number, (name, *_) in enumerate(measured[0])
    ]
    heads = [f"{kind}, P = {number}" for number in PARTITIONS for kind in ("by hand", "indexes")]
    sys.stdout.write("\n".join(table(["request units", *heads], rows)))
    sys.stdout.write(f"\n\nLines of code that make the views of posts by hand: {_lines(*_VIEWS)}.\n")


if __name__ == "__main__":
    asyncio.run(main())
