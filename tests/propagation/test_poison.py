"""Changes that can never be handled: they go to `failures`, and the delivery continues."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from shared.data.posts import delete_post
from shared.data.users import edit_user
from shared.models.base import DELETED_TYPE
from shared.models.user import UserChanges
from shared.platform.database.refusals import BatchRefused, ItemExists, ItemMissing
from shared.platform.database.scope import request_scope
from shared.platform.deliveries.pacing import Pace
from shared.platform.errors import DatabaseUnavailable, NoProgress
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.posts import expire_contributions, handle_changed_posts
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_user, unique


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
        errors = await blog.handle_posts([refused, handled])

    assert [type(one).__name__ for one in errors] == [error]
    assert await _failures(blog) == {refused["id"]: error}
    assert await blog.users.read(handled["id"], other["id"]) is not None


async def test_a_rename_in_a_full_partition_is_stored_as_a_failure(blog: Blog) -> None:
    author, reader = [await blog.users.create(a_user()) for _ in range(2)]
    post = await blog.posts.create(a_post(author))
    await blog.posts.create(a_comment(post, reader))
    renamed = await edit_user(blog.users, reader["id"], UserChanges(username=unique("grace")))

    target = f"operation=batch,execute database={blog.settings.database} container=posts partition-key={post['id']}"
    with blog.emulator.faults.during(f"{_FULL} {target}"):
        await blog.handle_users([renamed])

    assert await _failures(blog) == {reader["id"]: "PartitionFull"}


async def test_an_account_that_denies_access_is_an_outage(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author))
    denied = f"403 operation=create database={blog.settings.database} container=users sub-status=5300"

    with blog.emulator.faults.during(denied), pytest.raises(DatabaseUnavailable):
        await blog.handle_posts([post])

    assert await _failures(blog) == {}


async def test_a_copy_that_neither_exists_nor_can_be_created_is_stored_as_a_failure(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    stuck, handled = [await blog.posts.create(a_post(author)) for _ in range(2)]

    # As if the copy had just been deleted again, each time.
    users = Interleaved(blog.users, "create", refuse=ItemExists, when=lambda copy, **_: copy["id"] == stuck["id"])
    await handle_changed_posts(replace(blog.stored, users=users), [stuck, handled])

    assert await _failures(blog) == {stuck["id"]: "NoProgress"}
    assert await blog.users.read(handled["id"], author["id"]) is not None


async def test_a_change_nested_as_deeply_as_the_database_allows_is_stored_as_a_failure(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    nested: Item = {}
    for _ in range(126):
        nested = {"a": nested}
    poison = await blog.posts.create(a_post(author) | {"version": nested})

    await blog.handle_posts([poison])

    [failure] = await blog.all_items(blog.failures)
    assert (failure["itemId"], failure["change"]) == (poison["id"], None)


_MISSING: Any = object()
# Not stored, because the database rejects objects and arrays as keys.
_WRONG_KEYS: list[Any] = [_MISSING, None, 5, 1.5, True, {"a": 1}, ["a"]]


def _misplaced(items: Sequence[Item], name: str) -> list[Item]:
    """Return each item with each wrong value of the property `name`, all with their own ID and username."""
    poison = []
    for item in items:
        for key in _WRONG_KEYS:
            wrong = {other: value for other, value in item.items() if other != name}
            wrong |= {"id": str(uuid.uuid4()), "userUsername": unique("ada")}
            poison.append(wrong if key is _MISSING else wrong | {name: key})
    return poison


def _errors(poison: Sequence[Item], name: str) -> dict[str, str]:
    return {item["id"]: "TypeError" if name in item else "KeyError" for item in poison}


async def test_a_post_id_that_is_not_a_string_is_stored_as_a_failure(blog: Blog) -> None:
    author = await blog.users.create(a_user() | {"nameVersion": 1})
    formerly = author | {"username": "ada", "nameVersion": 0}
    other, handled = [await blog.posts.create(a_post(formerly)) for _ in range(2)]
    await blog.posts.create(a_comment(other, formerly))
    items = [a_post(formerly), a_comment(other, formerly), a_like(other, formerly), other | {"type": DELETED_TYPE}]
    poison = _misplaced(items, "postId")

    async with asyncio.timeout(60):
        with request_scope() as scope:
            await blog.handle_posts([*poison, handled])

    assert await _failures(blog) == _errors(poison, "postId")
    assert scope.request_units < 20 * len(poison)  # a failure costs 7 RU
    assert {item["userUsername"] for item in await blog.items_of(handled)} == {author["username"]}
    assert {item["userUsername"] for item in await blog.items_of(other)} == {"ada"}


async def test_a_user_id_that_is_not_a_string_is_stored_as_a_failure(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author))
    items = [post, a_comment(post, author), a_like(post, author), post | {"type": DELETED_TYPE}]
    poison, users = _misplaced(items, "userId"), _misplaced([author | {"formerUsernames": ["ada"]}], "userId")

    await blog.handle_posts(poison)
    await blog.handle_users(users)

    assert await _failures(blog) == _errors([*poison, *users], "userId")


@pytest.mark.parametrize(("username", "error"), [(5, "TypeError"), ({"a": 1}, "TypeError"), ("", "ValueError")])
async def test_a_damaged_username_does_not_spread_to_other_items(blog: Blog, username: object, error: str) -> None:
    author = a_user()
    damaged = await blog.users.create(author | {"username": username, "nameVersion": 1, "formerUsernames": ["ada"]})
    post = await blog.posts.create(a_post(author))
    like = await blog.posts.create(a_like(post, author))

    await blog.handle_posts([post, like])
    await blog.handle_users([damaged])

    assert {item["userUsername"] for item in await blog.items_of(post)} == {author["username"]}
    assert await _failures(blog) == dict.fromkeys((post["id"], like["id"], author["id"]), error)


async def test_an_item_with_a_null_key_does_not_hide_the_change_of_the_item_with_its_id(blog: Blog) -> None:
    author = await edit_user(
        blog.users, (await blog.users.create(a_user()))["id"], UserChanges(username=unique("grace"))
    )
    post = await blog.posts.create(a_post(author))

    await blog.handle_posts([post, post | {"postId": None, "version": 99}])
    await blog.handle_users([author, author | {"userId": None}])

    assert await blog.users.read(post["id"], author["id"]) is not None
    assert "formerUsernames" not in (await blog.users.read(author["id"], author["id"]) or {})
    assert await _failures(blog) == {post["id"]: "TypeError", author["id"]: "TypeError"}


@pytest.mark.parametrize("item_id", ["..", ".", "a/b", "a\\b", "a?", "a\t", "a "])
async def test_an_id_that_no_url_can_carry_is_stored_as_a_failure(blog: Blog, item_id: str) -> None:
    """Each kind of item, in its last version, which the delivery would patch; and the deletion of the post."""
    author = await edit_user(
        blog.users, (await blog.users.create(a_user()))["id"], UserChanges(username=unique("grace"))
    )
    post, handled = a_post(author) | {"id": item_id, "postId": item_id, "version": 2}, a_post(author)
    former = {"userUsername": "former"}
    comment, like = (item | {"id": item_id} | former for item in (a_comment(handled, author), a_like(handled, author)))
    user = author | {"id": item_id, "userId": item_id, "formerUsernames": ["former"]}
    for item in (post, handled, comment):
        await blog.posts.batch(item["postId"], [("create", (item,))])
    await blog.users.batch(item_id, [("create", (user,))])

    async with asyncio.timeout(60):
        for changes in ([post, handled], [comment], [like], [post | {"type": DELETED_TYPE}]):
            errors = await blog.handle_posts(changes)
            assert [type(error).__name__ for error in errors] == ["RequestRefused"]
        await blog.handle_users([author, user])

    assert set((await _failures(blog)).items()) == {(item_id, "RequestRefused")}
    assert await blog.users.read(handled["id"], author["id"]) is not None
    assert "formerUsernames" not in (await blog.users.read(author["id"], author["id"]) or {})


@pytest.mark.parametrize("others", [0, 12], ids=["point-reads", "query"])
async def test_a_misplaced_post_or_tombstone_does_not_change_the_copies_of_the_post_with_its_id(
    blog: Blog, others: int
) -> None:
    author = await blog.users.create(a_user())
    post, *more = [await blog.posts.create(a_post(author)) for _ in range(1 + others)]
    misplaced = post | {"postId": "elsewhere", "title": "Another", "version": 99}
    await blog.posts.create(misplaced | {"type": DELETED_TYPE})

    for change in (misplaced, misplaced | {"type": DELETED_TYPE}):
        await blog.handle_posts([post, *more, change])

    assert await _failures(blog) == {post["id"]: "ValueError"}
    assert (await blog.users.read(post["id"], author["id"]) or {})["title"] == post["title"]
    assert (await blog.feed.read(post["id"], "post") or {})["title"] == post["title"]


@pytest.mark.parametrize("wrong", [{"id": ".."}, {"creationDate": "0001-01-01T00:00:00+08:00"}, {"creationDate": 5}])
async def test_a_front_page_is_refilled_without_a_post_that_no_copy_can_have(blog: Blog, wrong: Item) -> None:
    author = await blog.users.create(a_user())
    deleted, good = [await blog.posts.create(a_post(author)) for _ in range(2)]
    for _ in range(1 if "id" in wrong else 8):  # in all partitions
        await blog.posts.create(a_post(author, second=60) | wrong | ({"postId": ".."} if "id" in wrong else {}))
    await blog.handle_posts([deleted])
    await delete_post(blog.posts, deleted["id"], by=BackEnd())

    errors = await blog.handle_posts([await blog.posts.read(deleted["id"], deleted["id"]) or {}])

    assert errors == []
    assert [copy["id"] for copy in await blog.all_items(blog.feed)] == [good["id"]]


async def test_comments_that_cannot_expire_are_not_tried_forever(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author))
    await blog.posts.create(a_comment(post, author))
    await delete_post(blog.posts, post["id"], by=BackEnd())
    posts = Interleaved(
        blog.posts,
        "batch",
        refuse=lambda: BatchRefused(0, ItemMissing()),
        when=lambda _, operations: any(name != "read" for name, *_ in operations),
    )

    async with asyncio.timeout(60):
        with pytest.raises(NoProgress):
            await expire_contributions(posts, post["id"], Pace())


@pytest.mark.parametrize(
    "field", ["userId", "title", "content", "creationDate", "editedDate", "version", "commentCount"]
)
@pytest.mark.parametrize("value", ["secret", {"email": "secret"}, ["secret"]], ids=["text", "object", "array"])
async def test_errors_do_not_quote_what_an_item_contains(
    blog: Blog, caplog: pytest.LogCaptureFixture, field: str, value: object
) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author) | {field: value})

    errors = await blog.handle_posts([post])

    stored = [failure["error"] for failure in await blog.all_items(blog.failures)]
    assert "secret" not in f"{errors} {stored} {caplog.text}"
