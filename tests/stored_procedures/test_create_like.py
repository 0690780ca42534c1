"""createLike.js as deployed, and the article's script for comparison."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from shared.database.refusals import ScriptFailed
from shared.errors import DatabaseUnavailable
from tests.blog import Blog
from tests.items import a_like, a_post, a_record, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


async def test_a_like_is_written_with_its_count(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))

    answer = await blog.posts.execute("createLike", post["id"], a_like(post, liker))

    assert answer["created"] is True
    assert await blog.counts(post) == (0, 1)


async def test_a_repeated_like_counts_once_and_returns_the_first(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    first = await blog.posts.execute("createLike", post["id"], a_like(post, liker, second=1))

    repeated = await blog.posts.execute("createLike", post["id"], a_like(post, liker, second=2))

    assert repeated == {"item": first["item"], "created": False}
    assert await blog.counts(post) == (0, 1)


async def test_concurrent_likes_of_one_user_count_once(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))

    answers = await asyncio.gather(
        *(blog.posts.execute("createLike", post["id"], a_like(post, liker)) for _ in range(10))
    )

    assert sum(answer["created"] for answer in answers) == 1
    assert await blog.counts(post) == (0, 1)


async def test_the_articles_script_counts_a_double_click_twice(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    await blog.deploy_naive_procedure("createLike")

    for _ in range(2):
        like = a_like(post, liker) | {"id": str(uuid.uuid4())}
        await blog.posts.execute("naive-createLike", post["id"], like)

    stored = await blog.posts.read(post["id"], post["id"])
    assert stored is not None
    assert stored["likeCount"] == 2


async def test_a_like_of_an_unknown_post_throws_404_and_writes_nothing(blog: Blog) -> None:
    liker = a_user()
    post = a_post(liker)

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("createLike", post["id"], a_like(post, liker))

    assert refused.value.number == 404
    assert await blog.items_of(post) == []


@pytest.mark.parametrize("accepted", range(5))
@pytest.mark.parametrize("with_record", [False, True])
async def test_a_refused_operation_rolls_back_like_and_count(blog: Blog, accepted: int, with_record: bool) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    like = a_like(post, liker)
    record = a_record(like) if with_record else None

    with blog.accepting(min(accepted, 4 if with_record else 2)), pytest.raises(DatabaseUnavailable):
        await blog.posts.execute("createLike", post["id"], like, record)

    assert await blog.counts(post) == (0, 0)
    assert len(await blog.items_of(post)) == 1
