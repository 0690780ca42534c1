"""Usernames stay unique, and no crash leaves a username reserved forever or with two owners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shared.charges import metered
from shared.cosmos import ConditionFailed, Container
from shared.data import username_reservations
from shared.data.users import create_user, edit_user, get_user
from shared.errors import DatabaseUnavailable, UsernameTaken
from shared.models.base import Item
from shared.models.user import NewUser, User, UserChanges
from tests.blog import Blog
from tests.items import unique


async def _register(blog: Blog, username: str, *, key: str | None = None) -> Item:
    return await create_user(blog.users, NewUser(username=username), idempotency_key=key)


async def _rename(blog: Blog, user: Item, username: str) -> Item:
    return await edit_user(blog.users, user["id"], UserChanges(username=username), etag=None)


@dataclass
class Clock:
    """The clock that reservations read: `ahead_s` seconds ahead of real time."""

    ahead_s: float = 0

    def time(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(username_reservations, "time", clock)
    return clock


@pytest.mark.parametrize(("first", "second"), [("Bob", "bob"), ("ＢＯＢ", "bob"), ("Straße", "STRASSE"), ("Ⅷ", "viii")])
def test_usernames_are_compared_case_folded_in_nfkc(first: str, second: str) -> None:
    assert username_reservations.normalized(first) == username_reservations.normalized(second)


async def test_one_of_many_concurrent_registrations_gets_the_username(blog: Blog) -> None:
    name = unique("bob")

    results = await asyncio.gather(*(_register(blog, name) for _ in range(10)), return_exceptions=True)

    assert sum(isinstance(result, dict) for result in results) == 1
    assert sum(isinstance(result, UsernameTaken) for result in results) == 9


async def test_registrations_spread_over_partition_keys(blog: Blog) -> None:
    await asyncio.gather(*(_register(blog, unique("user")) for _ in range(20)))

    reservations = [item for item in await blog.all_items(blog.users) if item["type"] == username_reservations.TYPE]
    assert len({item["userId"] for item in reservations}) == 20


async def test_a_crash_before_the_user_is_written_frees_the_username_after_a_minute(blog: Blog, clock: Clock) -> None:
    name = unique("bob")
    await username_reservations.reserve(blog.users, name, "never-written", 1)
    with pytest.raises(UsernameTaken):
        await _register(blog, name)

    clock.ahead_s = username_reservations.ABANDONED_AFTER_S + 1
    user = await _register(blog, name)

    assert user["username"] == name


async def test_an_unconfirmed_reservation_expires(blog: Blog) -> None:
    reservation = await username_reservations.reserve(blog.users, unique("bob"), "never-written", 1)

    assert reservation.item["ttl"] == username_reservations.UNCONFIRMED_TTL_S


async def test_a_user_keeps_the_username_while_the_change_feed_lags(blog: Blog, clock: Clock) -> None:
    name = unique("bob")
    await _register(blog, name)

    clock.ahead_s = username_reservations.UNCONFIRMED_TTL_S - 1

    with pytest.raises(UsernameTaken):
        await _register(blog, name)


async def test_a_former_username_can_be_taken_before_its_release(blog: Blog) -> None:
    name = unique("bob")
    first = await _register(blog, name)
    await blog.drain()
    await _rename(blog, first, unique("rob"))

    second = await _register(blog, name)
    await blog.drain()

    assert second["username"] == name
    reservation = await blog.users.read(
        username_reservations.reservation_id(name), username_reservations.reservation_id(name)
    )
    assert reservation is not None
    assert reservation["ownerId"] == second["id"]


async def test_a_crash_during_a_rename_leaves_both_usernames_usable(blog: Blog, clock: Clock) -> None:
    user = await _register(blog, unique("bob"))
    await blog.drain()
    wanted = unique("rob")
    await username_reservations.reserve(blog.users, wanted, user["id"], 2)

    clock.ahead_s = username_reservations.ABANDONED_AFTER_S + 1
    other = await _register(blog, wanted)

    assert other["username"] == wanted
    with pytest.raises(UsernameTaken):
        await _register(blog, user["username"])


async def test_concurrent_renames_of_one_user_leave_one_reservation(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    names = [unique(f"rob{number}") for number in range(4)]

    await asyncio.gather(*(_rename(blog, user, name) for name in names))
    await blog.drain()

    final = await get_user(blog.users, user["id"])
    reserved = [item for item in await blog.all_items(blog.users) if item["type"] == username_reservations.TYPE]
    assert final["username"] in names
    assert [item["username"] for item in reserved] == [final["username"]]


async def test_a_rename_that_loses_a_race_releases_its_reservation(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    user = await _register(blog, unique("bob"))
    wanted = unique("rob")
    replace = Container.replace

    async def fail_to_replace(container: Container, item: Item, *, etag: str) -> Item:
        if item["id"] == user["id"]:
            raise ConditionFailed
        return await replace(container, item, etag=etag)

    with monkeypatch.context() as patched:
        patched.setattr(Container, "replace", fail_to_replace)
        with pytest.raises(DatabaseUnavailable):
            await _rename(blog, user, wanted)

    assert (await _register(blog, wanted))["username"] == wanted


async def test_a_rename_that_changes_only_the_case_keeps_the_reservation(blog: Blog) -> None:
    name = unique("bob")
    user = await _register(blog, name)
    await blog.drain()

    await _rename(blog, user, name.upper())
    await blog.drain()

    reservation = await blog.users.read(
        username_reservations.reservation_id(name), username_reservations.reservation_id(name)
    )
    assert reservation is not None
    assert reservation["ownerId"] == user["id"]


async def test_a_retried_registration_returns_the_same_user(blog: Blog) -> None:
    name = unique("bob")
    first = await _register(blog, name, key="k1")
    await blog.drain()

    again = await _register(blog, name, key="k1")

    assert again == first
    reservation = await blog.users.read(
        username_reservations.reservation_id(name), username_reservations.reservation_id(name)
    )
    assert reservation is not None
    assert "ttl" not in reservation


async def test_renaming_a_former_owner_leaves_the_new_owner_unchanged(blog: Blog) -> None:
    name = unique("alice")
    first = await _register(blog, name)
    await _rename(blog, first, unique("bob"))
    second = await _register(blog, name)

    await _rename(blog, first, unique("carol"))

    assert (await get_user(blog.users, second["id"]))["username"] == name


async def test_one_point_read_finds_the_user_of_a_username(blog: Blog) -> None:
    user = await _register(blog, unique("Bob"))
    key = username_reservations.reservation_id(user["username"].lower())
    await blog.users.read(key, key)  # the first request to a container also reads its properties

    with metered() as charge:
        reservation = await blog.users.read(key, key)

    assert reservation is not None
    assert reservation["ownerId"] == user["id"]
    assert charge.answers == 1
    assert charge.request_units <= 2


async def test_a_username_released_during_its_takeover_is_taken(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    name = unique("bob")
    first = await _register(blog, name)
    await _rename(blog, first, unique("rob"))
    replace = Container.replace

    async def replace_after_its_release(container: Container, item: Item, *, etag: str) -> Item:
        await container.delete(item["id"], item["userId"])
        return await replace(container, item, etag=etag)

    with monkeypatch.context() as patched:
        patched.setattr(Container, "replace", replace_after_its_release)
        second = await _register(blog, name)

    assert second["username"] == name


async def test_completing_a_rename_does_not_change_the_users_etag(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    renamed = await _rename(blog, user, unique("rob"))
    await blog.drain()

    settled = await get_user(blog.users, user["id"])

    assert settled["_etag"] != renamed["_etag"]
    assert User.entity_tag(settled) == User.entity_tag(renamed) != User.entity_tag(user)


@dataclass(frozen=True)
class Interleaving:
    """Runs `after` once, right after an operation on an item."""

    after: Callable[[], Awaitable[object]]

    def read(self, monkeypatch: pytest.MonkeyPatch, item_id: str) -> None:
        """Interleave after the first read of the item, before its result is used."""
        self._follow(monkeypatch, "read", lambda arguments: arguments[0] == item_id)

    def create(self, monkeypatch: pytest.MonkeyPatch, item_id: str) -> None:
        """Interleave after the item's creation."""
        self._follow(monkeypatch, "create", lambda arguments: arguments[0]["id"] == item_id)

    def _follow(self, monkeypatch: pytest.MonkeyPatch, name: str, matches: Callable[[Any], bool]) -> None:
        operation = getattr(Container, name)

        async def follow(container: Container, *arguments: Any, **options: Any) -> Any:
            result = await operation(container, *arguments, **options)
            if matches(arguments):
                monkeypatch.setattr(Container, name, operation)
                await self.after()
            return result

        monkeypatch.setattr(Container, name, follow)


async def _settle(blog: Blog, user: Item) -> None:
    await blog.users_handler.on_changed([user])


async def _present(blog: Blog, user: Item) -> Item:
    return await get_user(blog.users, user["id"])


async def _reservation(blog: Blog, username: str) -> Item | None:
    key = username_reservations.reservation_id(username)
    return await blog.users.read(key, key)


async def test_a_late_delivery_does_not_recreate_a_released_reservation(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _settle(blog, await _present(blog, first))

    await _settle(blog, first)

    assert await _reservation(blog, first["username"]) is None


async def test_a_late_delivery_does_not_fail_if_someone_else_has_the_username(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _settle(blog, await _present(blog, first))
    heir = await _register(blog, first["username"])

    await _settle(blog, first)

    assert await blog.all_items(blog.failures) == []
    assert (await _reservation(blog, first["username"]) or {})["ownerId"] == heir["id"]


async def test_a_rename_during_the_recreation_of_a_reservation_removes_it(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await _register(blog, unique("bob"))
    key = username_reservations.reservation_id(first["username"])
    await blog.users.delete(key, key)

    async def rename_and_settle() -> None:
        await _rename(blog, first, unique("rob"))
        await _settle(blog, await _present(blog, first))

    Interleaving(rename_and_settle).create(monkeypatch, key)
    await _settle(blog, first)

    assert await _reservation(blog, first["username"]) is None


class Killed(BaseException):
    """Stands for a crash. The app's `except` clauses do not catch a BaseException."""


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_reservation_recreated_before_a_crash_expires(
    blog: Blog, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """The next delivery confirms the reservation unless the user was renamed."""
    first = await _register(blog, unique("bob"))
    key = username_reservations.reservation_id(first["username"])
    if is_late:
        await _rename(blog, first, unique("rob"))
        await _settle(blog, await _present(blog, first))
    else:
        await blog.users.delete(key, key)

    async def die() -> None:
        raise Killed

    Interleaving(die).create(monkeypatch, key)
    with pytest.raises(Killed):
        await _settle(blog, first)
    left = await _reservation(blog, first["username"]) or {}
    await _settle(blog, first)
    after = await _reservation(blog, first["username"])

    assert left["ttl"] == username_reservations.UNCONFIRMED_TTL_S
    assert (after is None) == is_late
    assert after is None or "ttl" not in after


async def test_a_late_confirmation_does_not_prevent_the_release(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))

    Interleaving(lambda: username_reservations.confirm(blog.users, first)).read(
        monkeypatch, username_reservations.reservation_id(first["username"])
    )
    await _settle(blog, await _present(blog, first))

    assert await _reservation(blog, first["username"]) is None
    assert "formerUsernames" not in await _present(blog, first)
