"""A command reads its author, who can be renamed before it writes."""

from __future__ import annotations

from shared.data.users import create_user, edit_user
from shared.models.user import NewUser, UserChanges
from tests.blog import Blog
from tests.items import a_comment, a_post, unique


async def test_the_change_feed_corrects_a_comment_with_a_stale_username(blog: Blog) -> None:
    author = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    post = await blog.posts.create(a_post(author))
    renamed = await edit_user(blog.users, author["id"], UserChanges(username=unique("countess")))
    await blog.drain()

    stale = await blog.stored.transactions.add(blog.posts, a_comment(post, author), None)
    await blog.drain()

    assert stale["userUsername"] == author["username"]
    assert (await blog.posts.read(stale["id"], post["id"]) or {})["userUsername"] == renamed["username"]
