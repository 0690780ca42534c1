"""Changes that can never be handled: they go to `failures`, and the batch goes on."""

from __future__ import annotations

import pytest

from shared.data.users import edit_user
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.models.user import UserChanges
from shared.propagation.copies import Copies
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user, unique


async def _failures(blog: Blog) -> dict[str, str]:
    """Return the error of each failure by the ID of its item."""
    return {failure["itemId"]: failure["error"]["type"] for failure in await blog.all_items(blog.failures)}


_FULL = "403 sub-status=1014"


@pytest.mark.parametrize(("fault", "error"), [(_FULL, "PartitionFull"), ("413", "ItemTooLarge")])
async def test_a_copy_that_is_refused_for_good_is_stored_as_a_failure(blog: Blog, fault: str, error: str) -> None:
    full, other = [await blog.users.create(a_user()) for _ in range(2)]
    refused, handled = [await blog.posts.create(a_post(author)) for author in (full, other)]

    target = f"operation=create database={blog.settings.database} container=users partition-key={full['id']}"
    with blog.emulator.faults.during(f"{fault} {target}"):
        errors = await blog.posts_handler.on_changed([refused, handled])

    assert [type(one).__name__ for one in errors] == [error]
    assert await _failures(blog) == {refused["id"]: error}
    assert await blog.users.read(handled["id"], other["id"]) is not None


async def test_a_rename_in_a_full_partition_is_stored_as_a_failure(blog: Blog) -> None:
    author, reader = [await blog.users.create(a_user()) for _ in range(2)]
    post = await blog.posts.create(a_post(author))
    await blog.posts.create(a_comment(post, reader))
    renamed = await edit_user(blog.users, reader["id"], UserChanges(username=unique("grace")), etag=None)

    target = f"operation=batch,execute database={blog.settings.database} container=posts partition-key={post['id']}"
    with blog.emulator.faults.during(f"{_FULL} {target}"):
        await blog.users_handler.on_changed([renamed])

    assert await _failures(blog) == {reader["id"]: "PartitionFull"}


async def test_an_account_that_denies_access_is_an_outage(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author))
    denied = f"403 operation=create database={blog.settings.database} container=users sub-status=5300"

    with blog.emulator.faults.during(denied), pytest.raises(DatabaseUnavailable):
        await blog.posts_handler.on_changed([post])

    assert await _failures(blog) == {}


async def test_a_copy_that_neither_exists_nor_can_be_created_is_stored_as_a_failure(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = await blog.users.create(a_user())
    stuck, handled = [await blog.posts.create(a_post(author)) for _ in range(2)]
    create = Copies._create

    async def create_unless_stuck(copies: Copies, copy: Item) -> bool:
        return copy["id"] != stuck["id"] and await create(copies, copy)

    monkeypatch.setattr(Copies, "_create", create_unless_stuck)
    await blog.posts_handler.on_changed([stuck, handled])

    assert await _failures(blog) == {stuck["id"]: "NoProgress"}
    assert await blog.users.read(handled["id"], author["id"]) is not None


async def test_a_change_nested_as_deeply_as_the_database_allows_is_stored_as_a_failure(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    nested: Item = {}
    for _ in range(126):
        nested = {"a": nested}
    poison = await blog.posts.create(a_post(author) | {"version": "one", "note": nested})

    await blog.posts_handler.on_changed([poison])

    [failure] = await blog.all_items(blog.failures)
    assert (failure["itemId"], failure["change"]) == (poison["id"], None)
