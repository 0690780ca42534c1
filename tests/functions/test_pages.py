"""Paged lists: newest first, each item once, even if the list changes between pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from shared.models.post import short_form
from shared.platform.database.container import Container
from shared.platform.models import Item
from tests.api import Api
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user


@dataclass(frozen=True)
class Listing:
    """A list at `path` with its `items`, newest first. `add` creates an item dated `second`."""

    path: str
    items: list[Item]
    add: Callable[[int], Awaitable[Item]]

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.items]


KINDS = ("posts", "comments", "likes")
NUMBER = 25


@pytest.fixture(params=KINDS)
async def listing(stored: Blog, request: pytest.FixtureRequest) -> Listing:
    """A list of 25 items, five per timestamp."""
    author = await stored.users.create(a_user())
    post = a_post(author)
    if request.param != "posts":
        await stored.posts.create(post)

    async def add(second: int) -> Item:
        container, item = _one_of(request.param, stored, author, post, second)
        return await container.create(item)

    items = [await add(number // 5) for number in range(NUMBER)]
    newest_first = sorted(items, key=lambda item: (item["creationDate"], item["id"]), reverse=True)
    path = (
        f"/api/users/{author['id']}/posts" if request.param == "posts" else f"/api/posts/{post['id']}/{request.param}"
    )
    return Listing(path, newest_first, add)


def _one_of(kind: str, stored: Blog, author: Item, post: Item, second: int) -> tuple[Container, Item]:
    match kind:
        case "posts":
            return stored.users, short_form(a_post(author, second=second))
        case "comments":
            return stored.posts, a_comment(post, author, second=second)
        case _:
            return stored.posts, a_like(post, a_user("liker"), second=second)


@pytest.mark.parametrize("limit", [1, 4, 5, 24, 25, 26, 100])
async def test_pages_combine_to_the_whole_list_newest_first(api: Api, listing: Listing, limit: int) -> None:
    pages = [page async for page in api.pages(listing.path, limit)]

    assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    assert 1 <= len(pages[-1]) <= limit
    assert [item["id"] for page in pages for item in page] == listing.ids


async def test_a_page_has_twenty_items_by_default(api: Api, listing: Listing) -> None:
    answer = await api.send("GET", listing.path)

    assert set(answer.body) == {"items", "nextCursor"}
    assert [item["id"] for item in answer.body["items"]] == listing.ids[:20]


async def test_items_added_between_pages_do_not_shift_them(api: Api, listing: Listing) -> None:
    seen = []
    async for page in api.pages(listing.path, 5):
        seen += [item["id"] for item in page]
        await listing.add(100)

    assert seen == listing.ids


async def test_a_cursor_stays_valid_after_its_item_is_deleted(api: Api, stored: Blog, listing: Listing) -> None:
    first = await api.send("GET", f"{listing.path}?limit=5")
    last = listing.items[4]
    container, key = (stored.users, "userId") if "/users/" in listing.path else (stored.posts, "postId")
    await container.delete(last["id"], last[key])

    second = await api.send("GET", f"{listing.path}?limit=100&cursor={first.body['nextCursor']}")

    assert [item["id"] for item in second.body["items"]] == listing.ids[5:]


async def test_a_cursor_from_another_list_reads_only_the_requested_list(api: Api, listing: Listing) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    own = [await api.new_comment(post, author) for _ in range(3)]
    foreign = (await api.send("GET", f"{listing.path}?limit=5")).body["nextCursor"]

    answer = await api.list_comments(post["id"], cursor=foreign)

    assert answer.status == 200
    assert {item["id"] for item in answer.body["items"]} <= {comment["id"] for comment in own}


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


DATE = "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "a" * 1000, "ä", "%00", "null", "===="),
        *map(_encoded, [None, 1, {}, [], [DATE], [DATE, "id", "more"], [1, "id"], [DATE, 1], [DATE, None], [DATE, ""]]),
        *map(_encoded, [["' OR 1=1 --", "id"], [DATE, "a/b"], [DATE, "a\x00b"], [DATE, "\ud800"], {"a": 1, "b": 2}]),
        base64.urlsafe_b64encode(b"[" * 3000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        pytest.param(_encoded([DATE, "some-id"])[:-3], id="truncated"),
        pytest.param(_encoded([DATE, "some-id"]) + "x", id="with trailing data"),
    ],
)
async def test_a_malformed_cursor_returns_400(api: Api, cursor: str) -> None:
    author = await api.new_user()

    answer = await api.list_user_posts(author["id"], cursor=cursor)

    assert (answer.status, answer.body["title"]) == (400, "Malformed request")
    assert "cursor" in answer.body["detail"]


LISTS = ("/api/users/{user}/posts", "/api/posts/{post}/comments", "/api/posts/{post}/likes", "/api/feed")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "limit",
    [
        "0",
        "101",
        "-1",
        "+1",
        "1.5",
        "1e1",
        "abc",
        "%D9%A3",
        "0x10",
        "true",
        "1,2",
        "99999999999999999999",
        "%20",
        "1%00",
    ],
)
async def test_an_invalid_limit_returns_400(api: Api, path: str, limit: str) -> None:
    answer = await api.send("GET", f"{path.format(user='u', post='p')}?limit={limit}")

    assert (answer.status, answer.body["title"]) == (400, "Malformed request")
    assert "limit" in answer.body["detail"]


@pytest.mark.parametrize("query", ["limit=5&limit=6", "limit=5,6"])
async def test_a_repeated_limit_returns_400(api: Api, query: str) -> None:
    assert (await api.send("GET", f"/api/feed?{query}")).status == 400


@pytest.mark.parametrize(
    "query",
    ["", "?", "?limit=", "?limit=&cursor=", "?limit=1", "?limit=100", "?limit=007", "?unknown=1", "?limit=0&Limit=0"],
)
async def test_unknown_and_empty_query_parameters_are_ignored(api: Api, query: str) -> None:
    """The Functions host drops parameters without a value, and joins two spellings of a name under the second."""
    author = await api.new_user()

    assert (await api.send("GET", f"/api/users/{author['id']}/posts{query}")).status == 200
