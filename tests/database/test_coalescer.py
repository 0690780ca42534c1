"""The coalescer under forced interleavings, and the two coalescers of the change-feed functions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from shared.database.coalescer import Coalescer
from shared.database.container import Container
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.models.post import short_form
from shared.propagation.copies import copy_creations, post_reads
from tests.blog import Blog
from tests.items import a_post, a_user


class Doubling:
    """Doubles numbers once the gate is open. 13 fails the run with `error`; 17 fails only itself."""

    def __init__(self) -> None:
        self.runs: list[list[int]] = []
        self.started = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        self.error: Exception = ValueError("13")

    async def __call__(self, key: str, numbers: Sequence[int]) -> list[int | Exception]:
        self.runs.append(list(numbers))
        self.started.release()
        await self.gate.wait()
        if 13 in numbers:
            raise self.error
        return [ValueError("17") if number == 17 else 2 * number for number in numbers]

    def coalescer(self, **options: Any) -> Coalescer[str, int, int]:
        return Coalescer(self, **({"limit": 100} | options))


@pytest.fixture
async def doubling() -> Doubling:
    return Doubling()


async def _let_tasks_run() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_cancelled_coalescer_cancels_its_groups_and_takes_new_ones(doubling: Doubling) -> None:
    coalescer = doubling.coalescer()
    waiting = asyncio.create_task(coalescer.submit("a", 13))
    await doubling.started.acquire()
    waiting.cancel()
    await _let_tasks_run()

    coalescer.cancel()
    await _let_tasks_run()
    doubling.gate.set()

    assert await coalescer.submit("a", 1) == 2
    assert doubling.runs == [[13], [1]]


async def test_values_submitted_during_a_group_share_the_next_groups(doubling: Doubling) -> None:
    coalescer = doubling.coalescer(limit=3)
    first = asyncio.create_task(coalescer.submit("a", 1))
    await _let_tasks_run()
    others = [asyncio.create_task(coalescer.submit("a", number)) for number in (1, 2, 3, 4)]
    await _let_tasks_run()
    doubling.gate.set()

    assert await asyncio.gather(first, *others) == [2, 2, 4, 6, 8]
    assert doubling.runs == [[1], [1, 2, 3], [4]]


async def test_groups_of_different_keys_do_not_wait_for_each_other(doubling: Doubling) -> None:
    coalescer = doubling.coalescer()
    tasks = [asyncio.create_task(coalescer.submit(key, 1)) for key in ("a", "b")]
    await _let_tasks_run()

    assert doubling.runs == [[1], [1]]
    doubling.gate.set()
    assert await asyncio.gather(*tasks) == [2, 2]


async def test_an_error_of_one_value_fails_only_its_submitter(doubling: Doubling) -> None:
    coalescer = doubling.coalescer()
    doubling.gate.set()

    outcomes = await asyncio.gather(*(coalescer.submit("a", number) for number in (1, 17)), return_exceptions=True)

    assert outcomes[0] == 2
    assert isinstance(outcomes[1], ValueError)
    assert doubling.runs == [[1, 17]]


async def test_a_failed_group_runs_again_one_value_at_a_time(doubling: Doubling) -> None:
    coalescer = doubling.coalescer()
    doubling.gate.set()

    outcomes = await asyncio.gather(*(coalescer.submit("a", number) for number in (1, 13, 2)), return_exceptions=True)

    assert (outcomes[0], outcomes[2]) == (2, 4)
    assert isinstance(outcomes[1], ValueError)
    assert doubling.runs == [[1, 13, 2], [1], [13], [2]]


async def test_a_shared_error_fails_the_whole_group_but_not_the_next_group(doubling: Doubling) -> None:
    doubling.error = DatabaseThrottled(1.0)
    coalescer = doubling.coalescer(shared_errors=(DatabaseThrottled,), limit=3)
    doubling.gate.set()

    outcomes = await asyncio.gather(
        *(coalescer.submit("a", number) for number in (1, 13, 2, 3)), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [DatabaseThrottled] * 3 + [int]
    assert doubling.runs == [[1, 13, 2], [3]]


async def test_canceling_a_submitter_does_not_cancel_the_others(doubling: Doubling) -> None:
    coalescer = doubling.coalescer()
    tasks = [asyncio.create_task(coalescer.submit("a", number)) for number in (1, 2)]
    await _let_tasks_run()
    tasks += [asyncio.create_task(coalescer.submit("a", number)) for number in (3, 4)]
    await _let_tasks_run()
    tasks[0].cancel()
    tasks[2].cancel()
    await _let_tasks_run()
    doubling.gate.set()

    assert [await tasks[1], await tasks[3]] == [4, 8]
    assert doubling.runs == [[1, 2], [4]]


async def test_a_hanging_group_delays_the_next_group_for_a_limited_time(doubling: Doubling) -> None:
    coalescer = doubling.coalescer(overlap_after_s=0.01)
    first = asyncio.create_task(coalescer.submit("a", 1))
    await doubling.started.acquire()
    second = asyncio.create_task(coalescer.submit("a", 2))
    await doubling.started.acquire()
    doubling.gate.set()

    assert await asyncio.gather(first, second) == [2, 4]


async def test_existing_copies_do_not_block_the_creation_of_others(blog: Blog) -> None:
    copies = [short_form(a_post(a_user())) for _ in range(5)]
    for copy in copies[1::2]:
        await blog.feed.create(copy)
    creations = copy_creations(blog.feed)

    created = await asyncio.gather(*(creations.submit("post", copy) for copy in copies))

    assert created == [True, False, True, False, True]
    assert {item["id"] for item in await blog.all_items(blog.feed)} == {copy["id"] for copy in copies}


@pytest.mark.parametrize("number", [1, 50])
async def test_concurrent_post_reads_are_one_call(blog: Blog, number: int) -> None:
    posts: list[Item] = [await blog.posts.create(a_post(a_user())) for _ in range(number)]
    queries: list[int] = []

    class Counted(Container):
        async def read_many(self, ids: Sequence[str]) -> list[Item]:
            queries.append(len(ids))
            return await super().read_many(ids)

    reads = post_reads(Counted(blog.posts.proxy))
    ids = [*(post["id"] for post in posts), "unknown", posts[0]["id"]]

    found = await asyncio.gather(*(reads.submit(None, post_id) for post_id in ids))

    assert [post and post["id"] for post in found] == [*(post["id"] for post in posts), None, posts[0]["id"]]
    assert queries == [number + 1]
