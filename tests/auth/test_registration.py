"""Registration: one user per subject, despite races and crashes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable

import pytest

from shared.data import username_reservations
from shared.data.users import edit_user, get_user, register_user
from shared.errors import AlreadyRegistered, UsernameTaken
from shared.models.user import NewUser, UserChanges
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists
from shared.platform.http.callers import Caller, caller_of
from shared.platform.models import Item
from tests.api import Api
from tests.auth.conftest import SignedIn
from tests.blog import Blog
from tests.interleaved import Hook, Interleaved
from tests.items import unique

A_KEY = {"Idempotency-Key": "a key"}


async def test_a_second_registration_returns_409_with_the_users_location(signed_in: SignedIn) -> None:
    api = signed_in(unique("subject"))

    first = await api.create_user(unique("ada"))
    second = await api.create_user(unique("ada"))

    assert first.status == 201
    assert (second.status, second.body["title"]) == (409, "Already registered")
    assert second.headers["location"] == first.headers["location"] == f"/api/users/{first.body['id']}"


async def test_a_rejected_registration_frees_its_username(signed_in: SignedIn) -> None:
    api, name = signed_in(unique("subject")), unique("ada")
    await api.create_user(unique("ada"))
    await api.create_user(name)

    other = await signed_in(unique("subject")).create_user(name)

    assert other.status == 201


async def test_a_registration_is_idempotent_by_key(signed_in: SignedIn) -> None:
    api, name = signed_in(unique("subject")), unique("ada")

    first, again = await api.create_user(name, A_KEY), await api.create_user(name, A_KEY)
    other = await api.create_user(name, {"Idempotency-Key": "another key"})

    assert (first.status, again.status, other.status) == (201, 201, 409)
    assert again.body == first.body


async def test_a_key_reused_with_another_username_is_rejected(signed_in: SignedIn) -> None:
    api, name = signed_in(unique("subject")), unique("ada")
    await api.create_user(unique("ada"), A_KEY)

    reused = await api.create_user(name, A_KEY)
    other = await signed_in(unique("subject")).create_user(name)

    assert (reused.status, reused.body["title"], other.status) == (422, "Idempotency key reused", 201)


async def test_a_registration_can_be_retried_after_its_username_was_taken(signed_in: SignedIn) -> None:
    subject, name = unique("subject"), unique("ada")
    api = signed_in(subject)
    first = await api.create_user(name, A_KEY)
    await api.edit_user(first.body["id"], unique("grace"))
    taken = await signed_in(unique("subject")).create_user(name)

    again = await api.create_user(name, A_KEY)

    assert (taken.status, again.status, again.body["id"]) == (201, 201, first.body["id"])


async def test_idempotency_keys_are_scoped_to_a_subject(signed_in: SignedIn) -> None:
    answers = [await signed_in(unique("subject")).create_user(unique("ada"), A_KEY) for _ in range(2)]

    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].body["id"] != answers[1].body["id"]


async def test_concurrent_registrations_of_a_subject_create_one_user(signed_in: SignedIn) -> None:
    api, names = signed_in(unique("subject")), [unique("ada") for _ in range(8)]

    answers = await asyncio.gather(*(api.create_user(name) for name in names))

    [made] = [answer for answer in answers if answer.status == 201]
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7
    for name in names:
        other = await signed_in(unique("subject")).create_user(name)
        assert other.status == (409 if name == made.body["username"] else 201)


async def test_a_caller_without_a_user_can_only_register(signed_in: SignedIn) -> None:
    subject = unique("subject")
    api, own_id = signed_in(subject), str(caller_of("app-service:aad", subject).user)

    renamed = await api.edit_user(own_id, unique("ada"))
    posted = await api.create_post(own_id, "A title", "Some content.")

    assert [(answer.status, answer.body["title"]) for answer in (renamed, posted)] == [(404, "User not found")] * 2


# Data functions, interrupted between the two writes of a registration.


def interrupted(users: Container, before: Hook) -> Container:
    """Run `before` when the user is created, then create it unless `before` raised."""
    return Interleaved(users, "batch", before=before, times=1)


class Crash(Exception):
    """Stands for the death of the process."""


async def crash(*_: object) -> None:
    raise Crash


@pytest.fixture
def caller() -> Caller:
    return caller_of("app-service:aad", uuid.uuid4().hex)


def registration(users: Container, caller: Caller, name: str, key: str | None = None) -> Awaitable[Item]:
    return register_user(users, NewUser(username=name), user_id=str(caller.user), idempotency_key=key)


async def holder_of(blog: Blog, name: str) -> str | None:
    key = username_reservations.reservation_id(name)
    held = await blog.users.read(key, key)
    return held and str(held["ownerId"])


async def test_after_a_crash_a_subject_can_register_any_username(blog: Blog, caller: Caller) -> None:
    name = unique("ada")
    with pytest.raises(Crash):
        await registration(interrupted(blog.users, crash), caller, name)

    user = await registration(blog.users, caller, unique("grace"))

    assert user["id"] == str(caller.user)
    assert await get_user(blog.users, user["id"]) == user


async def test_after_a_crash_a_retry_reuses_its_reservation(blog: Blog, caller: Caller) -> None:
    name = unique("ada")
    with pytest.raises(Crash):
        await registration(interrupted(blog.users, crash), caller, name)

    user = await registration(blog.users, caller, name)
    await blog.drain()

    assert user["username"] == name
    assert await holder_of(blog, name) == user["id"]


async def test_the_loser_of_a_race_releases_its_reservation(blog: Blog, caller: Caller) -> None:
    winner, loser = unique("ada"), unique("grace")

    async def win(*_: object) -> Item:
        return await registration(blog.users, caller, winner)

    with pytest.raises(AlreadyRegistered):
        await registration(interrupted(blog.users, win), caller, loser)

    assert await holder_of(blog, winner) == str(caller.user)
    assert await holder_of(blog, loser) is None


async def test_the_loser_of_a_race_keeps_a_reservation_that_the_winner_uses(blog: Blog, caller: Caller) -> None:
    name = unique("grace")

    async def win_and_rename(*_: object) -> None:
        user = await registration(blog.users, caller, unique("ada"))
        await edit_user(blog.users, user["id"], UserChanges(username=name))

    with pytest.raises(AlreadyRegistered):
        await registration(interrupted(blog.users, win_and_rename), caller, name)
    await blog.drain()

    assert await holder_of(blog, name) == str(caller.user)
    with pytest.raises(UsernameTaken):
        await registration(blog.users, caller_of("app-service:aad", "another"), name)


@pytest.mark.parametrize("key", [None, "a key"])
async def test_an_sdk_retry_after_a_lost_response_is_not_a_second_registration(
    blog: Blog, caller: Caller, key: str | None
) -> None:
    user = await registration(interrupted(blog.users, blog.users.batch), caller, unique("ada"), key)

    assert user["id"] == str(caller.user)


async def test_the_database_rejects_a_second_user_of_a_subject(blog: Blog, caller: Caller) -> None:
    user = await registration(blog.users, caller, unique("ada"))

    with pytest.raises(ItemExists):
        await blog.users.create({"id": user["id"], "userId": user["id"], "type": "user"})


async def test_principals_and_providers_map_to_different_users(api: Api) -> None:
    callers = {
        caller_of(provider, principal).user
        for provider in ("app-service:aad", "app-service:aad/", "app-service:google", "app-service:github")
        for principal in ("ada", "Ada", "ada ", "da")
    }
    made_with_a_function_key = await api.new_user()

    assert len(callers) == 16
    assert {user.version for user in callers if user} == {5}
    assert uuid.UUID(made_with_a_function_key["id"]).version == 4
