"""Deliveries that exceed their deadline: their writes are kept, and each repetition makes progress."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.data import username_reservations
from shared.data.posts import delete_post
from shared.data.users import create_user, edit_user
from shared.models.user import NewUser, UserChanges
from shared.platform.database.client import connect
from shared.platform.deliveries import pacing
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.delivery import DeliveryUnfinished, run_delivery
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.platform.settings import Account
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.settings import Settings
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation, named
from tests.items import a_comment, a_like, a_post, a_user, unique

HOST_JSON = Path(__file__).parents[2] / "host.json"
# Long enough for the operations that are not held, also on a busy machine.
DEADLINE_S = 2


@pytest.fixture(autouse=True)
def unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let renames start at full speed, because these tests rename many items."""
    monkeypatch.setattr(pacing, "FIRST_S", 0.0)


@pytest.fixture
def gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.fixture
async def gated(blog: Blog, gateway: Gateway) -> AsyncIterator[Blog]:
    """The database of `blog` behind `gateway`."""
    settings = at(blog.settings, gateway.endpoint)
    async with connect(settings) as client:
        yield Blog(blog.emulator, settings, client.get_database_client(settings.database))


async def _user(blog: Blog) -> Item:
    return await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)


async def _renamed(blog: Blog, *, posts: int) -> Item:
    """Return a renamed user with ten items in each of their posts. All items have the former name."""
    user = await _user(blog)

    async def write(second: int) -> None:
        post = a_post(user, second=second)
        items = [post, *(a_comment(post, user) for _ in range(9))]
        await blog.posts.batch(post["id"], [("create", (item,)) for item in items])

    await for_each(range(posts), write)
    return await edit_user(blog.users, user["id"], UserChanges(username=unique("countess")))


async def _outdated(blog: Blog, user: Item) -> int:
    query = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @id AND c.userUsername != @name"
    parameters = {"id": user["id"], "name": user["username"]}
    return sum([count async for count in blog.posts.query_across(query, parameters, page_size=10)])


def _renames(operation: Operation) -> bool:
    return operation.name in {"batch posts", "updateUsernames posts"}


@pytest.mark.nightly
async def test_a_rename_that_exceeds_the_deadline_progresses_with_every_delivery(
    blog: Blog, gated: Blog, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "blog")
    user = await _renamed(blog, posts=150)
    left = [await _outdated(blog, user)]

    async def deliver() -> None:
        try:
            await run_delivery(USERS_CHANGE_FEED, [user], gated.handle_users, deadline_s=DEADLINE_S)
        finally:
            left.append(await _outdated(blog, user))

    with gateway.holding(named("query posts"), after=1), pytest.raises(DeliveryUnfinished) as cut_off:
        await deliver()
    for renames in (5, 20):
        with gateway.holding(_renames, after=renames), pytest.raises(DeliveryUnfinished):
            await deliver()
    await gated.handle_users([user])  # has no deadline
    left.append(await _outdated(blog, user))

    assert (left[0], left[-1]) == (1_500, 0)
    assert left == sorted(set(left), reverse=True)
    assert str(cut_off.value) == (
        "on_users_changed did not finish a delivery within 2 s (BLOG_DELIVERY_DEADLINE_S). Its writes are "
        "kept. The host delivers the changes again."
    )
    lines = [line for line in caplog.messages if line.startswith("delivery ")]
    assert ["finished=false" in line for line in lines] == [True] * 3
    assert float(lines[0].partition("charge_ru=")[2].split()[0]) > 0
    assert "formerUsernames" not in (await blog.users.read(user["id"], user["id"]) or {})


@pytest.mark.nightly
async def test_the_likes_of_a_deleted_post_expire_over_several_deliveries(
    blog: Blog, gated: Blog, gateway: Gateway
) -> None:
    author = await _user(blog)
    post = await blog.posts.create(a_post(author))
    for _ in range(10):
        likes = [a_like(post, a_user()) for _ in range(100)]
        await blog.posts.batch(post["id"], [("create", (like,)) for like in likes])
    await delete_post(blog.posts, post["id"], by=BackEnd())
    [tombstone] = [item for item in await blog.items_of(post) if item["id"] == post["id"]]

    async def likes_left() -> int:
        return sum(item["type"] == "like" and "ttl" not in item for item in await blog.items_of(post))

    for left in (925, 850):
        with gateway.holding(named("batch posts"), after=3), pytest.raises(DeliveryUnfinished):
            await run_delivery(POSTS_CHANGE_FEED, [tombstone], gated.handle_posts, deadline_s=DEADLINE_S)
        assert await likes_left() == left
    await gated.handle_posts([tombstone])
    assert await likes_left() == 0


@pytest.mark.nightly
async def test_changes_behind_a_long_rename_are_handled(blog: Blog, gated: Blog, gateway: Gateway) -> None:
    renamed = await _renamed(blog, posts=10)
    others = [await _user(blog) for _ in range(49)]

    with gateway.holding(_renames), pytest.raises(DeliveryUnfinished):
        await run_delivery(USERS_CHANGE_FEED, [renamed, *others], gated.handle_users, deadline_s=DEADLINE_S)

    keys = [username_reservations.reservation_id(user["username"]) for user in others]
    reservations = await asyncio.gather(*(blog.users.read(key, key) for key in keys))
    assert await _outdated(blog, renamed) == 100
    assert [reservation for reservation in reservations if reservation is None or "ttl" in reservation] == []


def test_the_deadline_is_well_below_the_function_timeout() -> None:
    hours, minutes, seconds = map(int, json.loads(HOST_JSON.read_text(encoding="utf-8"))["functionTimeout"].split(":"))

    assert (
        2 * Settings(account=Account(""), database="blog").delivery_deadline_s <= hours * 3600 + minutes * 60 + seconds
    )
