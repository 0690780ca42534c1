"""Idempotency-Key: a command sent twice is carried out once."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.api import Answer, Api
from tests.gateway import Gateway, Operation
from tests.items import unique


def a_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


async def test_a_repeated_registration_answers_the_first_user(api: Api) -> None:
    key, name = a_key(), unique("ada")

    first = await api.create_user(name, key)
    second = await api.create_user(name, key)
    without = await api.create_user(name)

    assert (second.status, second.body, second.headers["location"]) == (201, first.body, first.headers["location"])
    assert without.status == 409


async def test_a_repeated_post_answers_the_first_one_and_is_written_once(api: Api) -> None:
    author, key = await api.new_user(), a_key()

    first = await api.create_post(author["id"], "A title", "Some content.", key)
    second = await api.create_post(author["id"], "A title", "Some content.", key)

    assert (second.status, second.body, second.etag) == (201, first.body, first.etag)


async def test_a_repeated_comment_answers_the_first_one_and_counts_once(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.new_post(author)

    first = await api.create_comment(post["id"], author["id"], "Well put.", key)
    second = await api.create_comment(post["id"], author["id"], "Well put.", key)

    assert (second.status, second.body, second.etag) == (201, first.body, first.etag)
    assert (await api.list_comments(post["id"])).body["items"] == [first.body]
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_a_repeated_like_answers_the_first_one_and_counts_once(api: Api) -> None:
    liker, key = await api.new_user(), a_key()
    post = await api.new_post(liker)

    first = await api.create_like(post["id"], liker["id"], key)
    second = await api.create_like(post["id"], liker["id"], key)

    assert second.body == first.body
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_commands_with_one_key_at_once_are_carried_out_once(api: Api) -> None:
    author, key, name = await api.new_user(), a_key(), unique("ada")
    post = await api.new_post(author)

    users = await asyncio.gather(*(api.create_user(name, key) for _ in range(5)))
    posts = await asyncio.gather(*(api.create_post(author["id"], "A title", "Some content.", key) for _ in range(5)))
    comments = await asyncio.gather(*(api.create_comment(post["id"], author["id"], "Well put.", key) for _ in range(5)))

    for answers in (users, posts, comments):
        assert {answer.status for answer in answers} == {201}
        assert len({answer.body["id"] for answer in answers}) == 1
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_a_key_is_its_users_own(api: Api) -> None:
    one, other, key = await api.new_user(), await api.new_user(), a_key()
    post = await api.new_post(one)

    posts = [await api.create_post(user["id"], "A title", "Some content.", key) for user in (one, other)]
    comments = [await api.create_comment(post["id"], user["id"], "Well put.", key) for user in (one, other)]

    assert posts[0].body["id"] != posts[1].body["id"]
    assert comments[0].body["id"] != comments[1].body["id"]


async def test_without_a_key_or_with_another_a_command_is_another_one(api: Api) -> None:
    author = await api.new_user()

    answers = [
        await api.create_post(author["id"], "A title", "Some content.", headers)
        for headers in (None, None, a_key(), a_key())
    ]

    assert len({answer.body["id"] for answer in answers}) == 4


async def test_a_key_shows_in_no_answer(api: Api) -> None:
    author, key = await api.new_user(), a_key()

    answer = await api.create_post(author["id"], "A title", "Some content.", key)

    assert key["Idempotency-Key"].encode() not in answer.content


async def test_a_repeated_post_is_not_found_once_it_was_deleted(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.create_post(author["id"], "A title", "Some content.", key)
    await api.delete_post(post.body["id"])

    again = await api.create_post(author["id"], "A title", "Some content.", key)

    assert (again.status, again.body["title"]) == (404, "Post not found")


@pytest.mark.parametrize("applied", [False, True], ids=["lost on the way there", "lost on the way back"])
async def test_a_command_whose_answer_was_lost_can_be_repeated(
    api: Api, quiet_api: Api, gateway: Gateway, applied: bool
) -> None:
    author, key, name = await api.new_user(), a_key(), unique("ada")
    post = await api.new_post(author)

    async def commands(client: Api) -> list[Answer]:
        sent = (
            client.create_user(name, key),
            client.create_post(author["id"], "A title", "Some content.", key),
            client.create_comment(post["id"], author["id"], "Well put.", key),
            client.create_like(post["id"], author["id"], key),
        )
        return list(await asyncio.gather(*sent))

    with gateway.losing(_is_the_last_write, applied=applied):
        lost = await commands(quiet_api)
    again = await commands(api)
    once_more = await commands(api)

    assert {answer.status for answer in lost} == {503}
    assert [answer.status for answer in again] == [201, 201, 201, 200 if applied else 201]
    assert [answer.body for answer in again] == [answer.body for answer in once_more]
    read = (await api.get_post(post["id"])).body
    assert (read["commentCount"], read["likeCount"]) == (1, 1)


def _is_the_last_write(operation: Operation) -> bool:
    """Of any command; a user is written after the reservation, which has another partition key."""
    if operation.name == "create users":
        return "username:" not in (operation.partition_key or "")
    return operation.name in {"create posts", "batch posts"}


@pytest.mark.parametrize(
    ("key", "status"), [("", 400), ("k", 201), ("k" * 255, 201), ("k" * 256, 400), ("ключ é 😀", 201)]
)
async def test_a_key_has_1_to_255_characters(api: Api, key: str, status: int) -> None:
    answer = await api.create_user(unique("ada"), {"Idempotency-Key": key})

    assert answer.status == status


async def test_a_repeated_comment_is_not_brought_back_after_its_deletion(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.new_post(author)
    comment = await api.create_comment(post["id"], author["id"], "Well put.", key)
    await api.delete_comment(post["id"], comment.body["id"])

    repeated = await api.create_comment(post["id"], author["id"], "Well put.", key)

    assert repeated.status == 404
    assert (await api.list_comments(post["id"])).body["items"] == []
    assert (await api.get_post(post["id"])).body["commentCount"] == 0


async def test_a_repeated_like_does_not_like_again_what_was_unliked_since(api: Api) -> None:
    liker, key = await api.new_user(), a_key()
    post = await api.new_post(liker)
    first = await api.create_like(post["id"], liker["id"], key)
    await api.delete_like(post["id"], liker["id"])

    repeated = await api.create_like(post["id"], liker["id"], key)

    assert (repeated.status, repeated.body) == (200, first.body)
    assert (await api.list_likes(post["id"])).body["items"] == []
    assert (await api.get_post(post["id"])).body["likeCount"] == 0


async def test_a_late_attempt_of_a_like_that_was_there_already_does_not_undo_an_unlike(api: Api) -> None:
    liker, key = await api.new_user(), a_key()
    post = await api.new_post(liker)
    await api.create_like(post["id"], liker["id"], a_key())
    answered = await api.create_like(post["id"], liker["id"], key)
    await api.delete_like(post["id"], liker["id"])

    late = await api.create_like(post["id"], liker["id"], key)

    assert (answered.status, late.status) == (200, 200)
    assert (await api.list_likes(post["id"])).body["items"] == []
    assert (await api.get_post(post["id"])).body["likeCount"] == 0


@pytest.mark.parametrize("with_another_key", [True, False])
async def test_a_new_like_after_an_unlike_counts(api: Api, with_another_key: bool) -> None:
    liker = await api.new_user()
    post = await api.new_post(liker)
    await api.create_like(post["id"], liker["id"], a_key())
    await api.delete_like(post["id"], liker["id"])

    again = await api.create_like(post["id"], liker["id"], a_key() if with_another_key else None)

    assert again.status == 201
    assert (await api.list_likes(post["id"])).body["items"] == [again.body]
    assert (await api.get_post(post["id"])).body["likeCount"] == 1
