"""Long work is done in turns: a delivery does a part of it, and the change comes back for the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from shared.data.posts import delete_post
from shared.data.username_reservations import reservation_item
from shared.data.users import delete_user, edit_user
from shared.models.user import UserChanges
from shared.platform.database.scope import current_scope
from shared.platform.deliveries.pacing import FIRST_S, Pace, TurnOver
from shared.platform.errors import NoProgress, PartitionFull
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_user, unique


async def _filled_post(blog: Blog, author: Item, comments: int) -> Item:
    post = await blog.posts.create(a_post(author) | {"commentCount": comments})
    for start in range(0, comments, 100):
        batch = [a_comment(post, author) for _ in range(min(100, comments - start))]
        await blog.posts.batch(post["id"], [("create", (comment,)) for comment in batch])
    return post


async def _read(blog: Blog, item_id: str, container: str) -> Item:
    return await blog.container(container).read(item_id, item_id) or {}


async def test_the_comments_of_a_deleted_post_expire_in_turns(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await _filled_post(blog, author, 100)
    await delete_post(blog.posts, post["id"], by=BackEnd())

    async def left() -> int:
        return sum(item["type"] == "comment" and "ttl" not in item for item in await blog.items_of(post))

    for turn in (1, 2, 3, 4):
        tombstone = await _read(blog, post["id"], "posts")
        assert tombstone.get("turns", 0) == turn - 1
        assert await handle_changed_posts(blog.stored, [tombstone], Pace(turn_s=0)) == []
        assert await left() == 100 - 25 * turn

    tombstone = await _read(blog, post["id"], "posts")
    await handle_changed_posts(blog.stored, [tombstone], Pace(turn_s=0))
    assert await _read(blog, post["id"], "posts") == tombstone  # nothing comes back


async def test_the_copies_are_gone_after_the_first_turn(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await _filled_post(blog, author, 50)
    await blog.handle_posts([post])
    await delete_post(blog.posts, post["id"], by=BackEnd())

    await handle_changed_posts(blog.stored, [await _read(blog, post["id"], "posts")], Pace(turn_s=0))

    assert await blog.feed.read(post["id"], "post") is None
    assert await blog.users.read(post["id"], author["id"]) is None


async def test_others_are_handled_in_the_same_delivery(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post, other = await _filled_post(blog, author, 50), await blog.posts.create(a_post(author))
    await delete_post(blog.posts, post["id"], by=BackEnd())

    await handle_changed_posts(blog.stored, [await _read(blog, post["id"], "posts"), other], Pace(turn_s=0))

    assert await blog.feed.read(other["id"], "post")


async def test_a_user_is_renamed_in_turns(blog: Blog) -> None:
    user = await blog.users.create(a_user())
    post = await _filled_post(blog, user, 60)
    name = unique("new")
    await edit_user(blog.users, user["id"], UserChanges(username=name))

    turns = 0
    while "formerUsernames" in (changed := await _read(blog, user["id"], "users")):
        await handle_changed_users(blog.stored, [changed], Pace(turn_s=0))
        turns += 1

    assert turns == 3
    assert {item["userUsername"] for item in await blog.items_of(post)} == {name}
    assert "turns" not in changed


async def test_a_user_is_deleted_in_turns(blog: Blog) -> None:
    user, author = await blog.users.create(a_user()), await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author) | {"likeCount": 1}) for _ in range(3)]
    for post in posts:
        await blog.posts.create(a_like(post, user))
    await delete_user(blog.users, user["id"])

    turns = 0
    while "formerUsernames" in (tombstone := await _read(blog, user["id"], "users")):
        assert tombstone.get("turns", 0) == turns
        await handle_changed_users(blog.stored, [tombstone], Pace(turn_s=0))
        turns += 1

    assert turns > 1
    assert "turns" not in tombstone
    assert [len(await blog.items_of(post)) for post in posts] == [1, 1, 1]


async def test_a_tombstone_in_another_partition_deletes_no_comments(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post, damaged = await _filled_post(blog, author, 1), await blog.posts.create(a_post(author))
    tombstone: dict[str, Any] = damaged | {"id": post["id"], "type": "tombstone", "ttl": 60}
    await blog.posts.create(tombstone)

    await blog.handle_posts([tombstone])

    assert [item["type"] for item in await blog.items_of(post) if "ttl" in item] == []


async def test_a_turn_ends_when_the_running_transactions_have_ended() -> None:
    pace, ended = Pace(turn_s=0), list[str]()
    started, release = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        async with pace.transaction(0):
            started.set()
            await release.wait()
        ended.append("transaction")

    async def refused() -> None:
        await started.wait()
        with pytest.raises(TurnOver):
            async with pace.transaction(0):
                pass
        ended.append("turn")

    async with asyncio.TaskGroup() as group:
        group.create_task(run())
        group.create_task(refused())
        await started.wait()
        await asyncio.sleep(0)
        release.set()

    assert ended == ["transaction", "turn"]


async def test_posts_that_always_fail_neither_end_the_turns_nor_hide(blog: Blog) -> None:
    user, author = await blog.users.create(a_user()), await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author) | {"likeCount": 1}) for _ in range(12)]
    for post in posts:
        await blog.posts.create(a_like(post, user))
    await delete_user(blog.users, user["id"])
    failing = {post["id"] for post in posts[::2]}
    unwritable = Interleaved(
        blog.posts,
        "batch",
        refuse=lambda: PartitionFull("full"),
        when=lambda post_id, operations: post_id in failing and operations[-1][0] == "patch",
    )
    stored = replace(blog.stored, posts=unwritable)

    errors: list[Exception] = []
    for _ in range(30):
        tombstone = await _read(blog, user["id"], "users")
        errors = await handle_changed_users(stored, [tombstone], Pace(turn_s=0))
        if errors:
            break

    assert [type(error) for error in errors] == [PartitionFull]


async def test_a_tombstone_whose_refill_failed_is_replayed_in_full(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    author = await blog.users.create(a_user())
    post = await _filled_post(blog, author, 50)
    await delete_post(blog.posts, post["id"], by=BackEnd())

    async def fail(*_: object) -> bool:
        raise NoProgress("no refill")

    with monkeypatch.context() as patched:
        patched.setattr("shared.propagation.posts.refill", fail)
        errors = await handle_changed_posts(blog.stored, [await _read(blog, post["id"], "posts")], Pace(turn_s=0))

    assert [type(error) for error in errors] == [NoProgress]
    assert "turns" not in await _read(blog, post["id"], "posts")


async def test_the_next_turn_continues_at_the_pace_of_the_last() -> None:
    first = Pace(turn_s=0)
    async with first.transaction(25):
        scope = current_scope()
        assert scope is not None
        scope.throttled += 1
    idle = Pace(turn_s=0, last=first)
    third = Pace(turn_s=0, last=idle)

    assert vars(third)["_interval_s"] == vars(first)["_interval_s"] > FIRST_S
    assert vars(third)["_next_s"] == vars(first)["_next_s"]


async def test_refusals_belong_to_one_turn(blog: Blog) -> None:
    """Otherwise, the work would come back forever instead of becoming a failure."""
    pace = Pace(turn_s=0)
    async with pace.transaction(0):
        pass
    async with pace.transaction(0, is_repetition=True):
        pass
    with pytest.raises(TurnOver):
        async with pace.transaction(0):
            pass


async def test_a_damaged_reservation_does_not_keep_an_erasure(blog: Blog) -> None:
    user = await blog.users.create(a_user())
    await blog.users.create(reservation_item(unique("other"), user["id"], 1) | {"nameVersion": "x"})
    await delete_user(blog.users, user["id"])

    assert await blog.handle_users([await _read(blog, user["id"], "users")]) == []
    assert "formerUsernames" not in await _read(blog, user["id"], "users")
