"""Q6: the feed."""

from __future__ import annotations

import asyncio
import json

import pytest

from functions.feed import front_page_response
from shared.data.front_page import FRONT_PAGE_LENGTH, FrontPage, list_recent_posts
from shared.models.post import Post, short_form
from shared.platform.models import Item, now
from tests.api import POST_PROPERTIES, Api
from tests.blog import Blog
from tests.items import a_post, a_user
from tests.polling import eventually


async def test_the_feed_is_compressed_for_clients_that_ask(api: Api) -> None:
    author = await api.new_user()
    for _ in range(5):
        await api.new_post(author, content="Some content. " * 20)

    async def is_long() -> bool:  # a short feed is not compressed
        return len((await api.get_feed()).body["items"]) >= 5

    await eventually(is_long)
    gzipped = await api.send("GET", "/api/feed", headers={"Accept-Encoding": "gzip"})
    plain = await api.send("GET", "/api/feed", headers={"Accept-Encoding": "identity"})

    assert (gzipped.headers["content-encoding"], gzipped.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in plain.headers
    assert gzipped.etag.endswith('-gzip"')


async def test_new_posts_are_listed_first_in_short_form(api: Api) -> None:
    author = await api.new_user()
    posts = [await api.new_post(author, f"Title {number}", "word " * 100) for number in range(3)]

    async def shown() -> list[Item] | None:
        items = (await api.get_feed(limit=100)).body["items"]
        own = [item for item in items if item["userId"] == author["id"]]
        return own if len(own) == len(posts) else None

    items = await eventually(shown)

    assert [item["id"] for item in items] == [post["id"] for post in reversed(posts)]
    for item in items:
        assert set(item) == POST_PROPERTIES
        assert item["content"].endswith("word…")


async def test_the_feed_has_no_pages(api: Api) -> None:
    await api.new_post(await api.new_user())

    answer = await api.get_feed(limit=1)

    assert set(answer.body) == {"items"}


async def test_the_feed_is_exactly_the_most_recent_of_all_posts(api: Api, stored: Blog) -> None:
    author = await api.new_user()
    # More posts share this date than fit in the feed.
    moment = now()
    crowd = [a_post(author) | {"creationDate": moment} for _ in range(FRONT_PAGE_LENGTH + 5)]
    await asyncio.gather(*(stored.posts.create(post) for post in crowd))
    for post in crowd[:3]:
        await api.delete_post(post["id"])

    async def is_exact() -> bool:
        answer = await api.get_feed(limit=FRONT_PAGE_LENGTH)
        return [item["id"] for item in answer.body["items"]] == await _most_recent(stored)

    await eventually(is_exact)

    twenty = (await api.get_feed()).body["items"]
    assert twenty == (await api.get_feed(limit=FRONT_PAGE_LENGTH)).body["items"][:20]


async def _most_recent(stored: Blog) -> list[str]:
    posts = [item for item in await stored.all_items(stored.posts) if item["type"] == "post"]
    newest_first = sorted(posts, key=lambda post: (post["creationDate"], post["id"]), reverse=True)
    return [post["id"] for post in newest_first[:FRONT_PAGE_LENGTH]]


@pytest.mark.parametrize("content", ["<script>alert(1)</script>", "\U0001f1e9", "🇩🇪" * 150])
async def test_unusual_content_is_listed_unchanged(api: Api, content: str) -> None:
    author = await api.new_user()
    post = await api.new_post(author, content=content)

    async def shown() -> Item | None:
        items = (await api.get_feed(limit=100)).body["items"]
        return next((item for item in items if item["id"] == post["id"]), None)

    shown_content = (await eventually(shown))["content"]

    assert shown_content == content or (shown_content.endswith("🇪…") and len(shown_content) <= 200)


async def test_the_feed_is_cacheable_and_returns_304_if_unchanged(api: Api) -> None:
    answer = await api.get_feed(limit=3)

    async def unchanged() -> bool:
        first = await api.get_feed(limit=3)
        again = await api.send("GET", "/api/feed?limit=3", headers={"If-None-Match": first.etag})
        return (again.status, again.content, again.etag) == (304, b"", first.etag)

    assert answer.headers["cache-control"] == "public, max-age=1, stale-while-revalidate=1"
    await eventually(unchanged)  # other tests write posts at the same time


async def test_each_limit_has_its_own_etag(api: Api) -> None:
    author = await api.new_user()
    for number in range(3):
        await api.new_post(author, f"Title {number}")

    async def shown() -> bool:
        answers = [await api.get_feed(limit=limit) for limit in (1, 2, 3)]
        lengths = [len(answer.body["items"]) for answer in answers]
        return lengths == [1, 2, 3] and len({answer.etag for answer in answers}) == 3

    await eventually(shown)


async def test_a_page_is_serialized_once_per_limit(blog: Blog) -> None:
    for second in range(3):
        await blog.feed.create(short_form(a_post(a_user(), second=second)))

    page = FrontPage([Post.serialize(post) for post in await list_recent_posts(blog.feed)])
    first, again, shorter = (front_page_response(page, limit) for limit in (3, 3, 2))

    assert first is again
    assert [len(json.loads(response.content)["items"]) for response in (first, shorter)] == [3, 2]
    assert first.etag != shorter.etag
