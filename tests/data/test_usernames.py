"""Usernames are unique, and no crash leaves one taken for ever or with two owners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shared.charges import metered
from shared.cosmos import ConditionFailed, Container
from shared.data import usernames
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
    """The time as the reservations see it, so many seconds from now."""

    ahead_s: float = 0

    def time(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(usernames, "time", clock)
    return clock


@pytest.mark.parametrize(("first", "second"), [("Bob", "bob"), ("ＢＯＢ", "bob"), ("Straße", "STRASSE"), ("Ⅷ", "viii")])
def test_names_are_compared_folded_and_in_nfkc(first: str, second: str) -> None:
    assert usernames.normalised(first) == usernames.normalised(second)


async def test_of_many_who_register_one_name_at_once_one_gets_it(blog: Blog) -> None:
    name = unique("bob")

    results = await asyncio.gather(*(_register(blog, name) for _ in range(10)), return_exceptions=True)

    assert sum(isinstance(result, dict) for result in results) == 1
    assert sum(isinstance(result, UsernameTaken) for result in results) == 9


async def test_registrations_spread_over_partition_keys(blog: Blog) -> None:
    await asyncio.gather(*(_register(blog, unique("user")) for _ in range(20)))

    reservations = [item for item in await blog.all_items(blog.users) if item["type"] == usernames.TYPE]
    assert len({item["userId"] for item in reservations}) == 20


async def test_a_crash_before_the_user_is_written_frees_the_name_after_a_minute(blog: Blog, clock: Clock) -> None:
    name = unique("bob")
    await usernames.reserve(blog.users, name, "user-that-was-never-written", 1)
    with pytest.raises(UsernameTaken):
        await _register(blog, name)

    clock.ahead_s = usernames.ABANDONED_AFTER_S + 1
    user = await _register(blog, name)

    assert user["username"] == name


async def test_an_unconfirmed_reservation_expires_by_itself(blog: Blog) -> None:
    reservation = await usernames.reserve(blog.users, unique("bob"), "user-that-was-never-written", 1)

    assert reservation.item["ttl"] == usernames.UNCONFIRMED_TTL_S


async def test_a_user_whose_change_the_feed_has_not_seen_keeps_the_name(blog: Blog, clock: Clock) -> None:
    name = unique("bob")
    await _register(blog, name)

    clock.ahead_s = usernames.UNCONFIRMED_TTL_S - 1

    with pytest.raises(UsernameTaken):
        await _register(blog, name)


async def test_a_former_name_can_be_taken_before_the_feed_has_released_it(blog: Blog) -> None:
    name = unique("bob")
    first = await _register(blog, name)
    await blog.drain()
    await _rename(blog, first, unique("rob"))

    second = await _register(blog, name)
    await blog.drain()

    assert second["username"] == name
    reservation = await blog.users.read(usernames.reservation_id(name), usernames.reservation_id(name))
    assert reservation is not None
    assert reservation["ownerId"] == second["id"]


async def test_a_crash_in_a_rename_before_the_user_is_written_leaves_both_names_usable(
    blog: Blog, clock: Clock
) -> None:
    user = await _register(blog, unique("bob"))
    await blog.drain()
    wanted = unique("rob")
    await usernames.reserve(blog.users, wanted, user["id"], 2)

    clock.ahead_s = usernames.ABANDONED_AFTER_S + 1
    other = await _register(blog, wanted)

    assert other["username"] == wanted
    with pytest.raises(UsernameTaken):
        await _register(blog, user["username"])


async def test_renames_of_one_user_that_race_end_with_one_name_and_it_is_his(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    names = [unique(f"rob{number}") for number in range(4)]

    await asyncio.gather(*(_rename(blog, user, name) for name in names))
    await blog.drain()

    final = await get_user(blog.users, user["id"])
    reserved = [item for item in await blog.all_items(blog.users) if item["type"] == usernames.TYPE]
    assert final["username"] in names
    assert [item["username"] for item in reserved] == [final["username"]]


async def test_a_rename_that_loses_gives_the_name_back(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    user = await _register(blog, unique("bob"))
    wanted = unique("rob")
    replace = Container.replace

    async def replace_too_late(container: Container, item: Item, *, etag: str) -> Item:
        if item["id"] == user["id"]:
            raise ConditionFailed
        return await replace(container, item, etag=etag)

    with monkeypatch.context() as patched:
        patched.setattr(Container, "replace", replace_too_late)
        with pytest.raises(DatabaseUnavailable):
            await _rename(blog, user, wanted)

    assert (await _register(blog, wanted))["username"] == wanted


async def test_a_rename_that_changes_only_the_case_keeps_the_reservation(blog: Blog) -> None:
    name = unique("bob")
    user = await _register(blog, name)
    await blog.drain()

    await _rename(blog, user, name.upper())
    await blog.drain()

    reservation = await blog.users.read(usernames.reservation_id(name), usernames.reservation_id(name))
    assert reservation is not None
    assert reservation["ownerId"] == user["id"]


async def test_a_repeated_registration_with_its_key_returns_the_same_user(blog: Blog) -> None:
    name = unique("bob")
    first = await _register(blog, name, key="k1")
    await blog.drain()

    again = await _register(blog, name, key="k1")

    assert again == first
    reservation = await blog.users.read(usernames.reservation_id(name), usernames.reservation_id(name))
    assert reservation is not None
    assert "ttl" not in reservation


async def test_a_stale_page_cannot_rename_whoever_has_the_old_name_now(blog: Blog) -> None:
    name = unique("alice")
    first = await _register(blog, name)
    await _rename(blog, first, unique("bob"))
    second = await _register(blog, name)

    await _rename(blog, first, unique("carol"))

    assert (await get_user(blog.users, second["id"]))["username"] == name


async def test_the_user_of_a_name_is_found_by_one_point_read(blog: Blog) -> None:
    user = await _register(blog, unique("Bob"))
    key = usernames.reservation_id(user["username"].lower())
    await blog.users.read(key, key)  # a client's first request to a container asks for its properties, too

    with metered() as charge:
        reservation = await blog.users.read(key, key)

    assert reservation is not None
    assert reservation["ownerId"] == user["id"]
    assert charge.answers == 1
    assert charge.request_units <= 2


async def test_a_name_that_is_released_while_it_is_being_taken_over_is_had(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("bob")
    first = await _register(blog, name)
    await _rename(blog, first, unique("rob"))
    replace = Container.replace

    async def replace_what_the_feed_releases(container: Container, item: Item, *, etag: str) -> Item:
        await container.delete(item["id"], item["userId"])
        return await replace(container, item, etag=etag)

    with monkeypatch.context() as patched:
        patched.setattr(Container, "replace", replace_what_the_feed_releases)
        second = await _register(blog, name)

    assert second["username"] == name


async def test_a_settled_rename_does_not_change_the_entity_tag_of_the_user(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    renamed = await _rename(blog, user, unique("rob"))
    await blog.drain()

    settled = await get_user(blog.users, user["id"])

    assert settled["_etag"] != renamed["_etag"]
    assert User.entity_tag(settled) == User.entity_tag(renamed) != User.entity_tag(user)


@dataclass(frozen=True)
class Meeting:
    """Containers in which something else happens once, at a certain point."""

    after: Callable[[], Awaitable[object]]

    def read(self, monkeypatch: pytest.MonkeyPatch, item_id: str) -> None:
        """After the first read of the item, before its result is used."""
        self._follow(monkeypatch, "read", lambda arguments: arguments[0] == item_id)

    def create(self, monkeypatch: pytest.MonkeyPatch, item_id: str) -> None:
        """After the item is created."""
        self._follow(monkeypatch, "create", lambda arguments: arguments[0]["id"] == item_id)

    def _follow(self, monkeypatch: pytest.MonkeyPatch, name: str, is_meant: Callable[[Any], bool]) -> None:
        operation = getattr(Container, name)

        async def follow(container: Container, *arguments: Any, **options: Any) -> Any:
            result = await operation(container, *arguments, **options)
            if is_meant(arguments):
                monkeypatch.setattr(Container, name, operation)
                await self.after()
            return result

        monkeypatch.setattr(Container, name, follow)


async def _settle(blog: Blog, user: Item) -> None:
    await blog.users_reaction.on_changed([user])


async def _present(blog: Blog, user: Item) -> Item:
    return await get_user(blog.users, user["id"])


async def _reservation(blog: Blog, username: str) -> Item | None:
    key = usernames.reservation_id(username)
    return await blog.users.read(key, key)


async def test_a_delivery_from_before_a_rename_does_not_reserve_the_released_name_again(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _settle(blog, await _present(blog, first))

    await _settle(blog, first)

    assert await _reservation(blog, first["username"]) is None


async def test_a_delivery_from_before_a_rename_is_no_failure_when_others_have_the_name_since(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _settle(blog, await _present(blog, first))
    heir = await _register(blog, first["username"])

    await _settle(blog, first)

    assert await blog.all_items(blog.failures) == []
    assert (await _reservation(blog, first["username"]) or {})["ownerId"] == heir["id"]


async def test_a_rename_settled_while_a_missing_reservation_is_made_again_leaves_none(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await _register(blog, unique("bob"))
    key = usernames.reservation_id(first["username"])
    await blog.users.delete(key, key)

    async def rename_and_settle() -> None:
        await _rename(blog, first, unique("rob"))
        await _settle(blog, await _present(blog, first))

    Meeting(rename_and_settle).create(monkeypatch, key)
    await _settle(blog, first)

    assert await _reservation(blog, first["username"]) is None


class Killed(BaseException):
    """As a crash: nothing is done after it."""


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_kill_while_a_missing_reservation_is_made_again_leaves_one_that_expires(
    blog: Blog, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """And the same change once more confirms it, unless the user has another name by now."""
    first = await _register(blog, unique("bob"))
    key = usernames.reservation_id(first["username"])
    if is_late:
        await _rename(blog, first, unique("rob"))
        await _settle(blog, await _present(blog, first))
    else:
        await blog.users.delete(key, key)

    async def die() -> None:
        raise Killed

    Meeting(die).create(monkeypatch, key)
    with pytest.raises(Killed):
        await _settle(blog, first)
    left = await _reservation(blog, first["username"]) or {}
    await _settle(blog, first)
    after = await _reservation(blog, first["username"])

    assert left["ttl"] == usernames.UNCONFIRMED_TTL_S
    assert (after is None) == is_late
    assert after is None or "ttl" not in after


async def test_a_name_confirmed_by_a_late_delivery_while_it_is_released_is_released(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))

    Meeting(lambda: usernames.confirm(blog.users, first)).read(monkeypatch, usernames.reservation_id(first["username"]))
    await _settle(blog, await _present(blog, first))

    assert await _reservation(blog, first["username"]) is None
    assert "formerUsernames" not in await _present(blog, first)
