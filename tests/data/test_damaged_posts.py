"""Commands on posts that other writers have damaged."""

from __future__ import annotations

from typing import Any

import pytest

from shared.data.posts import delete_post, edit_post
from shared.models.post import PostChanges
from shared.platform.http.callers import BackEnd
from tests.blog import Blog
from tests.items import a_post, a_user

CHANGES = PostChanges(title="Another title", content="Other content.")


@pytest.mark.parametrize("version", [None, "7", {}])
async def test_a_version_that_is_no_number_counts_as_0(blog: Blog, version: Any) -> None:
    post = await blog.posts.create(a_post(a_user()) | {"version": version})

    edited = await edit_post(blog.posts, post["id"], CHANGES, by=BackEnd())

    assert (edited["title"], edited["version"]) == (CHANGES.title, 1)


async def test_a_post_whose_version_is_no_number_is_deleted(blog: Blog) -> None:
    post = await blog.posts.create(a_post(a_user()) | {"version": "7"})

    await delete_post(blog.posts, post["id"], by=BackEnd())

    stored = await blog.posts.read(post["id"], post["id"])
    assert stored is not None
    assert (stored["type"], stored["version"]) == ("tombstone", 1)
