"""Copies of posts: deletions during copying, and the operations of a delivery."""

from __future__ import annotations

from collections import Counter

import pytest

from shared.data.posts import delete_post
from shared.models.post import short_form
from shared.platform.database.client import connect
from shared.platform.errors import DatabaseThrottled
from shared.platform.http.callers import BackEnd
from shared.propagation.copies import Copies
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway
from tests.interleaved import Interleaved
from tests.items import a_post, a_user


@pytest.mark.parametrize("expects_copy", [False, True])
async def test_a_repeated_delivery_deletes_the_copy_of_a_deleted_post(blog: Blog, expects_copy: bool) -> None:
    post = await blog.posts.create(a_post(a_user()))
    await delete_post(blog.posts, post["id"], by=BackEnd())  # another host has deleted its copies
    posts = Interleaved(blog.posts, "read_latest", refuse=lambda: DatabaseThrottled(1.0), times=1)
    copies = Copies(blog.users, posts, partition_key="userId")
    with pytest.raises(DatabaseThrottled):
        await copies.put(short_form(post), exists=False)

    await copies.put(short_form(post), exists=expects_copy)

    assert await blog.users.read(post["id"], post["userId"]) is None


async def test_the_copies_of_a_delivery_are_checked_by_one_read(blog: Blog, emulator: EmulatorThread) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(20)]
    with Gateway(emulator.endpoint) as gateway:
        async with connect(at(blog.settings, gateway.endpoint)) as client:
            gated = Blog(emulator, blog.settings, client.get_database_client(blog.settings.database))
            with gateway.recording() as operations:
                assert await gated.handle_posts(posts) == []

    names = Counter(operation.name for operation in operations)
    assert (names["create feed"], names["create users"]) == (20, 20)
    assert names["query posts"] == 1
