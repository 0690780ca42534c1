"""The author cache: filling, updating, and correcting stale usernames."""

from __future__ import annotations

from dataclasses import replace

from shared.data.comments import create_comment
from shared.data.users import create_user, edit_user, get_author, remember
from shared.database.scope import request_scope
from shared.models.comment import NewComment
from shared.models.user import NewUser, UserChanges
from tests.blog import Blog
from tests.items import a_post, unique


async def _registered(blog: Blog) -> str:
    return str((await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None))["id"])


async def test_a_cached_author_is_not_read_again(blog: Blog) -> None:
    users, user_id = blog.users, await _registered(blog)
    await get_author(users, user_id)

    with request_scope() as scope:
        author = await get_author(users, user_id)

    assert author["id"] == user_id
    assert scope.responses == 0


async def test_a_rename_in_this_process_updates_the_cache(blog: Blog) -> None:
    users, user_id, name = blog.users, await _registered(blog), unique("countess")
    await get_author(users, user_id)

    await edit_user(users, user_id, UserChanges(username=name))

    assert (await get_author(users, user_id))["username"] == name


async def test_an_older_username_does_not_replace_a_later_one(blog: Blog) -> None:
    users, user_id, name = blog.users, await _registered(blog), unique("countess")
    before = await get_author(users, user_id)
    await edit_user(users, user_id, UserChanges(username=name))

    remember(users, before)

    assert (await get_author(users, user_id))["username"] == name


async def test_the_change_feed_corrects_a_comment_with_a_stale_username(blog: Blog) -> None:
    here, user_id, name = blog.users, await _registered(blog), unique("countess")
    author = await get_author(here, user_id)
    post = await blog.posts.create(a_post(author))
    await edit_user(
        blog.users, user_id, UserChanges(username=name)
    )  # `here` has its own cache, so this rename seems to come from another process
    await blog.drain()

    stale = await create_comment(
        replace(blog.stored, users=here),
        post["id"],
        NewComment(user_id=user_id, content="Well put."),
        idempotency_key=None,
    )
    await blog.drain()

    assert stale["userUsername"] == author["username"]
    assert (await blog.posts.read(stale["id"], post["id"]) or {})["userUsername"] == name
