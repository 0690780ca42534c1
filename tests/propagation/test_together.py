"""Calls made together, with the moment of each forced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shared.cosmos import Container
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.models.post import short_form
from shared.propagation.copies import creating_together, looking_together
from shared.propagation.together import Together
from tests.blog import Blog
from tests.items import a_post, a_user


class Calls:
    """Doubles numbers, once the gate is open; 13 is refused, by whatever is in `refusal`."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.gate = asyncio.Event()
        self.refusal: Exception = ValueError("13")

    async def __call__(self, keys: Sequence[int]) -> list[int]:
        self.seen.append(list(keys))
        await self.gate.wait()
        if 13 in keys:
            raise self.refusal
        return [2 * key for key in keys]


async def test_what_comes_while_a_call_is_under_way_goes_together_and_nothing_is_answered_from_before() -> None:
    calls = Calls()
    together = Together(calls, most=3)
    first = asyncio.create_task(together(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = [asyncio.create_task(together(key)) for key in (1, 2, 3, 4)]
    await asyncio.sleep(0)
    calls.gate.set()

    assert await asyncio.gather(first, *others) == [2, 2, 4, 6, 8]
    assert calls.seen == [[1], [1, 2, 3], [4]]


async def test_one_that_is_refused_fails_alone() -> None:
    calls = Calls()
    together = Together(calls, most=100)
    calls.gate.set()

    answers = await asyncio.gather(*(together(key) for key in (1, 13, 2)), return_exceptions=True)

    assert answers[0] == 2
    assert isinstance(answers[1], ValueError)
    assert answers[2] == 4


async def test_a_database_that_throttles_is_not_asked_for_each_again() -> None:
    calls = Calls()
    calls.refusal = DatabaseThrottled(1.0)
    together = Together(calls, most=100)
    calls.gate.set()

    answers = await asyncio.gather(*(together(key) for key in (1, 13, 2)), return_exceptions=True)

    assert [type(answer) for answer in answers] == [DatabaseThrottled] * 3
    assert calls.seen == [[1, 13, 2]]


async def test_who_is_cancelled_leaves_the_others_alone() -> None:
    calls = Calls()
    together = Together(calls, most=100)
    impatient, patient = asyncio.create_task(together(1)), asyncio.create_task(together(2))
    await asyncio.sleep(0)
    impatient.cancel()
    calls.gate.set()

    assert await patient == 4


async def test_copies_that_are_there_already_do_not_keep_the_others_out(blog: Blog) -> None:
    copies = [short_form(a_post(a_user())) for _ in range(5)]
    for copy in copies[1::2]:
        await blog.feed.create(copy)
    create = creating_together(blog.feed, "post")

    created = await asyncio.gather(*(create(copy) for copy in copies))

    assert created == [True, False, True, False, True]
    assert {item["id"] for item in await blog.all_items(blog.feed)} == {copy["id"] for copy in copies}


@pytest.mark.parametrize("number", [1, 50])
async def test_looks_find_what_there_is(blog: Blog, number: int) -> None:
    posts: list[Item] = [await blog.posts.create(a_post(a_user())) for _ in range(number)]
    queries: list[int] = []

    class Counted(Container):
        async def read_many(self, ids: Sequence[str]) -> list[Item]:
            queries.append(len(ids))
            return await super().read_many(ids)

    look = looking_together(Counted(blog.posts.proxy))

    found = await asyncio.gather(*(look(post["id"]) for post in posts), look("unknown"), look(posts[0]["id"]))

    assert [post and post["id"] for post in found] == [*(post["id"] for post in posts), None, posts[0]["id"]]
    assert queries == [number + 1]
