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


async def test_existing_copies_do_not_block_the_creation_of_others(blog: Blog) -> None:
    copies = [short_form(a_post(a_user())) for _ in range(5)]
    for copy in copies[1::2]:
        await blog.feed.create(copy)

    created = await Copies(blog.feed, blog.posts, partition_key="type").create_all(copies)

    assert created == copies[::2]
    assert {item["id"] for item in await blog.all_items(blog.feed)} == {copy["id"] for copy in copies}


async def test_a_copy_that_can_never_be_created_does_not_block_the_others(blog: Blog) -> None:
    copies = Copies(blog.feed, blog.posts, partition_key="type")
    invalid = short_form(a_post(a_user())) | {"ttl": "never"}

    assert await copies.create_all([short_form(a_post(a_user())), invalid]) == []
    assert await blog.all_items(blog.feed) == []


async def test_the_copies_of_a_delivery_are_created_by_one_batch_and_checked_by_one_read(
    blog: Blog, emulator: EmulatorThread
) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(20)]
    with Gateway(emulator.endpoint) as gateway:
        async with connect(at(blog.settings, gateway.endpoint)) as client:
            gated = Blog(emulator, blog.settings, client.get_database_client(blog.settings.database))
            with gateway.recording() as operations:
                assert await gated.handle_posts(posts) == []

    names = Counter(operation.name for operation in operations)
    # A trigger does not run for a batch.
    uses_trigger = blog.stored.transactions.front_page_trigger is not None
    assert (names["batch feed"], names["create feed"]) == ((0, 20) if uses_trigger else (1, 0))
    assert names["create users"] == 20
    assert names["query posts"] == 1
