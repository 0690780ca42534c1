"""Lists cost the same beneath any number of newer items of other types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from shared.data.comments import list_comments
from shared.data.likes import list_likes
from shared.data.posts import delete_post
from shared.errors import PostNotFound
from shared.platform.data.pages import Page
from shared.platform.database.container import BATCH_LIMIT, Container
from shared.platform.database.scope import request_scope
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user

List = Callable[..., Awaitable[Page]]
New = Callable[..., Item]

COMMENTS_AND_LIKES = pytest.mark.parametrize(
    ("list_items", "listed", "other"),
    [(list_comments, a_comment, a_like), (list_likes, a_like, a_comment)],
    ids=["comments", "likes"],
)


async def _create(posts: Container, items: Sequence[Item]) -> None:
    for start in range(0, len(items), BATCH_LIMIT):
        batch = items[start : start + BATCH_LIMIT]
        await posts.batch(batch[0]["postId"], [("create", (item,)) for item in batch])


@COMMENTS_AND_LIKES
@pytest.mark.parametrize("paged", [False, True], ids=["first-page", "next-page"])
async def test_a_list_costs_the_same_beneath_newer_items_of_the_other_type(
    blog: Blog, list_items: List, listed: New, other: New, paged: bool
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    await _create(blog.posts, [listed(post, a_user(), second=number) for number in range(20)])
    cursor = None
    if paged:
        cursor = (await list_items(blog.posts, post["id"], limit=10, cursor=None)).next_cursor

    async def charge() -> float:
        with request_scope() as scope:
            page = await list_items(blog.posts, post["id"], limit=10, cursor=cursor)
        assert [item["type"] for item in page.items] == [listed(post, a_user())["type"]] * 10
        return scope.request_units

    alone = await charge()
    await _create(blog.posts, [other(post, a_user(), second=1000 + number) for number in range(300)])
    await _create(blog.posts, [other(post, a_user(), second=-1000 - number) for number in range(300)])

    assert await charge() == pytest.approx(alone, abs=0.01)


@COMMENTS_AND_LIKES
async def test_a_list_of_a_deleted_post_finds_the_tombstone_before_its_items(
    blog: Blog, list_items: List, listed: New, other: New
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    for item in (listed, other):
        await _create(blog.posts, [item(post, a_user(), second=number) for number in range(5)])
    await delete_post(blog.posts, post["id"], by=BackEnd())

    for limit in (1, 100):
        with pytest.raises(PostNotFound):
            await list_items(blog.posts, post["id"], limit=limit, cursor=None)


@COMMENTS_AND_LIKES
async def test_an_empty_list_costs_the_same_for_posts_of_any_size(
    blog: Blog, list_items: List, listed: New, other: New
) -> None:
    charges = []
    for length in (100, 43_000):
        post = await blog.posts.create(a_post(a_user(), content="あ" * length))
        await blog.posts.create(other(post, a_user()))
        with request_scope() as scope:
            assert (await list_items(blog.posts, post["id"], limit=10, cursor=None)).items == []
        charges.append(round(scope.request_units, 2))
    with pytest.raises(PostNotFound), request_scope() as scope:
        await list_items(blog.posts, "unknown", limit=10, cursor=None)

    assert charges[0] == charges[1] < 6
    assert scope.request_units < 6
