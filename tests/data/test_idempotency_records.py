"""Idempotency records in the data functions: contents and expiry."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from cosmos_emulator import EmulatorSettings

from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.data.comments import create_comment, delete_comment
from shared.data.posts import create_post
from shared.data.users import create_user
from shared.models.comment import NewComment
from shared.models.post import NewPost
from shared.models.user import NewUser
from shared.platform.data.idempotency import TTL_S, TYPE
from shared.platform.errors import IdempotencyKeyReused
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.transactions import transactions
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import unique


async def _user(blog: Blog, name: str, key: str | None = None) -> Item:
    return await create_user(blog.users, NewUser(username=name), idempotency_key=key)


async def _records(blog: Blog) -> list[Item]:
    items = [*await blog.all_items(blog.users), *await blog.all_items(blog.posts)]
    return [item for item in items if item["type"] == TYPE]


class _Clock:
    """The database's clock, which a test advances."""

    def __init__(self) -> None:
        self.ahead_s = 0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture(params=["batch", "procedure"])
async def aging_blog(clock: _Clock, request: pytest.FixtureRequest) -> AsyncIterator[Blog]:
    """A blog whose database has its own clock."""
    with EmulatorThread(EmulatorSettings(clock=clock)) as emulator:
        async with new_blog(emulator, request.param) as provisioned:
            yield provisioned


async def test_only_commands_with_a_key_write_a_record(blog: Blog) -> None:
    author = await _user(blog, unique("ada"))
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    post = await create_post(blog.stored, new, idempotency_key=None)
    assert await _records(blog) == []

    keyed = await _user(blog, unique("grace"), "key")
    post = await create_post(blog.stored, new, idempotency_key="key")

    records = await _records(blog)
    assert [record["id"] for record in records] == [f"idempotency:{item['id']}" for item in (keyed, post)]
    assert {record["ttl"] for record in records} == {TTL_S}
    assert "key" not in str([record["id"] for record in records])


async def test_verify_accepts_a_database_with_idempotency_records(blog: Blog) -> None:
    author = await _user(blog, unique("ada"), "key")
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    post = await create_post(blog.stored, new, idempotency_key="key")
    comment = NewComment(user_id=author["id"], content="Well put.")
    await create_comment(blog.stored, post["id"], comment, idempotency_key="key")
    await blog.drain()

    findings = await verify(ManagedBlog(blog.users, blog.posts, blog.feed, blog.failures))

    assert len(await _records(blog)) == 3
    assert findings == []


@pytest.mark.parametrize("text", ["Other.", "First."], ids=["another-body", "the-same-body"])
async def test_a_key_that_made_a_post_or_comment_is_rejected_after_its_record_expires(
    aging_blog: Blog, clock: _Clock, text: str
) -> None:
    blog, way = aging_blog, transactions(aging_blog.settings.transactions)
    author = await _user(blog, unique("ada"))

    async def new_post(content: str) -> Item:
        new = NewPost(user_id=author["id"], title="A title", content=content)
        return await create_post(blog.stored, new, idempotency_key="key")

    post = await new_post("First.")

    async def new_comment(content: str) -> Item:
        new = NewComment(user_id=author["id"], content=content)
        return await create_comment(replace(blog.stored, transactions=way), post["id"], new, idempotency_key="key")

    comment = await new_comment("First.")
    before = await blog.items_of(post)
    clock.ahead_s = TTL_S + 1

    for create in (new_post, new_comment):
        with pytest.raises(IdempotencyKeyReused):
            await create(text)

    assert await blog.items_of(post) == [item for item in before if item["type"] != TYPE]
    assert {item["id"] for item in await blog.items_of(post)} == {post["id"], comment["id"]}


async def test_a_key_whose_comment_was_deleted_is_new_after_its_record_expires(aging_blog: Blog, clock: _Clock) -> None:
    blog, way = aging_blog, transactions(aging_blog.settings.transactions)
    author = await _user(blog, unique("ada"))
    new_post = NewPost(user_id=author["id"], title="A title", content="Some content.")
    post = await create_post(blog.stored, new_post, idempotency_key=None)
    new = NewComment(user_id=author["id"], content="Well put.")

    async def comment() -> Item:
        return await create_comment(replace(blog.stored, transactions=way), post["id"], new, idempotency_key="key")

    first = await comment()
    await delete_comment(blog.stored, post["id"], first["id"], by=BackEnd())
    clock.ahead_s = TTL_S + 1

    assert (await comment())["id"] == first["id"]
    assert await blog.counts(post) == (1, 0)


async def test_a_registrations_key_is_rejected_after_its_record_expires(aging_blog: Blog, clock: _Clock) -> None:
    blog, name, other = aging_blog, unique("ada"), unique("grace")
    await _user(blog, name, "key")
    clock.ahead_s = TTL_S + 1

    for username in (name, other):
        with pytest.raises(IdempotencyKeyReused):
            await _user(blog, username, "key")

    assert (await _user(blog, other))["username"] == other
