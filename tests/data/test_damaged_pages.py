"""A damaged item is left out of its page, and does not hide the items after it."""

from __future__ import annotations

import pytest

from shared.data.comments import list_comments
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user


async def test_a_page_of_damaged_items_only_leads_to_the_next_page(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)
    await blog.posts.create(post)
    sound = a_comment(post, author, second=1)
    await blog.posts.create(sound)
    for second in (2, 3):
        await blog.posts.create(a_comment(post, author, second=second) | {"content": 7})

    assert await _listed(blog, post) == [sound["id"]]


@pytest.mark.parametrize(
    "date",
    [
        "Monday, 5/1/2026 10:00 PM",
        "Tue Mar 01 2022 10:00:00 GMT+0100 (Central European Standard Time)",  # Date.prototype.toString
    ],
)
async def test_a_page_without_any_iso_date_leads_to_the_next_page(blog: Blog, date: str) -> None:
    """Both dates sort before ISO dates."""
    author = a_user()
    post = a_post(author)
    sound = a_comment(post, author)
    odd = [a_comment(post, author) | {"creationDate": date} for _ in range(3)]
    for item in (post, sound, *odd):
        await blog.posts.create(item)

    found = await _listed(blog, post)

    assert found == [*sorted((item["id"] for item in odd), reverse=True), sound["id"]]


async def _listed(blog: Blog, post: Item) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = await list_comments(blog.posts, post["id"], limit=1, cursor=cursor)
        found += [item["id"] for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found
