"""Idempotency-Key: a command sent twice runs once."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable

import pytest

from shared.platform.errors import IdempotencyKeyReused
from tests.api import Api, ApiResponse
from tests.gateway import Gateway, Operation
from tests.items import unique


def a_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


async def test_a_retried_registration_returns_the_first_user(api: Api) -> None:
    key, name = a_key(), unique("ada")

    first = await api.create_user(name, key)
    second = await api.create_user(name, key)
    without = await api.create_user(name)

    assert (second.status, second.body, second.headers["location"]) == (201, first.body, first.headers["location"])
    assert without.status == 409


async def test_a_retried_registration_returns_its_user_after_someone_else_took_the_old_name(api: Api) -> None:
    key, name = a_key(), unique("ada")
    first = await api.create_user(name, key)
    renamed = await api.edit_user(first.body["id"], unique("grace"))
    other = await api.create_user(name)

    again = await api.create_user(name, key)

    assert (other.status, again.status, again.body) == (201, 201, renamed.body)


async def test_a_retried_registration_of_a_renamed_user_writes_nothing(
    api: Api, quiet_api: Api, gateway: Gateway
) -> None:
    key, name = a_key(), unique("ada")
    first = await api.create_user(name, key)
    renamed = await api.edit_user(first.body["id"], unique("grace"))

    with gateway.recording() as operations:
        again = await quiet_api.create_user(name, key)

    assert (again.status, again.body) == (201, renamed.body)
    assert {operation.kind for operation in operations} == {"read"}


async def test_a_retried_post_returns_the_first_post(api: Api) -> None:
    author, key = await api.new_user(), a_key()

    first = await api.create_post(author["id"], "A title", "Some content.", key)
    second = await api.create_post(author["id"], "A title", "Some content.", key)

    assert (second.status, second.body, second.etag) == (201, first.body, first.etag)


async def test_a_retried_comment_returns_the_first_comment_and_counts_once(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.new_post(author)

    first = await api.create_comment(post["id"], author["id"], "Well put.", key)
    second = await api.create_comment(post["id"], author["id"], "Well put.", key)

    assert (second.status, second.body, second.etag) == (201, first.body, first.etag)
    assert (await api.list_comments(post["id"])).body["items"] == [first.body]
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_a_retried_like_returns_the_first_like_and_counts_once(api: Api) -> None:
    liker, key = await api.new_user(), a_key()
    post = await api.new_post(liker)

    first = await api.create_like(post["id"], liker["id"], key)
    second = await api.create_like(post["id"], liker["id"], key)

    assert second.body == first.body
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_concurrent_commands_with_one_key_run_once(api: Api) -> None:
    author, key, name = await api.new_user(), a_key(), unique("ada")
    post = await api.new_post(author)

    users = await asyncio.gather(*(api.create_user(name, key) for _ in range(5)))
    posts = await asyncio.gather(*(api.create_post(author["id"], "A title", "Some content.", key) for _ in range(5)))
    comments = await asyncio.gather(*(api.create_comment(post["id"], author["id"], "Well put.", key) for _ in range(5)))

    for answers in (users, posts, comments):
        assert {answer.status for answer in answers} == {201}
        assert len({answer.body["id"] for answer in answers}) == 1
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


Send = Callable[[Api, str, str, str, dict[str, str]], Awaitable[ApiResponse]]

CREATIONS: dict[str, Send] = {
    "user": lambda api, _, __, text, key: api.create_user(text, key),
    "post": lambda api, user_id, _, text, key: api.create_post(user_id, text, "Some content.", key),
    "comment": lambda api, user_id, post_id, text, key: api.create_comment(post_id, user_id, text, key),
}


@pytest.mark.parametrize("kind", CREATIONS)
async def test_a_key_reused_with_another_body_returns_422(api: Api, kind: str) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.new_post(author)
    send, body, other = CREATIONS[kind], unique("ada"), unique("grace")
    first = await send(api, author["id"], post["id"], body, key)

    reused = await send(api, author["id"], post["id"], other, key)
    again = await send(api, author["id"], post["id"], body, key)

    assert (reused.status, reused.body["title"]) == (422, "Idempotency key reused")
    assert reused.body["detail"] == str(IdempotencyKeyReused())
    assert (again.status, again.body["id"]) == (201, first.body["id"])


async def test_a_key_reused_with_another_username_leaves_that_name_free(api: Api) -> None:
    key, name = a_key(), unique("grace")
    await api.create_user(unique("ada"), key)
    await api.create_user(name, key)

    assert (await api.create_user(name)).status == 201


async def test_a_key_is_scoped_to_its_user(api: Api) -> None:
    one, other, key = await api.new_user(), await api.new_user(), a_key()
    post = await api.new_post(one)

    posts = [await api.create_post(user["id"], "A title", "Some content.", key) for user in (one, other)]
    comments = [await api.create_comment(post["id"], user["id"], "Well put.", key) for user in (one, other)]

    assert posts[0].body["id"] != posts[1].body["id"]
    assert comments[0].body["id"] != comments[1].body["id"]


async def test_commands_without_a_key_or_with_different_keys_all_run(api: Api) -> None:
    author = await api.new_user()

    answers = [
        await api.create_post(author["id"], "A title", "Some content.", headers)
        for headers in (None, None, a_key(), a_key())
    ]

    assert len({answer.body["id"] for answer in answers}) == 4


async def test_an_idempotency_key_is_never_returned(api: Api) -> None:
    author, key = await api.new_user(), a_key()

    answer = await api.create_post(author["id"], "A title", "Some content.", key)

    assert key["Idempotency-Key"].encode() not in answer.content


async def test_a_retried_post_returns_404_after_its_deletion(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.create_post(author["id"], "A title", "Some content.", key)
    await api.delete_post(post.body["id"])

    again = await api.create_post(author["id"], "A title", "Some content.", key)

    assert (again.status, again.body["title"]) == (404, "Post not found")


@pytest.mark.parametrize("applied", [False, True], ids=["request-lost", "response-lost"])
async def test_a_command_whose_response_was_lost_can_be_retried(
    api: Api, quiet_api: Api, gateway: Gateway, applied: bool
) -> None:
    author, key, name = await api.new_user(), a_key(), unique("ada")
    post = await api.new_post(author)

    async def commands(client: Api) -> list[ApiResponse]:
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
    """Match the batch that writes the item and its record."""
    return operation.name in {"batch users", "batch posts"}


@pytest.mark.parametrize(
    ("key", "status"), [("", 400), ("k", 201), ("k" * 255, 201), ("k" * 256, 400), ("ключ é 😀", 201)]
)
async def test_a_key_has_1_to_255_characters(api: Api, key: str, status: int) -> None:
    author = await api.new_user()

    answer = await api.create_post(author["id"], "A title", "Some content.", {"Idempotency-Key": key})

    assert answer.status == status


async def test_a_retried_comment_returns_404_after_its_deletion(api: Api) -> None:
    author, key = await api.new_user(), a_key()
    post = await api.new_post(author)
    comment = await api.create_comment(post["id"], author["id"], "Well put.", key)
    await api.delete_comment(post["id"], comment.body["id"])

    repeated = await api.create_comment(post["id"], author["id"], "Well put.", key)

    assert repeated.status == 404
    assert (await api.list_comments(post["id"])).body["items"] == []
    assert (await api.get_post(post["id"])).body["commentCount"] == 0


async def test_a_like_needs_no_key_and_a_retry_after_an_unlike_likes_again(api: Api) -> None:
    liker, key = await api.new_user(), a_key()
    post = await api.new_post(liker)
    for _ in range(2):
        await api.create_like(post["id"], liker["id"], key)
    await api.delete_like(post["id"], liker["id"])

    late = await api.create_like(post["id"], liker["id"], key)

    assert late.status == 201
    assert (await api.list_likes(post["id"])).body["items"] == [late.body]
    assert (await api.get_post(post["id"])).body["likeCount"] == 1
