"""Container.read_many."""

from __future__ import annotations

import pytest

from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.errors import DatabaseUnavailable
from tests.blog import Blog, at
from tests.gateway import Gateway, Operation
from tests.items import a_user

ODD_IDS = [
    "it's",
    '"quoted"',
    "a b",
    "ä€🎉",
    "100%",
    "%27",
    "a+b&c=d",
    "@param_id0",
    "[1]",
    "--",
    "a,b;c|d",
    "(",
    "🎉" * 60,
]


@pytest.mark.parametrize("missing", [0, 50, 2_500])
async def test_read_many_finds_items_by_many_and_unusual_ids(blog: Blog, missing: int) -> None:
    for user_id in ODD_IDS:
        await blog.users.create(a_user(user_id=user_id))

    found = await blog.users.read_many([*ODD_IDS, *(f"unknown-{number}" for number in range(missing))])

    assert sorted(user["id"] for user in found) == sorted(ODD_IDS)


async def test_read_many_without_ids_returns_no_items(blog: Blog) -> None:
    assert await blog.users.read_many([]) == []


async def test_unreadable_feed_ranges_raise_unavailable(blog: Blog) -> None:
    def of_ranges(operation: Operation) -> bool:
        return "/pkranges" in operation.kind

    with Gateway(blog.emulator.endpoint) as gateway:
        settings = at(blog.settings, gateway.endpoint)
        async with connect(settings) as client:
            users = Container(client.get_database_client(settings.database).get_container_client("users"))
            with gateway.answering(of_ranges, 403), pytest.raises(DatabaseUnavailable):
                await users.read_many(["ada"])
