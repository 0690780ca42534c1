"""410/1002 (partition key range gone), on single operations and on every operation of the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from shared.platform.database.container import Container
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_like, a_post, a_user

Send = Callable[[Container, Item], Awaitable[object]]

_ALL = "SELECT * FROM c"
# Far longer than an operation takes. A deadlock would last forever.
_DEADLINE_S = 10


async def _across(posts: Container, _: Item) -> list[Item]:
    return [item async for item in posts.query_across(_ALL, {}, page_size=10)]


_OPERATIONS: dict[str, Send] = {
    "read": lambda posts, post: posts.read(post["id"], post["id"]),
    "write": lambda posts, _: posts.create(a_post(a_user())),
    "batch": lambda posts, post: posts.batch(post["id"], [("read", (post["id"],))]),
    "procedure": lambda posts, post: posts.execute("createLike", post["id"], a_like(post, a_user()), None),
    "query": lambda posts, post: posts.query(_ALL, {}, partition_key=post["id"], page_size=10),
    "query-across": _across,
    "read-many": lambda posts, _: posts.read_many([f"unknown-{number}" for number in range(20)]),
}


@pytest.mark.parametrize("operation", _OPERATIONS)
async def test_a_410_from_the_whole_database_fails_an_operation_at_once(blog: Blog, operation: str) -> None:
    post = await blog.posts.create(a_post(a_user()))
    send = _OPERATIONS[operation]
    await send(blog.posts, post)  # the SDK now has the partition key ranges

    with blog.emulator.faults.during("410"), pytest.raises(DatabaseUnavailable):
        async with asyncio.timeout(_DEADLINE_S):
            # Concurrent operations wait for the same lock in the SDK.
            await asyncio.gather(*(send(blog.posts, post) for _ in range(5)))

    await send(blog.posts, post)


@pytest.mark.parametrize("operation", ["query", "query-across", "read-many"])
async def test_a_query_reads_the_partition_key_ranges_again_after_a_410(blog: Blog, operation: str) -> None:
    post = await blog.posts.create(a_post(a_user()))
    send = _OPERATIONS[operation]
    before = await send(blog.posts, post)

    with (
        blog.emulator.faults.during("410 operation=query times=1") as gone,
        blog.emulator.faults.during("503 operation=list-ranges probability=0") as reading,
    ):
        after = await send(blog.posts, post)

    assert gone.struck == 1
    assert after == before
    assert 1 <= reading.matched <= 4
