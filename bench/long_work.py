"""How long the changes of others wait beside long work: a deleted post, a deleted account, a rename.

    python -m bench.long_work [400] [unthrottled]

The post has 10,000 comments, and the user has written 10,000 comments on 100 posts. The containers share the throughput
of the database in one physical partition. For up to a minute, two others take turns: one creates a post, until it is on
the front page, and one is renamed, until their former name is released. Exits with 1 if one of them waits for over 5 s.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

import aiohttp

from bench.blog_items import post_id
from bench.loading import send_batches
from bench.report import circumstances
from bench.servers import emulator, functions_host
from bench.tables import table
from bench.timing import Times, until
from management.account import open_client, open_containers
from management.provision import provision
from shared.data.users import create_user
from shared.models.comment import NewComment, comment_item
from shared.models.post import NewPost, post_item
from shared.models.user import FIRST_RENAMES, NewUser
from shared.platform.database.container import Container

Work = Literal["post deleted", "account deleted", "renamed"]
Item = dict[str, object]
_WORKS: Final[tuple[Work, ...]] = ("post deleted", "account deleted", "renamed")
_ITEMS: Final = 10_000
_HEAD: Final = ("beside", "RU/s", "new posts", "p50", "p99", "longest", "renames", "p50", "p99", "longest", "work done")
_WAIT_AT_MOST_S: Final = 5.0
_MEASURED_S: Final = 60.0
_GIVEN_UP_S: Final = 600.0
_DATE: Final = "2025-06-01T00:00:00.000Z"


@dataclass(frozen=True)
class Waits:
    """The waits of others beside some work, and whether that was done within the time."""

    work: Work
    ru_s: int | None
    posts: Times
    renames: Times
    is_done: bool

    @property
    def longest_s(self) -> float:
        return max(*self.posts.seconds, *self.renames.seconds)

    def row(self) -> tuple[str, ...]:
        def cells(waits: Times) -> tuple[str, ...]:
            times = (waits.p50_ms / 1000, waits.p99_ms / 1000, max(waits.seconds))
            return (str(waits.rounds), *(f"{seconds:.1f} s" for seconds in times))

        ru_s = f"{self.ru_s:,}" if self.ru_s else "any"
        return (self.work, ru_s, *cells(self.posts), *cells(self.renames), "yes" if self.is_done else "no")


async def measure(work: Work, ru_s: int | None) -> Waits:
    """Start the work, and measure how long others wait."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(None, "--partitions", "1"))
        settings = server.settings("blog")
        await provision(settings, throughput=ru_s or 400)
        blog = await open_containers(await stack.enter_async_context(open_client(settings)), settings.database)
        names = ("author", "worker", "other", "third")
        author, worker, other, third = [
            await create_user(blog.users, NewUser(username=name), idempotency_key=None) for name in names
        ]
        posts = 1 if work == "post deleted" else 100
        await send_batches(blog.posts.proxy, "postId", _items(author, worker, posts))
        host = await stack.enter_async_context(functions_host(settings))
        session = await stack.enter_async_context(aiohttp.ClientSession(host.endpoint, raise_for_status=True))
        await _post_until_shown(session, blog.feed, other)  # the change feed has then reached its end
        if ru_s:
            async with session.patch(f"{server.endpoint}_emulator/settings", json={"throttle": True}):
                pass
        path = f"/api/posts/{post_id(0)}" if work == "post deleted" else f"/api/users/{worker['id']}"
        body = {"username": "renamed"} if work == "renamed" else None
        async with session.request("PUT" if body else "DELETE", path, json=body):
            pass
        new_posts, renames, started = list[float](), list[float](), time.perf_counter()
        while time.perf_counter() - started < _MEASURED_S and len(renames) < FIRST_RENAMES - 1:
            begun = time.perf_counter()
            await _post_until_shown(session, blog.feed, other)
            new_posts.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            async with session.put(f"/api/users/{third['id']}", json={"username": f"third-{len(renames)}"}):
                pass
            await until(partial(_is_settled, blog.users, third["id"]), _GIVEN_UP_S)
            renames.append(time.perf_counter() - begun)
        left = "c.type = 'comment' AND " + ("c.userUsername != 'renamed'" if body else "NOT IS_DEFINED(c.ttl)")
        rows = blog.posts.query_across(f"SELECT VALUE COUNT(1) FROM c WHERE {left}", {}, page_size=1)  # noqa: S608 - fixed conditions
        is_done = sum([row async for row in rows]) == 0
    return Waits(work, ru_s, Times(tuple(new_posts)), Times(tuple(renames)), is_done)


def _items(author: Item, worker: Item, posts: int) -> Iterator[Item]:
    for number in range(posts):
        new = NewPost(user_id=str(author["id"]), title="A title", content="Some content.")
        yield post_item(post_id(number), author, new, _DATE) | {"commentCount": _ITEMS // posts}
        for comment in range(_ITEMS // posts):
            text = NewComment(user_id=str(worker["id"]), content="A comment of no more than a sentence.")
            yield comment_item(f"comment-{comment:07}", post_id(number), worker, text, _DATE)


async def _post_until_shown(session: aiohttp.ClientSession, feed: Container, author: Item) -> None:
    new = {"userId": author["id"], "title": "A title", "content": "Some content."}
    async with session.post("/api/posts", json=new) as answer:
        created = await answer.json()
    await until(partial(_exists, feed, created["id"]), _GIVEN_UP_S)


async def _exists(feed: Container, item_id: str) -> bool:
    await asyncio.sleep(0.1)  # each read is charged
    return await feed.read(item_id, "post") is not None


async def _is_settled(users: Container, user_id: str) -> bool:
    await asyncio.sleep(0.1)
    return "formerUsernames" not in (await users.read(user_id, user_id) or {})


def main() -> int:
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    loads = [int(load) if load.isdigit() else None for load in sys.argv[1:]] or [400, None]
    found = [asyncio.run(measure(work, ru_s)) for ru_s in loads for work in _WORKS]
    lines = [*circumstances(started, load_before), "", *table(_HEAD, (each.row() for each in found))]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(any(each.longest_s > _WAIT_AT_MOST_S for each in found))


if __name__ == "__main__":
    sys.exit(main())
