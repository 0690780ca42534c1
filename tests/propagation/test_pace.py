"""A rename leaves throughput for readers: small transactions, few at once, and a distance between them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace

import pytest

from shared.platform.database.client import connect
from shared.platform.database.scope import record_response
from shared.platform.deliveries.delivery import DeliveryUnfinished, run_delivery
from shared.platform.deliveries.pacing import Pace
from shared.platform.models import Item
from shared.propagation.change_feeds import USERS_CHANGE_FEED
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation
from tests.items import a_comment, a_post, a_user, unique

# Long enough for the operations that are not held, also on a busy machine.
DEADLINE_S = 4


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


async def _renamed_with_comments(blog: Blog, *, posts: int, comments: int) -> Item:
    """Return a renamed user with comments under the former name on each of the posts."""
    user = a_user()
    for _ in range(posts):
        post = a_post(a_user())
        for start in range(0, comments, 100):
            written = [a_comment(post, user) for _ in range(start, min(start + 100, comments))]
            await blog.posts.batch(post["id"], [("create", (comment,)) for comment in written])
    renamed = user | {"username": unique("countess"), "nameVersion": 1, "formerUsernames": [user["username"]]}
    return await blog.users.create(renamed)


async def _names(blog: Blog) -> set[str]:
    return {item["userUsername"] for item in await blog.all_items(blog.posts)}


def _renames(operation: Operation) -> bool:
    return operation.name in {"batch posts", "updateUsernames posts"}


@pytest.mark.nightly
async def test_all_renames_of_a_delivery_share_one_limit_on_transactions(
    blog: Blog, gated: Blog, gateway: Gateway
) -> None:
    users = [await _renamed_with_comments(blog, posts=5, comments=1) for _ in range(5)]

    with gateway.holding(_renames) as held, pytest.raises(DeliveryUnfinished):
        await run_delivery(USERS_CHANGE_FEED, users, gated.handle_users, deadline_s=DEADLINE_S)

    assert len(held.operations) == 8


async def test_a_transaction_renames_a_few_dozen_items(blog: Blog, gated: Blog, gateway: Gateway) -> None:
    user = await _renamed_with_comments(blog, posts=1, comments=110)

    with gateway.recording() as operations:
        await gated.handle_users([user])

    charges = [operation.charge_ru for operation in operations if _renames(operation)]
    assert 0 < max(charges) < 400
    assert await _names(blog) == {user["username"]}


async def test_a_rename_slows_down_after_a_429(blog: Blog) -> None:
    user = await _renamed_with_comments(blog, posts=1, comments=135)
    # The first two are reads of the physical partitions.
    throttled = f"429 operation=batch,execute database={blog.settings.database} skip=3 times=1"

    with blog.emulator.faults.during(throttled):
        started = time.monotonic()
        await blog.handle_users([user])
        passed_s = time.monotonic() - started

    # Without the 429, the sixth transaction would start after 1.6 s.
    assert passed_s > 2.2
    assert await _names(blog) == {user["username"]}


async def test_the_pace_follows_the_charge_of_transactions() -> None:
    """A hundred request units are a fifth of a second at first, whether they are of one item or of many."""
    pace, starts = Pace(), list[float]()
    for charge_ru in (110, 0, 0):
        async with pace.transaction(1):
            starts.append(time.monotonic())
            response = SimpleNamespace(status_code=200, headers={"x-ms-request-charge": str(charge_ru)})
            record_response(response)

    first_s, second_s = starts[1] - starts[0], starts[2] - starts[1]
    assert first_s > 0.15
    assert second_s < first_s / 2
