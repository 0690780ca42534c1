"""Changes of users: renames fan out and reservations are settled, even if delivered late or repeatedly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.data import username_reservations
from shared.data.users import create_user, edit_user
from shared.errors import TooManyRenames
from shared.models.user import PENDING_RENAMES, NewUser, UserChanges
from shared.platform.database.scope import request_scope
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item
from shared.propagation.users import handle_changed_users
from tests.blog import Blog
from tests.interleaved import Interleaved
from tests.items import a_comment, a_like, a_post, a_user, unique


async def _reservation(blog: Blog, username: str) -> Item | None:
    key = username_reservations.reservation_id(username)
    return await blog.users.read(key, key)


async def _register(blog: Blog, stem: str = "ada") -> Item:
    return await create_user(blog.users, NewUser(username=unique(stem)), idempotency_key=None)


async def _rename(blog: Blog, user: Item, username: str) -> Item:
    return await edit_user(blog.users, user["id"], UserChanges(username=username))


async def _with_items_on_posts(blog: Blog, user: Item, number: int) -> list[Item]:
    posts = [await blog.posts.create(a_post(user, second=second)) for second in range(number)]
    for post in posts:
        await blog.posts.execute("createComment", post["id"], a_comment(post, user))
        await blog.posts.execute("createLike", post["id"], a_like(post, user))
    return posts


async def _names_on(blog: Blog, posts: list[Item]) -> set[str]:
    return {item["userUsername"] for post in posts for item in await blog.items_of(post)}


async def test_a_new_user_costs_the_users_feed_nothing(blog: Blog) -> None:
    user = await _register(blog)

    with request_scope() as scope:
        await blog.handle_users([user])

    assert scope.responses == 0


async def test_a_rename_reaches_every_item_and_releases_the_former_name(blog: Blog) -> None:
    user = await _register(blog)
    posts = await _with_items_on_posts(blog, user, 5)
    await blog.drain()
    new_name = unique("countess")

    await _rename(blog, user, new_name)
    await blog.drain()

    assert await _names_on(blog, posts) == {new_name}
    assert {copy["userUsername"] for copy in await blog.all_items(blog.feed)} == {new_name}
    assert await _reservation(blog, user["username"]) is None
    reservation = await _reservation(blog, new_name)
    assert reservation is not None
    assert reservation["ownerId"] == user["id"]


async def test_a_rename_stops_causing_changes(blog: Blog) -> None:
    user = await _register(blog)
    await _with_items_on_posts(blog, user, 2)
    await _rename(blog, user, unique("countess"))

    await blog.drain()  # fails if the handlers keep writing

    settled = await blog.users.read(user["id"], user["id"])
    assert settled is not None
    assert "formerUsernames" not in settled


async def test_copies_and_reservations_are_skipped(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    await blog.handle_posts([await blog.posts.create(a_post(author))])
    changes = [change for change in await blog.changes(blog.users) if change["type"] != "user"]
    before = await blog.all_items(blog.users)

    await blog.handle_users(changes)

    assert changes
    assert await blog.all_items(blog.users) == before


async def test_two_renames_delivered_as_one_change_release_both_former_names(blog: Blog) -> None:
    user = await _register(blog)
    await blog.drain()
    second, third = unique("second"), unique("third")
    await _rename(blog, user, second)
    await _rename(blog, user, third)

    await blog.drain()

    assert await _reservation(blog, user["username"]) is None
    assert await _reservation(blog, second) is None
    assert await _reservation(blog, third) is not None


async def test_a_stale_rename_delivered_late_changes_no_name(blog: Blog) -> None:
    user = await _register(blog)
    posts = await _with_items_on_posts(blog, user, 2)
    second_state = await _rename(blog, user, unique("second"))
    third_state = await _rename(blog, user, unique("third"))
    await blog.handle_users([third_state])

    await blog.handle_users([second_state])

    assert await _names_on(blog, posts) == {third_state["username"]}
    assert await _reservation(blog, third_state["username"]) is not None


async def test_a_rename_at_the_end_of_another_one_is_fanned_out(blog: Blog) -> None:
    user = await _register(blog)
    posts = await _with_items_on_posts(blog, user, 2)
    second_state, third = await _rename(blog, user, unique("second")), unique("third")

    async def rename(*_: object, **__: object) -> None:
        await _rename(blog, user, third)

    users = Interleaved(blog.users, "patch", before=rename, times=1)
    await handle_changed_users(replace(blog.stored, users=users), [second_state])
    await blog.handle_users(await blog.changes(blog.users))

    assert await _names_on(blog, posts) == {third}
    assert await _reservation(blog, second_state["username"]) is None


async def test_a_fan_out_that_fails_midway_is_finished_by_the_next_delivery(
    blog: Blog,
) -> None:
    user = await _register(blog)
    posts = await _with_items_on_posts(blog, user, 6)
    renamed = await _rename(blog, user, unique("countess"))
    plug = f"500 operation=batch,execute database={blog.settings.database} skip=3"
    with blog.emulator.faults.during(plug), pytest.raises(DatabaseUnavailable):
        await blog.handle_users([renamed])
    midway = await _names_on(blog, posts)
    await blog.handle_users([renamed])

    assert user["username"] in midway
    assert await _names_on(blog, posts) == {renamed["username"]}
    assert await _reservation(blog, user["username"]) is None


async def test_a_rename_from_before_the_first_start_is_fanned_out(blog: Blog) -> None:
    user = await _register(blog)
    posts = await _with_items_on_posts(blog, user, 2)
    new_name = unique("countess")
    await _rename(blog, user, new_name)

    await blog.handle_users(await blog.changes(blog.users))

    assert await _names_on(blog, posts) == {new_name}


async def test_a_late_delivery_does_not_release_a_reclaimed_username(blog: Blog) -> None:
    user = await _register(blog)
    await blog.drain()
    away = await _rename(blog, user, unique("away"))
    back = await _rename(blog, away, user["username"])

    await blog.handle_users([away])  # late; releases the name before it
    held = await _reservation(blog, user["username"])
    await blog.handle_users([back])

    assert held is not None
    assert await _reservation(blog, user["username"]) == held
    assert await _reservation(blog, away["username"]) is None


async def test_a_user_with_pending_renames_cannot_be_renamed_without_limit(blog: Blog) -> None:
    user = await _register(blog)
    # An old account has more renames than these.
    await blog.users.replace(user | {"creationDate": "2026-01-01T00:00:00.000Z"}, etag=user["_etag"])
    for _ in range(PENDING_RENAMES):
        await _rename(blog, user, unique("name"))
    with pytest.raises(TooManyRenames):
        await _rename(blog, user, unique("name"))
    await blog.drain()

    renamed = await _rename(blog, user, unique("name"))
    await blog.drain()

    reservations = [item for item in await blog.all_items(blog.users) if item["type"] == username_reservations.TYPE]
    assert [reservation["username"] for reservation in reservations] == [renamed["username"]]


async def test_former_names_that_are_no_texts_do_not_keep_a_rename_unfinished(blog: Blog) -> None:
    user = await _register(blog)
    for damaged in ([1], [{}, None, "former"]):
        stored = await blog.users.read(user["id"], user["id"]) or {}
        broken = await blog.users.replace(stored | {"formerUsernames": damaged}, etag=stored["_etag"])

        assert await blog.handle_users([broken]) == []

        assert "formerUsernames" not in (await blog.users.read(user["id"], user["id"]) or {})
