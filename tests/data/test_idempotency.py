"""Idempotency records in the data functions: contents and expiry."""

from __future__ import annotations

import pytest

from management.account import Blog as ManagedBlog
from management.verify import verify
from shared.data.comments import create_comment
from shared.data.idempotency import TTL_S, TYPE
from shared.data.likes import create_like
from shared.data.posts import create_post
from shared.data.users import create_user
from shared.errors import IdempotencyKeyReused
from shared.models.base import Item
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost
from shared.models.user import NewUser
from tests.blog import Blog
from tests.items import unique


async def _user(blog: Blog, name: str, key: str | None = None) -> Item:
    return await create_user(blog.users, NewUser(username=name), idempotency_key=key)


async def _records(blog: Blog) -> list[Item]:
    items = [*await blog.all_items(blog.users), *await blog.all_items(blog.posts)]
    return [item for item in items if item["type"] == TYPE]


async def _expire_records(blog: Blog) -> None:
    for record in await _records(blog):
        container = blog.posts if "postId" in record else blog.users
        await container.delete(record["id"], record.get("postId") or record["userId"])


async def test_only_commands_with_a_key_write_a_record(blog: Blog) -> None:
    author = await _user(blog, unique("ada"))
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    post = await create_post(blog.users, blog.posts, new, idempotency_key=None)
    assert await _records(blog) == []

    keyed = await _user(blog, unique("grace"), "key")
    post = await create_post(blog.users, blog.posts, new, idempotency_key="key")

    records = await _records(blog)
    assert [record["result"] for record in records] == [{"id": keyed["id"]}, {"id": post["id"]}]
    assert {record["ttl"] for record in records} == {TTL_S}
    assert "key" not in str([record["id"] for record in records])


async def test_verify_accepts_a_database_with_idempotency_records(blog: Blog) -> None:
    author = await _user(blog, unique("ada"), "key")
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    post = await create_post(blog.users, blog.posts, new, idempotency_key="key")
    comment = NewComment(user_id=author["id"], content="Well put.")
    await create_comment(blog.users, blog.posts, post["id"], comment, idempotency_key="key")
    await create_like(blog.users, blog.posts, post["id"], NewLike(user_id=author["id"]), idempotency_key="key")
    await blog.drain()

    findings = await verify(ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures))

    assert len(await _records(blog)) == 4
    assert findings == []


async def test_posts_and_comments_are_not_created_twice_after_their_record_expires(blog: Blog) -> None:
    author = await _user(blog, unique("ada"))
    new_post = NewPost(user_id=author["id"], title="A title", content="Some content.")
    new_comment = NewComment(user_id=author["id"], content="Well put.")

    async def create_both() -> tuple[Item, Item]:
        post = await create_post(blog.users, blog.posts, new_post, idempotency_key="key")
        return post, await create_comment(blog.users, blog.posts, post["id"], new_comment, idempotency_key="key")

    post, comment = await create_both()
    await _expire_records(blog)

    again = await create_both()

    assert [item["id"] for item in again] == [post["id"], comment["id"]]
    assert await blog.counts(post) == (1, 0)


async def test_a_registrations_key_is_rejected_after_its_record_expires(blog: Blog) -> None:
    name, other = unique("ada"), unique("grace")
    await _user(blog, name, "key")
    await _expire_records(blog)

    for username in (name, other):
        with pytest.raises(IdempotencyKeyReused):
            await _user(blog, username, "key")

    assert (await _user(blog, other))["username"] == other
