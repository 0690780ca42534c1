"""Copies of posts that are deleted during copying."""

from __future__ import annotations

import pytest

from shared.data.posts import delete_post
from shared.database.container import Container
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.propagation.copies import Copies
from tests.blog import Blog
from tests.items import a_post, a_user


class ThrottledContainer(Container):
    """Throttles the first point reads (429)."""

    def __init__(self, container: Container, refusals: int) -> None:
        super().__init__(container.proxy)
        self.refusals = refusals

    async def read_latest(self, item_id: str, partition_key: str) -> Item | None:
        if self.refusals:
            self.refusals -= 1
            raise DatabaseThrottled(1.0)
        return await super().read_latest(item_id, partition_key)


@pytest.mark.parametrize("expects_copy", [False, True])
async def test_a_repeated_delivery_deletes_the_copy_of_a_deleted_post(blog: Blog, expects_copy: bool) -> None:
    post = await blog.posts.create(a_post(a_user()))
    await delete_post(blog.posts, post["id"])  # another host has deleted its copies
    copies = Copies(blog.users, ThrottledContainer(blog.posts, refusals=1), partition_key="userId")
    with pytest.raises(DatabaseThrottled):
        await copies.put(post, exists=False)

    await copies.put(post, exists=expects_copy)

    assert await blog.users.read(post["id"], post["userId"]) is None
