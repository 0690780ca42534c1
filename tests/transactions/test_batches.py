"""The simple path: a command is one batch. Refusals are forced."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.errors import PostNotFound
from shared.models.like import Like
from shared.platform.database.client import connect
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import BatchRefused, ConditionFailed, ItemMissing
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item
from shared.transactions.batches import add_item, remove_item
from tests.blog import Blog, lagging
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_user


@pytest.fixture
async def post(blog: Blog) -> Item:
    return await blog.posts.create(a_post(a_user()))


async def test_a_removal_that_is_always_refused_is_not_retried_forever(blog: Blog, post: Item) -> None:
    comment = await add_item(blog.posts, a_comment(post, a_user()))
    posts = Interleaved(blog.posts, "batch", refuse=lambda: BatchRefused(0, ConditionFailed()), times=20)

    with pytest.raises(DatabaseUnavailable):
        await remove_item(posts, post["id"], comment["id"], "comment")


async def test_concurrent_deletions_in_two_processes_decrement_the_count_once(blog: Blog, post: Item) -> None:
    comment = await add_item(blog.posts, a_comment(post, a_user()))
    of_comment = (post["id"], comment["id"], "comment")

    async def delete_in_another_process(*_: object) -> None:
        assert await remove_item(blog.posts, *of_comment)

    posts = Interleaved(blog.posts, "batch", before=delete_in_another_process, times=1)

    # It looks like a batch that the SDK resent after its response was lost.
    assert await remove_item(posts, *of_comment) is True
    assert await blog.counts(post) == (0, 0)


async def test_a_comment_whose_author_is_renamed_during_its_deletion_is_deleted(blog: Blog, post: Item) -> None:
    comment = await add_item(blog.posts, a_comment(post, a_user()))

    async def rename(*_: object) -> None:
        await blog.posts.patch(comment["id"], post["id"], patch_of({"userUsername": "grace"}))

    posts = Interleaved(blog.posts, "batch", before=rename, times=1)

    assert await remove_item(posts, post["id"], comment["id"], "comment") is True
    assert await blog.posts.read(comment["id"], post["id"]) is None
    assert await blog.counts(post) == (0, 0)


async def test_a_like_of_a_missing_post_raises_post_not_found(blog: Blog) -> None:
    post: dict[str, Any] = a_post(a_user())

    with pytest.raises(PostNotFound) as missing:
        await add_item(blog.posts, a_like(post, a_user()))

    assert not isinstance(missing.value.__cause__, ItemMissing)


@pytest.mark.parametrize("number", [1, 3])
async def test_likes_of_another_process_are_removed_despite_a_lagging_replica(
    blog: Blog, post: Item, number: int
) -> None:
    async with connect(blog.settings) as client:
        here = Container(client.get_database_client(blog.settings.database).get_container_client("posts"))
        with lagging(blog):
            likes = [(await add_item(blog.posts, a_like(post, a_user()))) for _ in range(number)]
            removed = await asyncio.gather(
                *(remove_item(here, post["id"], like["id"], "like", if_match={Like.last_edit(like)}) for like in likes)
            )

    assert removed == [True] * number
    assert await blog.counts(post) == (0, 0)
