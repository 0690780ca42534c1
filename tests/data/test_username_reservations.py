"""Usernames stay unique, and no crash leaves a username reserved forever or with two owners."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from cosmos_emulator import EmulatorSettings

from shared.data import username_reservations
from shared.data.users import create_user, edit_user, get_user, register_user
from shared.errors import UsernameTaken
from shared.models.user import NewUser, User, UserChanges, user_item
from shared.platform.database.refusals import ConditionFailed
from shared.platform.database.scope import request_scope
from shared.platform.errors import DatabaseUnavailable, VersionMismatch
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, new_blog
from tests.interleaved import Interleaved
from tests.items import unique

THREE_DAYS_S = 3 * 24 * 3600


async def _register(blog: Blog, username: str, *, key: str | None = None) -> Item:
    return await create_user(blog.users, NewUser(username=username), idempotency_key=key)


async def _rename(blog: Blog, user: Item, username: str) -> Item:
    return await edit_user(blog.users, user["id"], UserChanges(username=username))


@dataclass
class Clock:
    """The clock of the database: `ahead_s` seconds ahead of this host's."""

    ahead_s: float = 0

    def time(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def aging_blog(clock: Clock) -> AsyncIterator[Blog]:
    """A blog whose database reads `clock`."""
    with EmulatorThread(EmulatorSettings(clock=clock.time)) as emulator:
        async with new_blog(emulator) as blog:
            yield blog


@pytest.mark.parametrize("name", ["оlga_west", "boss\u3164"], ids=["mixed", "invisible"])
async def test_a_name_from_before_the_rules_for_scripts_stays_valid(blog: Blog, name: str) -> None:
    user = user_item("old", name, "2026-01-31T23:59:59.123Z")
    for item in (user, username_reservations.reservation_item(name, "old", 0)):
        await blog.users.create(item)
    boss = await _register(blog, "boss")

    read = await get_user(blog.users, "old")
    renamed = await _rename(blog, read, "olga_west")
    await blog.drain()

    assert User.from_item(read).username == name
    assert renamed["username"] == "olga_west"
    assert await blog.users.read(f"username:{name}", f"username:{name}") is None
    assert (await get_user(blog.users, boss["id"]))["username"] == "boss"


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


@pytest.mark.parametrize("attempts", [0, 1, 3])
async def test_a_crash_before_the_user_is_written_frees_the_username_after_a_minute(
    aging_blog: Blog, clock: Clock, attempts: int
) -> None:
    name = unique("bob")
    await username_reservations.reserve(aging_blog.users, name, "never-written", 1)
    for _ in range(attempts):
        with pytest.raises(UsernameTaken):
            await _register(aging_blog, name)
        clock.ahead_s += 10

    clock.ahead_s = username_reservations.ABANDONED_AFTER_S + 1
    user = await _register(aging_blog, name)

    assert user["username"] == name


@pytest.mark.parametrize("ahead_s", [-3600, 3600])
async def test_the_clock_of_a_host_does_not_decide_whether_a_reservation_is_abandoned(
    aging_blog: Blog, clock: Clock, ahead_s: float
) -> None:
    """With a clock that is ahead, a host would take the username of a user who is just being written."""
    clock.ahead_s = -ahead_s
    name, user_id = unique("bob"), str(uuid.uuid4())
    await username_reservations.reserve(aging_blog.users, name, user_id, 0)

    with pytest.raises(UsernameTaken):
        await _register(aging_blog, name)
    await register_user(aging_blog.users, NewUser(username=name), user_id=user_id, idempotency_key=None)

    users = [item for item in await aging_blog.all_items(aging_blog.users) if item["type"] == User.TYPE]
    assert [(user["id"], user["username"]) for user in users] == [(user_id, name)]
    clock.ahead_s += username_reservations.ABANDONED_AFTER_S + 1
    with pytest.raises(UsernameTaken):
        await _register(aging_blog, name)


async def test_a_registered_user_keeps_the_username_while_the_change_feed_is_down(
    aging_blog: Blog, clock: Clock
) -> None:
    user = await _register(aging_blog, unique("bob"))

    clock.ahead_s = THREE_DAYS_S

    with pytest.raises(UsernameTaken):
        await _register(aging_blog, user["username"])


async def test_a_renamed_user_keeps_the_username_while_the_change_feed_is_down(aging_blog: Blog, clock: Clock) -> None:
    user = await _register(aging_blog, unique("bob"))
    renamed = await _rename(aging_blog, user, unique("rob"))

    clock.ahead_s = THREE_DAYS_S

    with pytest.raises(UsernameTaken):
        await _register(aging_blog, renamed["username"])


async def test_one_of_many_concurrent_takeovers_gets_an_abandoned_username(aging_blog: Blog, clock: Clock) -> None:
    name = unique("bob")
    await username_reservations.reserve(aging_blog.users, name, "never-written", 0)

    clock.ahead_s = username_reservations.ABANDONED_AFTER_S + 1
    results = await asyncio.gather(*(_register(aging_blog, name) for _ in range(5)), return_exceptions=True)

    assert sum(isinstance(result, dict) for result in results) == 1
    assert sum(isinstance(result, UsernameTaken) for result in results) == 4


async def test_a_retry_after_a_crash_holds_the_username_for_another_minute(aging_blog: Blog, clock: Clock) -> None:
    name, user_id = unique("bob"), str(uuid.uuid4())
    await username_reservations.reserve(aging_blog.users, name, user_id, 0)
    clock.ahead_s = username_reservations.ABANDONED_AFTER_S - 1
    await username_reservations.reserve(aging_blog.users, name, user_id, 0)

    clock.ahead_s += 2  # the retry is about to write the user

    with pytest.raises(UsernameTaken):
        await _register(aging_blog, name)


async def test_a_takeover_fails_if_the_owner_returns_during_it(aging_blog: Blog, clock: Clock) -> None:
    blog, name, user_id = aging_blog, unique("bob"), str(uuid.uuid4())
    await username_reservations.reserve(blog.users, name, user_id, 0)
    clock.ahead_s = username_reservations.ABANDONED_AFTER_S + 1

    async def return_late(*_: object) -> None:
        await register_user(blog.users, NewUser(username=name), user_id=user_id, idempotency_key=None)

    # Right after the first read of the user, before its result is used.
    users = Interleaved(
        blog.users, "read_latest", after=return_late, when=lambda item_id, _: item_id == user_id, times=1
    )
    with pytest.raises(UsernameTaken):
        await create_user(users, NewUser(username=name), idempotency_key=None)

    assert (await get_user(blog.users, user_id))["username"] == name


async def test_nobody_is_told_that_their_own_reservation_is_taken(blog: Blog) -> None:
    name, user_id = unique("bob"), str(uuid.uuid4())
    await username_reservations.reserve(blog.users, name, user_id, 0)  # then the host was killed

    # The response to a replacement is lost, so the SDK sends it again and gets 412.
    resending = Interleaved(blog.users, "replace", before=blog.users.replace)
    with pytest.raises(DatabaseUnavailable):
        await username_reservations.reserve(resending, name, user_id, 0)


async def test_a_former_username_can_be_taken_back(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    away = await _rename(blog, user, unique("rob"))
    back = await _rename(blog, away, user["username"])
    for late in (user, away, back):
        await _handle_user(blog, late)

    with pytest.raises(UsernameTaken):
        await _register(blog, user["username"])
    assert await _reservation(blog, away["username"]) is None


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


async def test_a_crash_during_a_rename_leaves_both_usernames_usable(aging_blog: Blog, clock: Clock) -> None:
    blog = aging_blog
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


async def test_a_rename_that_loses_a_race_releases_its_reservation(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    wanted = unique("rob")

    # The user changes before each replacement.
    changing = Interleaved(
        blog.users, "replace", refuse=ConditionFailed, when=lambda item, **_: item["type"] == User.TYPE
    )
    with pytest.raises(DatabaseUnavailable):
        await edit_user(changing, user["id"], UserChanges(username=wanted))

    assert (await _register(blog, wanted))["username"] == wanted


async def test_a_rename_that_loses_a_race_keeps_the_reservation_of_a_later_rename(blog: Blog) -> None:
    user, wanted = await _register(blog, unique("bob")), unique("rob")

    async def rename_twice(*_: object) -> None:
        await _rename(blog, user, unique("carol"))
        await username_reservations.reserve(blog.users, wanted, user["id"], 2)  # and is about to write the user

    users = Interleaved(blog.users, "create", before=rename_twice, times=1)
    with pytest.raises(VersionMismatch):
        await edit_user(users, user["id"], UserChanges(username=wanted), if_match={User.last_edit(user)})

    with pytest.raises(UsernameTaken):
        await _register(blog, wanted)


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
    assert reservation["ownerId"] == first["id"]


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

    with request_scope() as scope:
        reservation = await blog.users.read(key, key)

    assert reservation is not None
    assert reservation["ownerId"] == user["id"]
    assert scope.responses == 1
    assert scope.request_units <= 2


async def test_a_username_released_during_its_takeover_is_taken(blog: Blog) -> None:
    name = unique("bob")
    first = await _register(blog, name)
    await _rename(blog, first, unique("rob"))

    # It is released before each replacement.
    users = Interleaved(blog.users, "replace", before=lambda held, **_: blog.users.delete(held["id"], held["userId"]))
    second = await create_user(users, NewUser(username=name), idempotency_key=None)

    assert second["username"] == name


async def test_completing_a_rename_does_not_change_the_users_etag(blog: Blog) -> None:
    user = await _register(blog, unique("bob"))
    renamed = await _rename(blog, user, unique("rob"))
    await blog.drain()

    settled = await get_user(blog.users, user["id"])

    assert settled["_etag"] != renamed["_etag"]
    assert User.entity_tag(settled) == User.entity_tag(renamed) != User.entity_tag(user)


async def _handle_user(blog: Blog, user: Item) -> None:
    await blog.handle_users([user])


async def _present(blog: Blog, user: Item) -> Item:
    return await get_user(blog.users, user["id"])


async def _reservation(blog: Blog, username: str) -> Item | None:
    key = username_reservations.reservation_id(username)
    return await blog.users.read(key, key)


async def test_a_late_delivery_does_not_recreate_a_released_reservation(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _handle_user(blog, await _present(blog, first))

    await _handle_user(blog, first)

    assert await _reservation(blog, first["username"]) is None


async def test_a_late_delivery_does_not_fail_if_someone_else_has_the_username(blog: Blog) -> None:
    first = await _register(blog, unique("bob"))
    await _rename(blog, first, unique("rob"))
    await _handle_user(blog, await _present(blog, first))
    heir = await _register(blog, first["username"])

    await _handle_user(blog, first)

    assert await blog.all_items(blog.failures) == []
    assert (await _reservation(blog, first["username"]) or {})["ownerId"] == heir["id"]
