"""C1, Q1: create, edit, retrieve a user; username rules."""

from __future__ import annotations

import asyncio
import uuid
from statistics import median

import pytest

from shared.models.user import FIRST_RENAMES
from tests.api import Api
from tests.items import unique
from tests.polling import eventually
from tests.problems import assert_problem

PROPERTIES = {"id", "type", "userId", "username", "creationDate"}


async def test_a_created_user_has_exactly_its_documented_properties(api: Api) -> None:
    name = unique("ada")

    answer = await api.create_user(name)

    assert answer.status == 201
    assert set(answer.body) == PROPERTIES
    assert (answer.body["type"], answer.body["username"]) == ("user", name)
    assert answer.body["id"] == answer.body["userId"]


async def test_a_created_user_is_readable_immediately_at_its_location(api: Api) -> None:
    created = await api.create_user(unique("ada"))

    read = await api.send("GET", created.headers["location"])

    assert created.headers["location"] == f"/api/users/{created.body['id']}"
    assert (read.status, read.body, read.etag) == (200, created.body, created.etag)


async def test_an_edit_changes_only_the_username(api: Api) -> None:
    user = await api.new_user()
    name = unique("countess")

    edited = await api.edit_user(user["id"], name)
    read = await api.get_user(user["id"])

    assert (edited.status, edited.body) == (200, user | {"username": name})
    assert edited.headers["etag"]
    assert read.body == edited.body


async def test_an_edit_to_the_current_username_changes_nothing(api: Api) -> None:
    user = await api.create_user(unique("ada"))

    answer = await api.edit_user(user.body["id"], user.body["username"])

    assert (answer.status, answer.body, answer.etag) == (200, user.body, user.etag)


@pytest.mark.parametrize(
    "name",
    [
        "abc",
        "a" * 30,
        "a_b-c.d",
        "...",
        "___",
        "Ünïcödé",
        "Владимир",
        "たなかさん",
        "عمر٣٤٥",
        "李小龍",
        "राम{}",
        "김철{}",
        "Jose\u0301{}",
    ],
)
async def test_usernames_can_have_letters_digits_and_three_symbols(api: Api, name: str) -> None:
    name = name.format(uuid.uuid4().int % 10_000)

    answer = await api.create_user(name)

    assert (answer.status, answer.body["username"]) == (201, name)


async def test_a_composed_and_a_decomposed_name_are_one(api: Api) -> None:
    suffix = uuid.uuid4().hex[:8]
    assert (await api.create_user(f"Jose\u0301{suffix}")).status == 201

    answer = await api.create_user(f"José{suffix}")

    assert answer.status == 409


@pytest.mark.parametrize(
    "name",
    [
        *("", "   ", "ab", "a" * 31, "a b c", " abc", "abc ", "abc\n", "a/b", "a\\b", "a#b", "a?bc", "a@bc", "a,bc"),
        *(
            "a\x00bc",
            "a\x1fbc",
            "a\u200dbc",
            "a\u00a0bc",
            "a\u202ebc",
            "😀😀😀",
            "a²bc",
            "a½bc",
            "<b>bob</b>",
            "bob'--",
        ),
        pytest.param("ﬃ" * 11, id="33 characters in NFKC"),
        pytest.param("㎯㎯㎯", id="other characters in NFKC"),
    ],
)
async def test_invalid_usernames_are_rejected(api: Api, name: str) -> None:
    created = await api.create_user(name)
    edited = await api.edit_user((await api.new_user())["id"], name)

    for answer in (created, edited):
        assert answer.status == 422
        assert [error["pointer"] for error in answer.body["errors"]] == ["/username"]


@pytest.mark.parametrize(
    ("first", "second"), [("{}", "{}"), ("Bob{}", "bOB{}"), ("bob{}", "ｂｏｂ{}"), ("ß{}", "SS{}")]
)
async def test_a_taken_username_is_rejected_in_every_spelling(api: Api, first: str, second: str) -> None:
    suffix = uuid.uuid4().hex[:8]
    await api.create_user(first.format(suffix))
    other = await api.new_user()

    created = await api.create_user(second.format(suffix))
    edited = await api.edit_user(other["id"], second.format(suffix))

    assert (created.status, edited.status) == (409, 409)
    assert (await api.get_user(other["id"])).body == other


async def test_a_user_can_respell_their_own_username(api: Api) -> None:
    user = await api.new_user("bob")

    answer = await api.edit_user(user["id"], user["username"].upper())

    assert (answer.status, answer.body["username"]) == (200, user["username"].upper())


async def test_concurrent_registrations_of_a_username_have_one_winner(api: Api) -> None:
    name = unique("bob")

    answers = await asyncio.gather(*(api.create_user(name) for _ in range(10)))

    assert sorted(answer.status for answer in answers) == [201] + [409] * 9


async def test_concurrent_renames_keep_one_username_and_free_the_others(api: Api) -> None:
    user = await api.new_user("bob")
    names = [unique("rob") for _ in range(3)]

    answers = await asyncio.gather(*(api.edit_user(user["id"], name) for name in names))

    assert {answer.status for answer in answers} == {200}
    final = (await api.get_user(user["id"])).body["username"]
    for name in {user["username"], *names} - {final}:
        assert (await api.create_user(name)).status == 201
    assert (await api.create_user(final)).status == 409


async def test_a_former_username_becomes_available(api: Api) -> None:
    user = await api.new_user("bob")
    await api.edit_user(user["id"], unique("rob"))

    other = await api.create_user(user["username"])

    assert other.status == 201


async def test_a_rename_reaches_posts_comments_likes_and_copies(api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    await api.new_comment(post, user)
    await api.new_like(post, user)
    name = unique("countess")

    await api.edit_user(user["id"], name)

    async def has_arrived() -> bool:
        names = {(await api.get_post(post["id"])).body["userUsername"]}
        for answer in (
            await api.list_comments(post["id"]),
            await api.list_likes(post["id"]),
            await api.list_user_posts(user["id"]),
            await api.get_feed(limit=100),
        ):
            names |= {item["userUsername"] for item in answer.body["items"] if item["userId"] == user["id"]}
        return names == {name}

    await eventually(has_arrived)


@pytest.mark.parametrize(
    "user_id",
    [
        "unknown",
        "a b",
        "o'neil",
        'a"b',
        "a%b",
        "a+b",
        "é😀",
        "a/b",
        "a\\b",
        "a#b",
        "a?b",
        "x" * 300,
        "%2F",
    ],
)
async def test_unknown_user_ids_return_404(api: Api, user_id: str) -> None:
    read = await api.get_user(user_id)
    edited = await api.edit_user(user_id, unique("ada"))
    posts = await api.list_user_posts(user_id)

    for answer in (read, edited, posts):
        assert (answer.status, answer.body["title"]) == (404, "User not found")


async def test_ids_of_other_items_are_not_users(api: Api) -> None:
    user = await api.new_user("bob")

    reservation = await api.get_user(f"username:{user['username']}")
    as_author = await api.create_post(f"username:{user['username']}", "A title", "Some content.")

    assert (reservation.status, as_author.status) == (404, 404)


@pytest.mark.nightly
async def test_a_user_who_is_renamed_all_the_time_pays_the_same_for_each_rename_and_then_has_to_wait(api: Api) -> None:
    user = await api.new_user()
    names = [user["username"], unique("countess")]
    answers = [await api.edit_user(user["id"], names[number % 2]) for number in range(1, FIRST_RENAMES + 1)]
    refused = await api.edit_user(user["id"], names[1])
    same = await api.edit_user(user["id"], names[0])

    assert {answer.status for answer in answers} == {200}
    # Some are higher: a write that meets one of the change feed is repeated.
    assert median(answer.charge_ru for answer in answers) < 2 * answers[0].charge_ru
    assert_problem(refused, 429, "Too many renames", f"/api/users/{user['id']}")
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    assert refused.charge_ru < 2
    assert same.status == 200  # not a rename


async def test_a_deleted_user_is_gone_with_everything_they_have_written(api: Api) -> None:
    user, other = await api.new_user(), await api.new_user()
    own, post = await api.new_post(user), await api.new_post(other)
    for author in (user, other):
        await api.new_comment(post, author)
        await api.new_like(post, author)

    deleted = await api.delete_user(user["id"])

    assert (deleted.status, (await api.get_user(user["id"])).status) == (204, 404)
    assert (await api.send("GET", f"/api/users/{user['id']}/posts")).status == 404
    assert (await api.create_post(user["id"], "A title", "Some content.")).status == 404
    assert (await api.create_user(user["username"])).status == 201

    async def is_erased() -> bool:
        counts = (await api.get_post(post["id"])).body
        listed = [item["id"] for item in (await api.get_feed(limit=100)).body["items"]]
        is_listed = own["id"] in listed
        is_gone = (await api.get_post(own["id"])).status == 404 and not is_listed
        return is_gone and (counts["commentCount"], counts["likeCount"]) == (1, 1)

    await eventually(is_erased)
    responses = [await api.list_comments(post["id"]), await api.list_likes(post["id"])]
    assert [[item["userId"] for item in page.body["items"]] for page in responses] == [[other["id"]]] * 2
    assert (await api.delete_user(user["id"])).status == 404


async def test_a_user_is_deleted_only_in_the_version_that_the_client_knows(api: Api) -> None:
    user = await api.new_user()
    first = await api.get_user(user["id"])
    renamed = await api.edit_user(user["id"], unique("countess"))

    stale = await api.delete_user(user["id"], {"If-Match": first.etag})

    assert (stale.status, stale.body["title"]) == (412, "Version mismatch")
    assert (await api.delete_user(user["id"], {"If-Match": renamed.etag})).status == 204
