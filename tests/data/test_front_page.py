"""One reading of the front page for all who come within a second."""

from __future__ import annotations

import asyncio

import pytest
from shared.data.front_page import KEPT_S, OLDEST_S, FrontPage

from shared.charges import metered
from shared.cosmos import Container
from shared.data import front_page as reading
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.post import short_form
from tests.blog import Blog
from tests.items import a_post, a_user


class Feed(Container):
    """The feed, whose readings are counted, wait for the gate, and may fail."""

    def __init__(self, container: Container) -> None:
        super().__init__(container.proxy)
        self.readings = 0
        self.arrivals = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = False

    async def query(self, *arguments: object, **options: object) -> list[object]:
        self.readings += 1
        gate = self.gate
        self.arrivals.release()
        await gate.wait()
        if self.fails:
            raise DatabaseThrottled(1.0)
        return await super().query(*arguments, **options)  # type: ignore[arg-type]  # handed on as they came


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def feed(blog: Blog) -> Feed:
    return Feed(blog.feed)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def front_page(feed: Feed, clock: Clock) -> FrontPage:
    async def opened() -> Container:
        return feed

    return FrontPage(opened, clock)


async def test_a_page_is_read_once_a_second_and_not_kept_longer(
    blog: Blog, feed: Feed, front_page: FrontPage, clock: Clock
) -> None:
    assert (await front_page.page()).items == []
    await blog.feed.create(short_form(a_post(a_user())))

    clock.now += KEPT_S - 0.01
    assert (await front_page.page()).items == []
    clock.now += 0.01

    assert len((await front_page.page()).items) == 1
    assert feed.readings == 2


async def test_those_who_come_while_it_is_read_wait_for_the_same_reading_and_one_is_charged(
    feed: Feed, front_page: FrontPage
) -> None:
    charges: list[float] = []

    async def ask() -> None:
        with metered() as charge:
            await front_page.page()
        charges.append(charge.request_units)

    feed.gate.clear()
    asking = [asyncio.create_task(ask()) for _ in range(50)]
    await asyncio.sleep(0)
    feed.gate.set()
    await asyncio.gather(*asking)

    assert feed.readings == 1
    assert sorted(charge > 0 for charge in charges) == [False] * 49 + [True]


async def test_who_gives_up_does_not_end_the_reading_of_the_others(feed: Feed, front_page: FrontPage) -> None:
    feed.gate.clear()
    impatient, patient = asyncio.create_task(front_page.page()), asyncio.create_task(front_page.page())
    await asyncio.sleep(0)
    impatient.cancel()
    feed.gate.set()

    assert (await patient).items == []
    assert feed.readings == 1


async def test_the_page_before_serves_while_the_database_throttles_and_never_past_two_seconds(
    feed: Feed, front_page: FrontPage, clock: Clock
) -> None:
    page = await front_page.page()
    feed.fails = True

    clock.now += OLDEST_S - 0.01
    assert await front_page.page() is page
    clock.now += 0.01
    with pytest.raises(DatabaseThrottled):
        await front_page.page()
    feed.fails = False

    assert await front_page.page() is not page


async def test_a_reading_that_hangs_holds_up_nobody_for_long(
    blog: Blog, feed: Feed, front_page: FrontPage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_HELD_UP_S", 0.2)
    hangs = feed.gate = asyncio.Event()
    asking = [asyncio.create_task(front_page.page()) for _ in range(3)]
    await feed.arrivals.acquire()
    await blog.feed.create(short_form(a_post(a_user())))
    clock.now += 1
    feed.gate = asyncio.Event()
    feed.gate.set()

    pages = await asyncio.wait_for(asyncio.gather(*asking), 5)
    hangs.set()
    await asyncio.gather(*front_page.readings, return_exceptions=True)

    assert [len(page.items) for page in pages] == [1, 1, 1]
    assert feed.readings == 2
    assert await front_page.page() is pages[0], "the reading that hung is no news"


async def test_a_reading_that_hangs_is_given_up_at_its_deadline(
    feed: Feed, front_page: FrontPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "REQUEST_DEADLINE_S", 0.05)
    feed.gate.clear()

    with pytest.raises(DatabaseUnavailable):
        await asyncio.wait_for(front_page.page(), 5)
    feed.gate.set()

    assert (await front_page.page()).items == []


async def test_a_reading_that_ended_with_its_loop_is_not_waited_for(feed: Feed, front_page: FrontPage) -> None:
    asking = asyncio.create_task(front_page.page())
    await asyncio.sleep(0)
    for task in front_page.readings:
        task.cancel()  # before its first step
    await asyncio.gather(asking, return_exceptions=True)

    assert (await front_page.page()).items == []
