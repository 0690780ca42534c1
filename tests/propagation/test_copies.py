"""Copies of posts that are deleted while they are copied."""

from __future__ import annotations

import pytest

from shared.cosmos import Container
from shared.data.posts import delete_post
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.propagation.copies import Copies
from tests.blog import Blog
from tests.items import a_post, a_user


class ThrottledContainer(Container):
    """Refuses point reads so many times."""

    def __init__(self, container: Container, refusals: int) -> None:
        super().__init__(container.proxy)
        self.refusals = refusals

    async def read(self, item_id: str, partition_key: str) -> Item | None:
        if self.refusals:
            self.refusals -= 1
            raise DatabaseThrottled(1.0)
        return await super().read(item_id, partition_key)


@pytest.mark.parametrize("again_present", [False, True])
async def test_a_copy_of_a_deleted_post_goes_when_the_batch_that_could_not_check_it_comes_again(
    blog: Blog, again_present: bool
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    await delete_post(blog.posts, post["id"], etag=None)  # and its copies were taken out, by the lease's next owner
    copies = Copies(blog.users, ThrottledContainer(blog.posts, refusals=1), partition_key="userId")
    with pytest.raises(DatabaseThrottled):
        await copies.put(post, present=False)

    await copies.put(post, present=again_present)

    assert await blog.users.read(post["id"], post["userId"]) is None
