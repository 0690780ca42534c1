"""The limits on retries."""

from __future__ import annotations

import random

import pytest

from shared.data.front_page import FRONT_PAGE_DEADLINE_S
from shared.data.users import RENAME_ATTEMPTS, RENAME_WAIT_S, create_user, edit_user
from shared.models.user import NewUser, UserChanges
from shared.platform.database import retries
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.errors import DatabaseUnavailable
from tests.blog import Blog, at
from tests.gateway import Gateway, named
from tests.items import a_post, a_user, unique


def test_a_shared_read_ends_before_the_deadline_of_its_requests() -> None:
    assert FRONT_PAGE_DEADLINE_S < retries.REQUEST_DEADLINE_S


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The longest that each jittered wait can be."""
    longest: list[float] = []
    monkeypatch.setattr(random, "uniform", lambda _, most: longest.append(most) or 0)
    return longest


async def test_conflicts_are_waited_for_only_before_a_retry(blog: Blog, waits: list[float]) -> None:
    fault = f"449 database={blog.settings.database}"
    with blog.emulator.faults.during(fault) as conflicts, pytest.raises(DatabaseUnavailable):
        await blog.posts.create(a_post(a_user()))

    assert conflicts.struck == retries.CONFLICT_RETRIES + 1
    assert waits == [retries.CONFLICT_WAIT_S * 2**number for number in range(retries.CONFLICT_RETRIES)]


async def test_renames_are_waited_for_only_before_another_attempt(blog: Blog, waits: list[float]) -> None:
    user = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    changes = UserChanges(username=unique("grace"))

    with Gateway(blog.emulator.endpoint) as gateway:
        async with connect(at(blog.settings, gateway.endpoint)) as client:
            users = Container(client.get_database_client(blog.settings.database).get_container_client("users"))
            with gateway.answering(named("replace users"), 412), pytest.raises(DatabaseUnavailable):
                await edit_user(users, user["id"], changes)

    assert waits == [RENAME_WAIT_S * number for number in range(1, RENAME_ATTEMPTS)]
