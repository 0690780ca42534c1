"""A replay of a change feed continues after failures of the database, and ends while the app writes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from cosmos_emulator import EmulatorSettings

from management import replay as replay_module
from management.item_count import ItemCount
from management.provision import provision
from management.replay import replay
from shared.data.blog import Blog as ManagedBlog
from shared.platform.database.client import connect
from shared.platform.database.container import Container, patch_of
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import Blog, EmulatorThread
from tests.items import a_user, unique


class _Clock:
    def __init__(self) -> None:
        self.now_s = time.time()

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """The emulator's time, which stands still. Pages have one change."""
    clock = _Clock()
    monkeypatch.setattr(blog.emulator.settings, "clock", clock)
    monkeypatch.setattr(replay_module, "_PAGE_SIZE", 1)
    return clock


@pytest.mark.parametrize("error", [DatabaseThrottled(0.01), DatabaseUnavailable("no answer")])
async def test_a_page_of_changes_is_handled_again_after_a_database_error(
    managed: ManagedBlog, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(replay_module, "_RETRY_WAITS_S", (0, 0))
    user = await managed.users.create(a_user("ada"))
    handled: list[str] = []
    errors = [error]

    async def handle(changes: Iterable[Mapping[str, Any]]) -> None:
        if errors:
            raise errors.pop()
        handled.extend(change["id"] for change in changes)

    assert await replay(managed.users, handle, ItemCount()) == 1
    assert handled == [user["id"]]


async def test_a_replay_ends_while_the_container_is_written_to(managed: ManagedBlog, clock: _Clock) -> None:
    before = {(await managed.users.create(a_user()))["id"] for _ in range(10)}
    handled: list[str] = []

    async def handle(changes: Iterable[Mapping[str, Any]]) -> None:
        handled.extend(change["id"] for change in changes)
        assert len(handled) < 100
        clock.now_s += 1
        await managed.users.patch(handled[-1], handled[-1], patch_of({}, writes=1))

    await replay(managed.users, handle, ItemCount())

    assert before <= set(handled)


async def test_changes_that_the_handler_writes_are_replayed(managed: ManagedBlog, clock: _Clock) -> None:
    """Its writes are later than the start of the replay. They do not write anything that must be handled."""
    before = [(await managed.users.create(a_user()))["id"] for _ in range(10)]
    handled: Counter[str] = Counter()

    async def handle(changes: Iterable[Mapping[str, Any]]) -> None:
        for change in changes:
            handled[change["id"]] += 1
            if handled[change["id"]] == 1:
                clock.now_s += 20
                await managed.users.patch(change["id"], change["id"], patch_of({"writes": 1}))

    await replay(managed.users, handle, ItemCount())

    assert handled == dict.fromkeys(before, 2)


async def test_all_changes_are_replayed_if_a_partition_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first part is ahead of the others: it has only the user who is written to."""
    monkeypatch.setattr(replay_module, "_PAGE_SIZE", 1)
    clock = _Clock()
    handled: list[str] = []
    with EmulatorThread(EmulatorSettings(partitions=1, clock=clock)) as emulator:
        settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("split"))
        await provision(settings, throughput=400)
        async with connect(settings) as client:
            users = Container(client.get_database_client(settings.database).get_container_client("users"))
            hashes = {str(number): await users.proxy.feed_range_from_partition_key(str(number)) for number in range(40)}
            busy, *_ = in_order = sorted(hashes, key=lambda user_id: hashes[user_id]["Range"]["min"])
            before = {busy, *in_order[20:]}
            for user_id in before:
                await users.create(a_user(user_id=user_id))

            async def handle(changes: Iterable[Mapping[str, Any]]) -> None:
                handled.extend(change["id"] for change in changes)
                assert len(handled) < 200
                if len(handled) == 1:
                    await provision(settings, throughput=25_000)
                clock.now_s += 10
                await users.patch(busy, busy, patch_of({}, writes=1))

            await replay(users, handle, ItemCount())

    assert before == set(handled)
