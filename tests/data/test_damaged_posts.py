"""Commands on posts that other writers have damaged."""

from __future__ import annotations

from typing import Any

import pytest

from shared.data.posts import delete_post, edit_post
from shared.models.post import PostChanges
from shared.platform.errors import ItemDamaged
from shared.platform.http.callers import BackEnd
from tests.blog import Blog
from tests.items import a_post, a_user

CHANGES = PostChanges(title="Another title", content="Other content.")


@pytest.mark.parametrize("version", [None, "7", {}])
async def test_a_post_whose_version_is_no_number_stays_as_it_is(blog: Blog, version: Any) -> None:
    post = await blog.posts.create(a_post(a_user()) | {"version": version})

    for command in (
        edit_post(blog.posts, post["id"], CHANGES, by=BackEnd()),
        delete_post(blog.posts, post["id"], by=BackEnd()),
        delete_post(blog.posts, post["id"], by=BackEnd(), if_match=[""]),
    ):
        with pytest.raises(ItemDamaged):
            await command

    assert await blog.posts.read(post["id"], post["id"]) == post
