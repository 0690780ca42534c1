"""createComment.js as deployed, and the article's script for comparison."""

from __future__ import annotations

import asyncio

import pytest

from shared.platform.database.refusals import ScriptFailed
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_post, a_record, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


async def test_a_comment_is_written_with_its_count(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))

    answer = await blog.posts.execute("createComment", post["id"], a_comment(post, author))

    stored = await blog.posts.read(answer["id"], post["id"])
    assert stored is not None
    assert stored["_etag"] == answer["_etag"]
    assert await blog.counts(post) == (1, 0)


@pytest.mark.parametrize("with_record", [False, True])
@pytest.mark.parametrize("removed", [False, True])
async def test_a_repeated_comment_throws_409_and_counts_once(blog: Blog, with_record: bool, removed: bool) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    comment = a_comment(post, author, content="first")
    record = a_record(comment) if with_record else None
    await blog.posts.execute("createComment", post["id"], comment, record)
    if removed and with_record:
        await blog.posts.delete(comment["id"], post["id"])

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("createComment", post["id"], comment | {"content": "second"}, record)

    assert refused.value.number == 409


async def test_a_comment_on_an_unknown_post_throws_404_and_writes_nothing(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("createComment", post["id"], a_comment(post, author))

    assert refused.value.number == 404
    assert await blog.items_of(post) == []


async def test_a_deleted_post_refuses_comments(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author) | {"type": "tombstone"})

    with pytest.raises(ScriptFailed) as refused:
        await blog.posts.execute("createComment", post["id"], a_comment(post, author))

    assert refused.value.number == 404


@pytest.mark.parametrize("numbers", [{}, {"commentCount": None, "version": "7"}], ids=["v1", "damaged"])
async def test_the_first_comment_on_a_post_without_a_count_sets_it_to_one(blog: Blog, numbers: Item) -> None:
    author = a_user()
    v1 = a_post(author)
    del v1["commentCount"], v1["likeCount"], v1["version"]
    post = await blog.posts.create(v1 | numbers)

    await blog.posts.execute("createComment", post["id"], a_comment(post, author))

    stored = await blog.posts.read(post["id"], post["id"])
    assert stored is not None
    assert (stored["commentCount"], stored["version"]) == (1, 1)


async def test_the_articles_script_stores_null_for_a_missing_count(blog: Blog) -> None:
    author = a_user()
    v1 = a_post(author)
    del v1["commentCount"]
    post = await blog.posts.create(v1)
    await blog.deploy_naive_procedure("createComment")

    await blog.posts.execute("naive-createComment", post["id"], a_comment(post, author))

    stored = await blog.posts.read(post["id"], post["id"])
    assert stored is not None
    assert stored["commentCount"] is None


@pytest.mark.parametrize("accepted", range(5))
@pytest.mark.parametrize("with_record", [False, True])
async def test_a_refused_operation_rolls_back_comment_and_count(blog: Blog, accepted: int, with_record: bool) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    comment = a_comment(post, author)
    record = a_record(comment) if with_record else None

    with blog.accepting(min(accepted, 3 if with_record else 2)), pytest.raises(DatabaseUnavailable):
        await blog.posts.execute("createComment", post["id"], comment, record)

    assert await blog.counts(post) == (0, 0)
    assert len(await blog.items_of(post)) == 1


async def test_the_articles_script_counts_a_refused_comment(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))
    await blog.deploy_naive_procedure("createComment")

    with blog.accepting(2):
        await blog.posts.execute("naive-createComment", post["id"], a_comment(post, author))

    stored = await blog.posts.read(post["id"], post["id"])
    assert stored is not None
    assert stored["commentCount"] == 1
    assert len(await blog.items_of(post)) == 1


async def test_concurrent_comments_are_all_counted(blog: Blog) -> None:
    author = a_user()
    post = await blog.posts.create(a_post(author))

    comments = [a_comment(post, author) for _ in range(20)]
    await asyncio.gather(*(blog.posts.execute("createComment", post["id"], comment) for comment in comments))

    assert await blog.counts(post) == (20, 0)
