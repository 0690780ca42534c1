"""How long readers wait beside `manage.py verify` and `manage.py rebuild`.

    python -m bench.manage_load [checkout]

The database has 400 RU/s in one physical partition, 1,000 posts with 5,000 comments, and a wrong title in the copy of
each post. Ten times a second, somebody reads the front page or a post. `checkout` is a folder with another version of
manage.py.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.blog_items import post_id, user_id
from bench.loading import send_batches
from bench.report import circumstances
from bench.servers import REPOSITORY, emulator, functions_host
from bench.tables import table
from bench.timing import Times, until
from management.account import open_client, open_containers
from management.provision import provision
from shared.data.blog import Blog
from shared.data.username_reservations import reservation_item
from shared.models.comment import NewComment, comment_item
from shared.models.post import NewPost, post_item, short_form
from shared.models.user import user_item
from shared.platform.database.container import patch_of
from shared.platform.deliveries.concurrency import for_each
from shared.platform.models import Item
from shared.settings import Settings

_RU_S: Final = 400
_USERS: Final = 100
_POSTS: Final = 1_000
_COMMENTS: Final = 5
_READ_EVERY_S: Final = 0.1
_ALONE_S: Final = 30.0
_HANDLED_S: Final = 600.0
_DATE: Final = "2025-06-01T00:00:00.000Z"
_HEAD: Final = ("beside", "lasts", "reads", "p50", "p99", "longest", "not 200")


async def measure(checkout: Path) -> list[tuple[str, ...]]:
    """Return a row for the readers alone, and one beside each command."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(None, "--partitions", "1"))
        settings = server.settings("blog")
        await provision(settings, throughput=_RU_S)
        blog = await open_containers(await stack.enter_async_context(open_client(settings)), settings.database)
        await send_batches(blog.users.proxy, "userId", _users())
        await send_batches(blog.posts.proxy, "postId", _posts())
        await for_each(range(_POSTS), partial(_damage_copy, blog))
        host = await stack.enter_async_context(functions_host(settings))
        session = await stack.enter_async_context(aiohttp.ClientSession(host.endpoint))
        await until(partial(_is_shown, session), _HANDLED_S)
        async with session.patch(f"{server.endpoint}_emulator/settings", json={"throttle": True}) as answer:
            answer.raise_for_status()
        rows = [await _row("nothing", session, asyncio.create_task(asyncio.sleep(_ALONE_S)))]
        for command in ("verify", "rebuild"):
            work = asyncio.create_task(_manage(checkout, command, settings))
            rows.append(await _row(f"`manage.py {command}`", session, work))
        return rows


def _user(number: int) -> Item:
    return user_item(user_id(number), f"user{number}", _DATE)


def _post(number: int) -> Item:
    new = NewPost(user_id=user_id(number % _USERS), title="A title", content="Some content. " * 40)
    post = post_item(post_id(number), _user(number % _USERS), new, _DATE)
    return post | {"commentCount": _COMMENTS, "version": 1 + _COMMENTS}


def _users() -> Iterator[Item]:
    for number in range(_USERS):
        yield _user(number)
        yield from (short_form(_post(post)) for post in range(number, _POSTS, _USERS))
    yield from (reservation_item(f"user{number}", user_id(number), 0) for number in range(_USERS))


def _posts() -> Iterator[Item]:
    for number in range(_POSTS):
        yield _post(number)
        for comment in range(_COMMENTS):
            text = NewComment(user_id=user_id(comment), content="A comment of no more than a sentence.")
            yield comment_item(f"comment-{comment:07}", post_id(number), _user(comment), text, _DATE)


async def _damage_copy(blog: Blog, number: int) -> None:
    await blog.users.patch(post_id(number), user_id(number % _USERS), patch_of({"title": "Another title"}))


async def _is_shown(session: aiohttp.ClientSession) -> bool:
    """Return whether the change-feed function has handled the last post, whose ID sorts first on the front page."""
    await asyncio.sleep(0.5)
    async with session.get("/api/feed", params={"limit": 1}) as answer:
        items = (await answer.json())["items"] if answer.status == 200 else []
    return bool(items) and items[0]["id"] == post_id(_POSTS - 1)


async def _manage(checkout: Path, command: str, settings: Settings) -> None:
    connection = f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};"
    environment = {**os.environ, "COSMOS": connection, "BLOG_DATABASE": settings.database}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "manage.py", command), cwd=checkout, env=environment, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    sys.stderr.write(output.decode()[-300:])


async def _row(beside: str, session: aiohttp.ClientSession, work: asyncio.Task[Any]) -> tuple[str, ...]:
    """Read until the work is done."""
    seconds, statuses, reads, begun = list[float](), Counter[int](), set[asyncio.Task[None]](), time.perf_counter()
    chosen = random.Random(1)  # noqa: S311 - the same reads in every run

    async def read(path: str) -> None:
        started = time.perf_counter()
        async with session.get(path) as answer:
            await answer.read()
        seconds.append(time.perf_counter() - started)
        statuses[answer.status] += 1

    while not work.done():
        path = chosen.choice(("/api/feed", f"/api/posts/{post_id(chosen.randrange(_POSTS))}"))
        reads.add(asyncio.create_task(read(path)))
        await asyncio.sleep(_READ_EVERY_S)
    lasted_s = time.perf_counter() - begun
    await asyncio.gather(*reads)
    await work
    times = Times(tuple(seconds))
    shown = (f"{milliseconds:,.0f} ms" for milliseconds in (times.p50_ms, times.p99_ms, max(seconds) * 1000))
    return (beside, f"{lasted_s:.0f} s", str(times.rounds), *shown, str(times.rounds - statuses[200]))


def main() -> None:
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    rows = asyncio.run(measure(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY))
    lines = [*circumstances(started, load_before), "", *table(_HEAD, rows)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
