"""Measure how fast changes reach the copies: new posts, and a rename of 20,000 items on 5,000 posts.

The emulator delays responses like a network. This process follows the change feeds, with one reader per physical
partition.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench.loading import send_batches
from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import Model, UserView
from bench.models.loading import emulated
from bench.models.observation import observed
from bench.models.v1 import rows_across
from bench.timing import BenchmarkError
from shared.platform.models import Item

LATENCY: Final = "10ms"
AUTHORS: Final = 50
COMMENTS_OF_USER: Final = 3  # on each post, plus one like
_CREATORS: Final = 32
_CONTENT: Final = "A post of no more than a sentence."
_DATE: Final = "2025-06-01T00:00:00.000Z"


@dataclass(frozen=True)
class FanOut:
    """Duration and total request units of copying posts or renaming items."""

    model: str
    what: str
    partitions: int
    count: int
    seconds: float
    request_units: float

    @property
    def per_second(self) -> float:
        return self.count / self.seconds


async def measure_posts(kinds: Sequence[type[Model]], count: int, partitions: int) -> list[FanOut]:
    """Measure new posts, created before the change feed is followed."""
    found = []
    for kind in kinds:
        async with emulated([kind], None, "--partitions", str(partitions), "--latency", LATENCY) as (model,):
            authors = [await model.create_user(f"author-{number}") for number in range(AUTHORS)]
            feeds = await ChangeFeedFollower.start(model)
            await feeds.settle()
            await _create_posts(model, authors, count)
            seconds, units = await _settled(feeds)
            copies = [len(await model.list_user_posts(author.id)) for author in authors]
            if sum(copies) != count:
                raise BenchmarkError(f"{kind.NAME} copied {sum(copies)} posts of {count}")
            found.append(FanOut(kind.NAME, "new posts", partitions, count, seconds, units))
    return found


async def measure_rename(kinds: Sequence[type[Model]], posts: int, partitions: int) -> list[FanOut]:
    """Rename a user with three comments and a like on each post."""
    found = []
    for kind in kinds:
        async with emulated([kind], None, "--partitions", str(partitions), "--latency", LATENCY) as (model,):
            author, user = await model.create_user("author"), await model.create_user("former.name")
            container = model.database.get_container_client("posts")
            await send_batches(container, "postId", _posts_of(author, user, posts))
            feeds = await ChangeFeedFollower.start(model, from_now=True)
            await model.rename_user(user, "present.name")
            seconds, units = await _settled(feeds.of("users"))
            await _check_names(model, "present.name")
            items = posts * (COMMENTS_OF_USER + 1)
            found.append(FanOut(kind.NAME, "renamed items", partitions, items, seconds, units))
    return found


async def _create_posts(model: Model, authors: Sequence[UserView], count: int) -> None:
    in_turn = itertools.islice(itertools.cycle(authors), count)

    async def create() -> None:
        for author in in_turn:
            await model.create_post(author, "A title", _CONTENT)

    await asyncio.gather(*(create() for _ in range(_CREATORS)))


async def _settled(feeds: ChangeFeedFollower) -> tuple[float, float]:
    """Follow the change feeds to their end; return seconds and request units."""
    started = time.perf_counter()
    with observed() as observation:
        await feeds.settle()
    return time.perf_counter() - started, observation.request_units


def _posts_of(author: UserView, user: UserView, count: int) -> Iterator[Item]:
    """Yield posts of `author`, with comments and a like by `user`, for any model."""
    for number in range(count):
        post = f"post-{number:06}"
        of_user = {"postId": post, "userId": user.id, "userUsername": user.username}
        by_author = {"postId": post, "userId": author.id, "userUsername": author.username, "creationDate": _DATE}
        text = {"title": "A title", "content": _CONTENT, "version": 1}
        yield {"id": post, "type": "post", **by_author, **text, "commentCount": COMMENTS_OF_USER, "likeCount": 1}
        for comment in range(COMMENTS_OF_USER):
            item = {"id": f"{post}-{comment}", "type": "comment", **of_user, "content": _CONTENT}
            yield item | {"creationDate": _DATE}
        yield {"id": user.id, "type": "like", **of_user, "creationDate": _DATE}


async def _check_names(model: Model, name: str) -> None:
    """Raise BenchmarkError if an item kept its username."""
    query = "SELECT VALUE COUNT(1) FROM c WHERE c.type != 'post' AND c.userUsername != @name"
    if left := sum(await rows_across(model.database.get_container_client("posts"), query, name=name)):
        raise BenchmarkError(f"{model.NAME} left {left} items with the old username")
