"""Responses and log lines when the database throttles, fails, or contains unexpected items."""

from __future__ import annotations

import asyncio
import re
import time

import pytest

from shared.platform.database.retries import REQUEST_DEADLINE_S
from tests.api import Api
from tests.blog import Blog
from tests.gateway import Gateway, Operation, named
from tests.items import a_post, a_user, unique
from tests.polling import eventually
from tests.problems import assert_problem
from tests.running_app import RunningApp

_RETRY_SOON = {"x-ms-retry-after-ms": "5", "x-ms-substatus": "3200"}


async def test_throttling_beyond_the_retries_returns_429_with_retry_after(quiet_api: Api, gateway: Gateway) -> None:
    with gateway.recording() as operations, gateway.answering(named("read users"), 429, headers=_RETRY_SOON):
        answer = await quiet_api.get_user("anybody")

    assert_problem(answer, 429, "Too many requests", "/api/users/anybody")
    assert answer.headers["retry-after"] == "1"
    assert len(operations) == 10


async def test_brief_throttling_is_retried(quiet_api: Api, gateway: Gateway, api: Api) -> None:
    user = await api.new_user()
    seen: list[Operation] = []

    def first_two(operation: Operation) -> bool:
        seen.append(operation)
        return operation.kind == "read" and len(seen) <= 2

    with gateway.answering(first_two, 429, headers=_RETRY_SOON):
        answer = await quiet_api.get_user(user["id"])

    assert (answer.status, answer.body) == (200, user)


@pytest.mark.parametrize("status", [408, 410, 503])
async def test_an_unavailable_database_returns_503(quiet_api: Api, gateway: Gateway, status: int) -> None:
    with gateway.answering(named("create posts", "read users"), status):
        answer = await quiet_api.create_post("anybody", "A title", "Some content.")

    assert_problem(answer, 503, "Database unavailable", "/api/posts")
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("sub_status", ["0", "5300"])
async def test_a_database_that_denies_access_returns_503(quiet_api: Api, gateway: Gateway, sub_status: str) -> None:
    with gateway.answering(named("read users"), 403, headers={"x-ms-substatus": sub_status}):
        answer = await quiet_api.get_user("anybody")

    assert_problem(answer, 503, "Database unavailable", "/api/users/anybody")


_REFUSALS = pytest.mark.parametrize(
    ("status", "sub_status", "problem", "title"),
    [(403, 1014, 507, "Partition full"), (413, 0, 413, "Item too large"), (400, 0, 400, "Request refused")],
)


@_REFUSALS
async def test_a_write_that_can_never_succeed_does_not_ask_to_be_repeated(
    quiet_api: Api, api: Api, gateway: Gateway, status: int, sub_status: int, problem: int, title: str
) -> None:
    author = await api.new_user()

    with gateway.answering(named("create posts"), status, headers={"x-ms-substatus": str(sub_status)}):
        answer = await quiet_api.create_post(author["id"], "A title", "Some content.")

    assert_problem(answer, problem, title, "/api/posts")
    assert "retry-after" not in answer.headers


@_REFUSALS
async def test_a_batch_that_can_never_succeed_does_not_ask_to_be_repeated(
    quiet_api: Api, api: Api, gateway: Gateway, status: int, sub_status: int, problem: int, title: str
) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    refused = [{"statusCode": 424}, {"statusCode": status, "subStatusCode": sub_status}]

    with gateway.answering(named("batch posts"), 207, body=refused):
        answer = await quiet_api.create_comment(post["id"], author["id"], "Well put.")

    assert_problem(answer, problem, title, f"/api/posts/{post['id']}/comments")
    assert "retry-after" not in answer.headers


async def test_an_unreachable_database_returns_503(quiet_api: Api, gateway: Gateway) -> None:
    with gateway.losing(lambda _: True):
        answer = await quiet_api.get_user("anybody")

    assert_problem(answer, 503, "Database unavailable", "/api/users/anybody")
    assert int(answer.headers["retry-after"]) > 0


async def test_a_missing_container_returns_503(quiet_api: Api, gateway: Gateway) -> None:
    with gateway.answering(named("read users"), 404, headers={"x-ms-substatus": "1003"}):
        answer = await quiet_api.get_user("anybody")

    assert_problem(answer, 503, "Database unavailable", "/api/users/anybody")


@pytest.mark.parametrize(
    ("path", "operation", "status"),
    [
        *(("/api/posts/p", "read posts", status) for status in (405, 409, 412, 424, 449, 507, 599)),
        *(("/api/posts/p/comments", "query posts", status) for status in (404, 409, 412, 449)),
        ("/api/users/u/posts", "query users", 404),
    ],
)
async def test_an_answer_that_the_query_does_not_expect_returns_503(
    quiet_api: Api, gateway: Gateway, path: str, operation: str, status: int
) -> None:
    with gateway.answering(named(operation), status):
        answer = await quiet_api.send("GET", path)

    assert_problem(answer, 503, "Database unavailable", path)
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("status", [404, 405, 409, 412, 422, 424])
@pytest.mark.parametrize("operation", ["read users", "create posts", "batch posts", "patch posts", "read latest posts"])
async def test_no_answer_of_the_database_is_an_internal_error(
    quiet_api: Api, api: Api, gateway: Gateway, operation: str, status: int
) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    with gateway.answering(named(operation), status):
        answers = [
            await quiet_api.get_user(author["id"]),
            await quiet_api.create_post(author["id"], "A title", "Some content."),
            await quiet_api.create_comment(post["id"], author["id"], "Well put."),
            await quiet_api.create_like(post["id"], author["id"], {"Idempotency-Key": unique("key")}),
            await quiet_api.edit_post(post["id"], unique("title"), "Other content."),
            await quiet_api.delete_like(post["id"], author["id"]),
            await quiet_api.delete_post(post["id"]),
        ]

    assert 500 not in [answer.status for answer in answers]


async def test_unexpected_errors_return_500_without_details(
    quiet_api: Api, quiet_app: RunningApp, gateway: Gateway
) -> None:
    broken = a_post(a_user()) | {"id": "p", "postId": "p", "secret": "hidden"}  # without an _etag
    with gateway.answering(named("read posts"), 200, body=broken):
        answer = await quiet_api.get_post("p")

    assert_problem(answer, 500, "Internal error", "/api/posts/p")
    for inner in (b"_etag", b"secret", b"hidden", b"Traceback", b"pydantic", b"azure", b"cosmos", b".py", b"userId"):
        assert inner not in answer.content
    assert any("request failed" in line for line in quiet_app.log_lines())


async def test_lists_include_posts_without_username_and_counts(api: Api, stored: Blog) -> None:
    author = await stored.users.create(a_user())
    v1 = a_post(author)
    for name in ("userUsername", "commentCount", "likeCount", "version"):
        del v1[name]
    await stored.posts.create(v1)

    read = await api.get_post(v1["id"])
    comment = await api.create_comment(v1["id"], author["id"], "Well put.")

    counts = (read.body["commentCount"], read.body["likeCount"])
    assert (read.status, counts, comment.status) == (200, (0, 0), 201)

    async def is_complete() -> bool:
        items = (await api.list_user_posts(author["id"])).body["items"]
        return [(item["userUsername"], item["commentCount"]) for item in items] == [(author["username"], 1)]

    await eventually(is_complete)


_BEHIND = {"x-ms-substatus": "1002"}


async def test_a_replica_that_stays_behind_the_session_returns_503(api: Api, quiet_api: Api, gateway: Gateway) -> None:
    post = await api.new_post(await api.new_user())
    started = time.monotonic()
    with gateway.answering(named("read posts"), 404, headers=_BEHIND), gateway.recording() as operations:
        answer = await quiet_api.get_post(post["id"])

    assert_problem(answer, 503, "Database unavailable", f"/api/posts/{post['id']}")
    assert answer.headers["retry-after"] == "5"
    assert time.monotonic() - started < REQUEST_DEADLINE_S
    # The SDK repeats all attempts once.
    assert [operation.name for operation in operations] == ["read posts"] * 12


@pytest.mark.parametrize("brings_token", [False, True])
async def test_a_read_waits_for_a_replica_that_catches_up(quiet_api: Api, gateway: Gateway, brings_token: bool) -> None:
    author = await quiet_api.new_user()
    posted = await quiet_api.create_post(author["id"], "A title", "Some content.")
    token = {"x-ms-session-token": posted.headers["x-ms-session-token"]} if brings_token else None
    with gateway.recording() as operations:
        with gateway.answering(named("read posts"), 404, headers=_BEHIND):
            reading = asyncio.create_task(quiet_api.get_post(posted.body["id"], token))
            await eventually(lambda: len(operations) >= 2)
        answer = await reading

    assert (answer.status, answer.body) == (200, posted.body)


async def test_one_check_of_health_serves_all_requests(quiet_api: Api, gateway: Gateway) -> None:
    def reads_the_feed_container(operation: Operation) -> bool:
        return bool(re.fullmatch(r"GET /dbs/[^/]+/colls/feed/?", operation.kind))

    with gateway.answering(reads_the_feed_container, 404), gateway.recording() as operations:
        answers = [await quiet_api.get_health() for _ in range(20)]

    for answer in answers:
        assert_problem(answer, 503, "Not ready", "/api/health")
        assert answer.body["detail"] == "Not ready: feed."
    assert sum(map(reads_the_feed_container, operations)) == 1


async def test_health_reports_ready(api: Api) -> None:
    answer = await api.get_health()

    assert answer.status == 200
    assert answer.body["status"] == "ready"
    assert {"database", "users", "posts", "feed", "failures", "leases"} <= set(answer.body["checks"])


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def test_a_malformed_traceparent_is_not_logged(api: Api, app: RunningApp) -> None:
    await api.get_user("unknown", {"traceparent": f'{TRACE}" forged="yes'})

    assert not app.log_lines(containing="forged")


async def test_bodies_and_keys_are_not_logged(api: Api, app: RunningApp) -> None:
    author = await api.new_user()
    await api.create_post(
        author["id"], "A very telling title", "A very telling content.", {"Idempotency-Key": "telling"}
    )

    assert not app.log_lines(containing="telling")
    assert app.settings.account.key
    assert not app.log_lines(containing=app.settings.account.key)
