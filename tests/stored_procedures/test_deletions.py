"""deleteComment.js and deleteLike.js as deployed."""

from __future__ import annotations

import asyncio

import pytest

from shared.cosmos import ScriptFailed
from shared.errors import DatabaseUnavailable
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


async def test_deleting_a_comment_decrements_the_count(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    comment = (await blog.posts.execute("createComment", post["id"], a_comment(post, author)))["item"]

    await blog.posts.execute("deleteComment", post["id"], post["id"], comment["id"], None)

    assert await blog.posts.read(comment["id"], post["id"]) is None
    assert await blog.counts(post) == (0, 0)


async def test_deleting_an_unknown_comment_throws_404_and_keeps_the_count(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    await blog.posts.execute("createComment", post["id"], a_comment(post, author))

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("deleteComment", post["id"], post["id"], "unknown", None)

    assert refused.value.number == 404
    assert await blog.counts(post) == (1, 0)


async def test_delete_comment_does_not_delete_a_like(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    like = (await blog.posts.execute("createLike", post["id"], a_like(post, liker)))["item"]

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("deleteComment", post["id"], post["id"], like["id"], None)

    assert refused.value.number == 404
    assert await blog.counts(post) == (0, 1)


async def test_delete_comment_rejects_another_date(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    comment = (await blog.posts.execute("createComment", post["id"], a_comment(post, author)))["item"]

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("deleteComment", post["id"], post["id"], comment["id"], "another")

    assert refused.value.number == 412
    assert await blog.counts(post) == (1, 0)


async def test_concurrent_deletions_of_a_like_decrement_the_count_once(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))
    like = (await blog.posts.execute("createLike", post["id"], a_like(post, liker)))["item"]

    answers = await asyncio.gather(
        *(blog.posts.execute("deleteLike", post["id"], post["id"], like["id"], None) for _ in range(5))
    )

    assert sum(answer["deleted"] for answer in answers) == 1
    assert await blog.counts(post) == (0, 0)


async def test_a_date_for_a_missing_like_throws_412(blog: Blog) -> None:
    liker = a_user()
    post = await blog.posts.create(a_post(liker))

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("deleteLike", post["id"], post["id"], "like-nobody", "a date")

    assert refused.value.number == 412


@pytest.mark.parametrize("procedure", ["deleteComment", "deleteLike"])
async def test_deletions_under_an_unknown_post_throw_404(blog: Blog, procedure: str) -> None:
    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute(procedure, "unknown", "unknown", "anything", None)

    assert refused.value.number == 404


@pytest.mark.parametrize("accepted", [0, 1, 2, 3])
async def test_a_refused_operation_rolls_back_a_deletion(blog: Blog, accepted: int) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    comment = (await blog.posts.execute("createComment", post["id"], a_comment(post, author)))["item"]

    with blog.accepting(accepted), pytest.raises(DatabaseUnavailable):
        await blog.posts.execute("deleteComment", post["id"], post["id"], comment["id"], None)

    assert await blog.posts.read(comment["id"], post["id"]) is not None
    assert await blog.counts(post) == (1, 0)
