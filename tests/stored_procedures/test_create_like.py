"""createLike.js as deployed, and the article's script for comparison."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from shared.platform.database.refusals import ScriptFailed
from shared.platform.errors import DatabaseUnavailable
from tests.blog import Blog
from tests.items import a_like, a_post, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


async def test_a_like_is_written_with_its_count(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))

    answer = await blog.posts.execute("createLike", post["id"], a_like(post, liker))

    assert answer["id"] == liker["id"]
    assert await blog.counts(post) == (0, 1)


async def test_a_repeated_like_throws_409_and_counts_once(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))

    answers = await asyncio.gather(
        *(blog.posts.execute("createLike", post["id"], a_like(post, liker)) for _ in range(10)), return_exceptions=True
    )

    assert sum(isinstance(answer, dict) for answer in answers) == 1
    assert {answer.number for answer in answers if isinstance(answer, ScriptFailed)} == {409}
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


@pytest.mark.parametrize("accepted", range(3))
async def test_a_refused_operation_rolls_back_like_and_count(blog: Blog, accepted: int) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    like = a_like(post, liker)

    with blog.accepting(accepted), pytest.raises(DatabaseUnavailable):
        await blog.posts.execute("createLike", post["id"], like)

    assert await blog.counts(post) == (0, 0)
    assert len(await blog.items_of(post)) == 1
