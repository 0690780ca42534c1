"""Measure one like and one comment in a burst, including the work of the change feeds.

Fifty clients like, then comment on, five posts as fast as they get responses, which the emulator delays like a network.
The change feeds are followed to their end. All clients are tasks of this process, like the requests of one instance.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import Model, PostView, UserView
from bench.models.loading import emulated
from bench.models.observation import observed
from bench.models.plan import TEXT_LENGTH
from bench.timing import BenchmarkError

CLIENTS: Final = 50
POSTS: Final = 5
PARTITIONS: Final = 4
LATENCY: Final = "10ms"
# Seconds between idle polls: this project's setting and the trigger's default.
POLLS: Final = (0.3, 5.0)
_CONTENT: Final = ("word " * TEXT_LENGTH)[:TEXT_LENGTH].strip()

Command = Callable[[int], Awaitable[object]]


@dataclass(frozen=True)
class Burst:
    """Request units per command: of the command, of the change-feed functions, and their feed reads."""

    model: str
    command: str
    poll_s: float
    count: int
    seconds: float
    command_ru: float
    propagation_ru: float
    feed_ru: float

    @property
    def total_ru(self) -> float:
        return self.command_ru + self.propagation_ru


async def measure_bursts(kinds: Sequence[type[Model]], count: int) -> list[Burst]:
    """Measure `count` likes and comments per model and polling delay."""
    found = []
    for poll_s in POLLS:
        options = ("--partitions", str(PARTITIONS), "--latency", LATENCY)
        async with emulated(kinds, None, *options) as models:
            for model in models:
                found += await _bursts(model, count, poll_s)
    return found


async def _bursts(model: Model, count: int, poll_s: float) -> list[Burst]:
    people = await _people(model, count // POSTS)
    posts = [await model.create_post(people[0], f"Post {number}", _CONTENT) for number in range(POSTS)]
    feeds = await ChangeFeedFollower.start(model)
    await feeds.settle()

    async def like(number: int) -> object:
        return await model.like(posts[number % POSTS].id, people[number // POSTS])

    async def comment(number: int) -> object:
        return await model.create_comment(posts[number % POSTS].id, people[number // POSTS], _CONTENT)

    likes = await _burst(model, feeds, "like", like, count, poll_s)
    comments = await _burst(model, feeds, "comment", comment, count, poll_s)
    await _check(model, posts, count)
    return [likes, comments]


async def _people(model: Model, count: int) -> list[UserView]:
    tasks = [model.create_user(f"burst-{uuid.uuid4().hex[:12]}") for _ in range(count)]
    return list(await asyncio.gather(*tasks))


async def _burst(
    model: Model, feeds: ChangeFeedFollower, name: str, command: Command, count: int, poll_s: float
) -> Burst:
    started = time.perf_counter()
    with observed() as propagation:
        async with feeds.running(poll_s):
            with observed() as commands:
                await _all_clients(command, count)
        seconds = time.perf_counter() - started
        await feeds.settle()
    charges = (commands.request_units, propagation.request_units, propagation.feed_units)
    return Burst(model.NAME, name, poll_s, count, seconds, *(charge / count for charge in charges))


async def _all_clients(command: Command, count: int) -> None:
    numbers = iter(range(count))

    async def client() -> None:
        for number in numbers:
            await command(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(client())


async def _check(model: Model, posts: Sequence[PostView], count: int) -> None:
    """Check the counts. Raises BenchmarkError."""
    feed = {post.id: post for post in await model.feed()}
    for post in posts:
        stored = await model.get_post(post.id)
        for state in (stored, feed[post.id]):
            if (state.like_count, state.comment_count) != (count // POSTS, count // POSTS):
                raise BenchmarkError(f"{model.NAME} counted {state.like_count} likes, {state.comment_count} comments")
