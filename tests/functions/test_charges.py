"""The database operations of each request, and the request charge that the API reports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import pytest

from shared.models.post import short_form
from shared.platform.database.container import Container
from tests.api import Api, ApiResponse, Json
from tests.blog import Blog
from tests.gateway import Gateway, Operation
from tests.items import a_comment, a_post, a_user, unique
from tests.polling import eventually


@dataclass(frozen=True)
class Given:
    """A post by `author` with two comments and a like, and a copy in `users`."""

    author: Json
    liker: Json
    post: Json
    comments: list[Json]


Send = Callable[[Api, Given], Awaitable[ApiResponse]]

COSTS: Mapping[str, tuple[Send, list[str]]] = {
    "C1 create a user": (lambda api, _: api.create_user(unique("ada")), ["create users", "create users"]),
    "C1 edit a user": (
        lambda api, given: api.edit_user(given.author["id"], unique("ada")),
        ["read latest users", "create users", "replace users"],
    ),
    "Q1 retrieve a user": (lambda api, given: api.get_user(given.author["id"]), ["read users"]),
    "C2 create a post": (
        lambda api, given: api.create_post(given.author["id"], "A title", "Some content."),
        ["read users", "create posts"],
    ),
    "C2 edit a post": (
        lambda api, given: api.edit_post(given.post["id"], "Another", "Other."),
        ["read latest posts", "patch posts"],
    ),
    "Q2 retrieve a post": (lambda api, given: api.get_post(given.post["id"]), ["read posts"]),
    "Q3 list a user's posts": (lambda api, given: api.list_user_posts(given.author["id"]), ["query users"]),
    "C3 create a comment": (
        lambda api, given: api.create_comment(given.post["id"], given.author["id"], "Well put."),
        ["read users", "batch posts"],
    ),
    "Q4 list a post's comments": (lambda api, given: api.list_comments(given.post["id"]), ["query posts"]),
    "C4 like a post": (
        lambda api, given: api.create_like(given.post["id"], given.author["id"]),
        ["read users", "batch posts"],
    ),
    "Q5 list a post's likes": (lambda api, given: api.list_likes(given.post["id"]), ["query posts"]),
    "unlike a post": (
        lambda api, given: api.delete_like(given.post["id"], given.liker["id"]),
        ["read posts", "batch posts"],
    ),
    "delete a comment": (
        lambda api, given: api.delete_comment(given.post["id"], given.comments[0]["id"]),
        ["read posts", "batch posts"],
    ),
    "delete a post": (lambda api, given: api.delete_post(given.post["id"]), ["patch posts"]),
    "a second page": (
        lambda api, given: _second_page(api, f"/api/posts/{given.post['id']}/comments"),
        ["query posts", "query posts"],
    ),
    "an empty list": (
        lambda api, given: api.list_user_posts(given.liker["id"]),
        ["query users", "read users"],
    ),
    "a post of an unknown author": (lambda api, _: api.create_post("unknown", "A title", "Some."), ["read users"]),
}


async def _second_page(api: Api, path: str) -> ApiResponse:
    first = await api.send("GET", f"{path}?limit=1")
    return await api.send("GET", f"{path}?limit=1&cursor={first.body['nextCursor']}")


@pytest.fixture
async def given(api: Api, stored: Blog) -> Given:
    author, liker = await api.new_user(), await api.new_user("liker")
    post = await api.new_post(author)
    comments = [await api.new_comment(post, author) for _ in range(2)]
    await api.new_like(post, liker)
    await stored.users.proxy.upsert_item(short_form(post))
    return Given(author, liker, post, comments)


@pytest.mark.parametrize("request_name", COSTS)
async def test_a_request_costs_no_more_operations_than_promised(
    quiet_api: Api, gateway: Gateway, given: Given, request_name: str
) -> None:
    send, expected = COSTS[request_name]

    with gateway.recording() as operations:
        answer = await send(quiet_api, given)

    assert answer.status < 300 or request_name == "a post of an unknown author"
    assert [operation.name for operation in operations] == expected
    assert all(operation.partition_key for operation in operations), "a cross-partition query"
    if request_name != "a second page":
        assert answer.charge_ru == pytest.approx(charged(operations), abs=0.01)


async def test_the_front_page_costs_one_query_per_second(quiet_api: Api, gateway: Gateway) -> None:
    async def read_anew() -> ApiResponse | None:
        with gateway.recording() as operations:
            answer = await quiet_api.get_feed()
        if [operation.name for operation in operations] != ["query feed"]:
            return None  # the page may be cached, and the first query with a session token also reads the feed ranges
        assert answer.charge_ru == pytest.approx(charged(operations), abs=0.01)
        return answer

    await eventually(read_anew)
    answers = await asyncio.gather(*(quiet_api.get_feed() for _ in range(20)))

    assert sum("x-ms-request-charge" in answer.headers for answer in answers) <= 1  # 1 if the page expires in between


def charged(operations: list[Operation]) -> float:
    return sum(operation.charge_ru for operation in operations)


async def test_concurrent_requests_report_their_own_charge(quiet_api: Api, given: Given) -> None:
    one_read = await quiet_api.get_post(given.post["id"])
    one_list = await quiet_api.list_comments(given.post["id"])

    answers = await asyncio.gather(
        *(quiet_api.get_post(given.post["id"]) for _ in range(10)),
        *(quiet_api.list_comments(given.post["id"]) for _ in range(10)),
        *(quiet_api.create_user(unique("ada")) for _ in range(10)),
    )

    assert {answer.charge_ru for answer in answers[:10]} == {one_read.charge_ru}
    assert {answer.charge_ru for answer in answers[10:20]} == {one_list.charge_ru}
    assert one_read.charge_ru < one_list.charge_ru < min(answer.charge_ru for answer in answers[20:])


async def test_a_response_without_a_database_operation_has_no_charge(api: Api) -> None:
    answers = [await api.create_user(""), await api.get_feed(limit=0), await api.get_user("a#b")]

    assert [answer.status for answer in answers] == [422, 400, 404]
    assert all("x-ms-request-charge" not in answer.headers for answer in answers)


async def test_a_404_from_the_database_reports_its_charge(api: Api) -> None:
    assert (await api.get_user("unknown")).charge_ru > 0


async def test_the_charge_of_a_page_does_not_grow_with_the_list(quiet_api: Api, stored: Blog) -> None:
    author = await stored.users.create(a_user())
    few, many = [await _post_with_comments(stored.posts, author, number) for number in (100, 2_000)]

    costs = [(await quiet_api.list_comments(post_id)).charge_ru for post_id in (few, many)]

    assert costs[1] == pytest.approx(costs[0], rel=0.05)


async def _post_with_comments(posts: Container, author: Json, number: int) -> str:
    post = await posts.create(a_post(author))
    for start in range(0, number, 100):
        comments = [a_comment(post, author, second=second) for second in range(start, start + 100)]
        await posts.batch(post["id"], [("create", (comment,)) for comment in comments])
    return str(post["id"])
