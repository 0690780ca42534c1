"""Retries and deadlines when the database throttles, hangs, or loses the response to a write."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from shared.platform.database.retries import REQUEST_DEADLINE_S
from tests.api import Api, ApiResponse
from tests.gateway import Gateway, Matches, Operation, named
from tests.items import unique
from tests.problems import assert_problem

# Without the limits in shared/platform/database/retries.py, these requests would take more than 30 s.
_LATEST_S = REQUEST_DEADLINE_S + 5


def _first(number: int, matches: Matches) -> Matches:
    """Match only the first `number` operations that satisfy `matches`."""
    seen = 0

    def is_one_of_the_first(operation: Operation) -> bool:
        nonlocal seen
        seen += matches(operation)
        return matches(operation) and seen <= number

    return is_one_of_the_first


def _retry_after(milliseconds: int) -> dict[str, str]:
    return {"x-ms-retry-after-ms": str(milliseconds), "x-ms-substatus": "3200"}


def _of(item_id: str, *names: str) -> Matches:
    """Match operations with one of these names in the partition of an item."""
    return lambda operation: operation.name in names and item_id in str(operation.partition_key)


@pytest.mark.nightly
async def test_requests_return_429_or_503_by_their_deadline(quiet_api: Api, api: Api, gateway: Gateway) -> None:
    """The requests wait together."""
    async with asyncio.TaskGroup() as group:
        for request in (
            _return_429(quiet_api, gateway, wait_ms=3_500, retry_after="4"),
            _return_429(quiet_api, gateway, wait_ms=60_000, retry_after="60"),
            _return_429_after_several_throttled_operations(quiet_api, api, gateway),
            _return_503_if_the_database_is_unresponsive(quiet_api, api, gateway),
        ):
            group.create_task(request)


async def _return_429(quiet_api: Api, gateway: Gateway, *, wait_ms: int, retry_after: str) -> None:
    user_id = unique("anybody")
    started = time.monotonic()
    with gateway.answering(_of(user_id, "read users"), 429, headers=_retry_after(wait_ms)):
        answer = await quiet_api.get_user(user_id)

    assert_problem(answer, 429, "Too many requests", f"/api/users/{user_id}")
    assert answer.headers["retry-after"] == retry_after
    assert time.monotonic() - started < _LATEST_S


async def _return_429_after_several_throttled_operations(quiet_api: Api, api: Api, gateway: Gateway) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    wait = _retry_after(2_500)
    started = time.monotonic()

    with ExitStack() as stack:
        stack.enter_context(gateway.answering(_first(2, _of(author["id"], "read users")), 429, headers=wait))
        stack.enter_context(gateway.answering(_of(post["id"], "batch posts"), 429, headers=wait))
        answer = await quiet_api.create_comment(post["id"], author["id"], "Well put.")

    assert (answer.status, answer.headers["retry-after"]) == (429, "3")
    assert time.monotonic() - started < REQUEST_DEADLINE_S + 2  # the waits are 12.5 s
    assert (await api.list_comments(post["id"])).body["items"] == []


async def _return_503_if_the_database_is_unresponsive(quiet_api: Api, api: Api, gateway: Gateway) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    async def seconds(command: Awaitable[ApiResponse]) -> float:
        started = time.monotonic()
        assert (await command).status == 503
        return time.monotonic() - started

    with (
        gateway.holding(_of(author["id"], "read users")) as reads,
        gateway.holding(_of(post["id"], "batch posts")) as batches,
    ):
        took = await asyncio.gather(
            seconds(quiet_api.get_user(author["id"])),
            seconds(quiet_api.create_comment(post["id"], author["id"], "Well put.")),
        )

    assert reads.operations + batches.operations
    assert all(REQUEST_DEADLINE_S - 0.5 < each < _LATEST_S for each in took)


async def test_a_batch_that_keeps_conflicting_returns_503(quiet_api: Api, api: Api, gateway: Gateway) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    started = time.monotonic()

    with gateway.recording() as operations, gateway.answering(named("batch posts"), 449):
        answer = await quiet_api.create_comment(post["id"], author["id"], "Well put.")

    assert_problem(answer, 503, "Database unavailable", f"/api/posts/{post['id']}/comments")
    # A batch of an earlier test can still be running in the app: it has another partition key.
    assert [operation.kind for operation in operations if post["id"] in str(operation.partition_key)] == ["batch"] * 6
    assert time.monotonic() - started < REQUEST_DEADLINE_S


@contextmanager
def _first_response_lost(gateway: Gateway, *names: str) -> Iterator[None]:
    """Apply the first write but close its connection, so the SDK retries it."""
    with gateway.recording() as operations, gateway.losing(_first(1, named(*names)), applied=True):
        yield
    assert len([operation for operation in operations if operation.name in names]) >= 2


KEYS = pytest.mark.parametrize("with_key", [False, True], ids=["without-key", "with-key"])


def _headers(with_key: bool) -> dict[str, str] | None:
    return {"Idempotency-Key": uuid.uuid4().hex} if with_key else None


@KEYS
async def test_a_creation_with_a_lost_response_creates_once(
    quiet_api: Api, api: Api, gateway: Gateway, with_key: bool
) -> None:
    name, headers = unique("ada"), _headers(with_key)
    with _first_response_lost(gateway, "create users"):
        user = await quiet_api.create_user(name, headers)
    with _first_response_lost(gateway, "create posts", "batch posts"):
        post = await quiet_api.create_post(user.body["id"], "A title", "Some content.", headers)
    if with_key:
        with _first_response_lost(gateway, "batch users"):
            assert (await quiet_api.create_user(unique("ada"), _headers(with_key))).status == 201
    with _first_response_lost(gateway, "batch posts"):
        comment = await quiet_api.create_comment(post.body["id"], user.body["id"], "Well put.", headers)
    with _first_response_lost(gateway, "batch posts"):
        like = await quiet_api.create_like(post.body["id"], user.body["id"], headers)

    assert [answer.status for answer in (user, post, comment)] == [201, 201, 201]
    assert like.status == 200  # the repeated write finds the first like
    assert (await api.get_user(user.body["id"])).body["username"] == name
    assert (await api.list_comments(post.body["id"])).body["items"] == [comment.body]
    read = (await api.get_post(post.body["id"])).body
    assert (read["commentCount"], read["likeCount"]) == (1, 1)


async def test_an_edit_with_a_lost_response_does_not_conflict_with_itself(
    quiet_api: Api, api: Api, gateway: Gateway
) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    of_post, of_user = (await api.get_post(post["id"])).etag, (await api.get_user(user["id"])).etag
    name = unique("countess")

    with _first_response_lost(gateway, "patch posts"):
        edited = await quiet_api.edit_post(post["id"], "Another", "Other.", {"If-Match": of_post})
    with _first_response_lost(gateway, "replace users"):
        renamed = await quiet_api.edit_user(user["id"], name, {"If-Match": of_user})

    assert (edited.status, edited.body["title"]) == (200, "Another")
    assert (renamed.status, renamed.body["username"]) == (200, name)
    late = await api.edit_post(post["id"], "A third", "Other.", {"If-Match": of_post})
    assert late.status == 412


@pytest.mark.parametrize("with_etag", [False, True], ids=["without-etag", "with-etag"])
async def test_a_deletion_with_a_lost_response_is_counted_once(
    quiet_api: Api, api: Api, gateway: Gateway, with_etag: bool
) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    comment = await api.create_comment(post["id"], user["id"], "Well put.")
    await api.new_comment(post, user)
    like = await api.create_like(post["id"], user["id"])
    of_like, of_comment, of_post = [
        {"If-Match": one.etag} if with_etag else None for one in (like, comment, await api.get_post(post["id"]))
    ]

    with _first_response_lost(gateway, "batch posts"):
        unliked = await quiet_api.delete_like(post["id"], user["id"], of_like)
    with _first_response_lost(gateway, "batch posts"):
        deleted = await quiet_api.delete_comment(post["id"], comment.body["id"], of_comment)
    read = (await api.get_post(post["id"])).body
    with _first_response_lost(gateway, "patch posts"):
        removed = await quiet_api.delete_post(post["id"], of_post)

    assert [answer.status for answer in (unliked, deleted, removed)] == [204, 204, 204]
    assert (read["commentCount"], read["likeCount"]) == (1, 0)
    assert (await api.get_post(post["id"])).status == 404
    assert (await api.delete_post(post["id"])).status == 404
