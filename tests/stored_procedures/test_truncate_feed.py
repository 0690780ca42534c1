"""truncateFeed.js as deployed, and the article's script for comparison."""

from __future__ import annotations

import random

import pytest

from shared.data.front_page import FRONT_PAGE_LENGTH
from shared.models.post import short_form
from shared.platform.models import Item
from tests.blog import STORED_PROCEDURES, Blog
from tests.items import a_post, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


def _copies(number: int, *, second: float | None = None) -> list[Item]:
    author = a_user()
    return [short_form(a_post(author, second=index if second is None else second)) for index in range(number)]


async def _fill(blog: Blog, copies: list[Item]) -> None:
    for start in range(0, len(copies), 100):
        await blog.feed.batch("post", [("create", (copy,)) for copy in copies[start : start + 100]])


def _most_recent(copies: list[Item]) -> set[str]:
    newest_first = sorted(copies, key=lambda copy: (copy["creationDate"], copy["id"]), reverse=True)
    return {copy["id"] for copy in newest_first[:FRONT_PAGE_LENGTH]}


async def _ids(blog: Blog) -> set[str]:
    return {copy["id"] for copy in await blog.all_items(blog.feed)}


def test_script_and_app_have_one_feed_length() -> None:
    script = (STORED_PROCEDURES / "truncateFeed.js").read_text(encoding="utf-8")
    assert f"FEED_LENGTH = {FRONT_PAGE_LENGTH};" in script


async def test_an_insert_into_a_full_feed_deletes_the_oldest_post(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH + 1)
    await _fill(blog, copies[:-1])

    await blog.feed.create(copies[-1], post_trigger="truncateFeed")

    assert await _ids(blog) == _most_recent(copies)


async def test_a_replacement_in_a_full_feed_deletes_nothing(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH)
    await _fill(blog, copies)

    await blog.feed.proxy.upsert_item(copies[50] | {"likeCount": 1}, post_trigger_include="truncateFeed")

    assert await _ids(blog) == _most_recent(copies)


async def test_the_articles_script_loses_a_post_on_a_replacement(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH)
    await _fill(blog, copies)
    await blog.deploy_naive_trigger("truncateFeed")

    await blog.feed.proxy.upsert_item(copies[50] | {"likeCount": 1}, post_trigger_include="naive-truncateFeed")

    assert len(await _ids(blog)) == FRONT_PAGE_LENGTH - 1


async def test_an_old_post_does_not_enter_a_full_feed(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH + 1)
    await _fill(blog, copies[1:])

    await blog.feed.create(copies[0], post_trigger="truncateFeed")

    assert await _ids(blog) == _most_recent(copies)


async def test_posts_with_the_same_date_are_ordered_by_id(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH + 5, second=7)
    random.Random(1).shuffle(copies)
    await _fill(blog, copies[:FRONT_PAGE_LENGTH])

    for copy in copies[FRONT_PAGE_LENGTH:]:
        await blog.feed.create(copy, post_trigger="truncateFeed")

    assert await _ids(blog) == _most_recent(copies)


async def test_one_write_truncates_a_feed_with_thousands_of_posts(blog: Blog) -> None:
    copies = _copies(2_000)
    await _fill(blog, copies[:-1])

    await blog.feed.create(copies[-1], post_trigger="truncateFeed")

    assert await _ids(blog) == _most_recent(copies)


async def test_an_interrupted_truncation_keeps_the_write_and_the_next_write_continues(blog: Blog) -> None:
    copies = _copies(FRONT_PAGE_LENGTH + 60)
    await _fill(blog, copies[:-1])

    with blog.accepting(30):
        await blog.feed.create(copies[-1], post_trigger="truncateFeed")
        after_first = await _ids(blog)
        for _ in range(3):
            await blog.feed.proxy.upsert_item(copies[-1], post_trigger_include="truncateFeed")

    assert copies[-1]["id"] in after_first
    assert FRONT_PAGE_LENGTH < len(after_first) < len(copies)
    assert await _ids(blog) == _most_recent(copies)


async def test_a_feed_that_is_not_full_keeps_everything(blog: Blog) -> None:
    copies = _copies(5)
    newest_first = sorted(copies, key=lambda copy: copy["creationDate"], reverse=True)

    for copy in newest_first:
        await blog.feed.create(copy, post_trigger="truncateFeed")

    assert await _ids(blog) == {copy["id"] for copy in copies}
