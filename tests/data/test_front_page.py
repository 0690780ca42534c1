"""The front page: all requests within a second share one query of the feed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from shared.data import front_page as front_page_module
from shared.data.front_page import FrontPage, front_page
from shared.models.post import short_form
from shared.platform.database.container import Container
from shared.platform.database.scope import record_response, request_scope
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_post, a_user

# Each test has a loop of its own.
pytestmark = pytest.mark.filterwarnings("ignore:alru_cache detected event loop change")


class Feed(Interleaved):
    """A feed that counts queries, holds them at a gate, and can fail."""

    def __init__(self, container: Container) -> None:
        super().__init__(container, "query", before=self._hold)
        self.queries = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_throttled = False

    async def _hold(self, *_: object, **__: object) -> None:
        self.queries += 1
        await self.gate.wait()
        if self.is_throttled:
            raise DatabaseThrottled(1.0)


@pytest.fixture
def feed(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> Feed:
    held = Feed(blog.feed)

    async def opened(_: str) -> Container:
        return held

    monkeypatch.setattr(front_page_module, "open_container", opened)
    front_page.cache_clear()
    return held


async def test_a_cached_page_costs_no_query(feed: Feed) -> None:
    pages = [await front_page() for _ in range(3)]

    assert pages[0] is pages[1] is pages[2]
    assert feed.queries == 1


async def test_the_session_of_a_request_does_not_delay_the_shared_query(blog: Blog, feed: Feed) -> None:
    container = await feed.proxy.read()

    with request_scope() as scope:
        scope.session.add(container["_rid"], ",".join(f"{range_id}:-1#999999999999999999" for range_id in range(4)))
        await front_page()

    assert scope.responses == 1


async def test_concurrent_requests_share_one_query_and_one_is_charged(feed: Feed) -> None:
    charges: list[float] = []

    async def request() -> None:
        with request_scope() as scope:
            await front_page()
        charges.append(scope.request_units)

    feed.gate.clear()
    requests = [asyncio.create_task(request()) for _ in range(50)]
    await asyncio.sleep(0)
    feed.gate.set()
    await asyncio.gather(*requests)

    assert feed.queries == 1
    assert sorted(charge > 0 for charge in charges) == [False] * 49 + [True]


async def test_a_canceled_request_does_not_cancel_the_shared_query(feed: Feed) -> None:
    feed.gate.clear()
    cancelled, other = asyncio.create_task(_page()), asyncio.create_task(_page())
    await asyncio.sleep(0)

    cancelled.cancel()
    feed.gate.set()

    assert (await other).posts == []
    assert feed.queries == 1


async def _page() -> FrontPage:
    return await front_page()


async def test_errors_are_not_cached(feed: Feed) -> None:
    feed.is_throttled = True
    with pytest.raises(DatabaseThrottled):
        await front_page()

    feed.is_throttled = False

    assert (await front_page()).posts == []


async def test_a_hanging_query_ends_at_its_deadline(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_rows(*_: object, **__: object) -> list[object]:
        return []

    # A real query can take longer than this deadline.
    monkeypatch.setattr(Container, "query", no_rows)
    monkeypatch.setattr(front_page_module, "FRONT_PAGE_DEADLINE_S", 0.05)
    feed.gate.clear()
    with pytest.raises(DatabaseUnavailable):
        await front_page()

    feed.gate.set()

    assert (await front_page()).posts == []


async def test_a_throttled_query_throttles_every_request(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_page_module, "FRONT_PAGE_DEADLINE_S", 0.1)

    async def throttled_query(*_: object, **__: object) -> list[object]:
        record_response(SimpleNamespace(status_code=429, headers={}))
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(feed, "query", throttled_query)

    async def request() -> None:
        with request_scope():
            await front_page()

    outcomes = await asyncio.gather(*(request() for _ in range(3)), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [DatabaseThrottled] * 3


async def test_a_damaged_item_is_left_out(blog: Blog, feed: Feed) -> None:
    await blog.feed.create(short_form(a_post(a_user())) | {"title": None})
    sound = await blog.feed.create(short_form(a_post(a_user())))

    page = await front_page()

    assert [post["id"] for post in page.posts] == [sound["id"]]
