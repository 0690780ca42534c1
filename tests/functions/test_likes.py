"""C4, Q5: like, unlike, list likes."""

from __future__ import annotations

import asyncio

import pytest

from tests.api import Api

PROPERTIES = {"id", "type", "postId", "userId", "userUsername", "creationDate"}


async def test_a_like_has_exactly_its_documented_properties(api: Api) -> None:
    author, reader = await api.new_user(), await api.new_user("reader")
    post = await api.new_post(author)

    answer = await api.create_like(post["id"], reader["id"])

    assert answer.status == 201
    assert set(answer.body) == PROPERTIES
    assert {name: answer.body[name] for name in PROPERTIES - {"id", "creationDate"}} == {
        "type": "like",
        "postId": post["id"],
        "userId": reader["id"],
        "userUsername": reader["username"],
    }
    assert answer.headers["location"] == f"/api/posts/{post['id']}/likes/{reader['id']}"


async def test_a_repeated_like_returns_200_and_counts_once(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    first = await api.create_like(post["id"], author["id"])
    second = await api.create_like(post["id"], author["id"])

    assert (second.status, second.body, second.etag) == (200, first.body, first.etag)
    assert "location" not in second.headers
    assert (await api.get_post(post["id"])).body["likeCount"] == 1
    assert (await api.list_likes(post["id"])).body == {"items": [first.body]}


async def test_if_none_match_allows_the_removal_of_a_like_that_does_not_exist(api: Api) -> None:
    """The condition holds if there is nothing (https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2)."""
    post = await api.new_post(await api.new_user())

    assert (await api.delete_like(post["id"], post["userId"], {"If-None-Match": "*"})).status == 204


async def test_concurrent_likes_of_one_user_count_once(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    answers = await asyncio.gather(*(api.create_like(post["id"], author["id"]) for _ in range(8)))

    assert sorted(answer.status for answer in answers) == [200] * 7 + [201]
    assert len({answer.content for answer in answers}) == 1
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_new_likes_are_listed_and_counted_immediately(api: Api) -> None:
    users = [await api.new_user() for _ in range(3)]
    post = await api.new_post(users[0])
    likes = [await api.new_like(post, user) for user in users]

    listed = await api.list_likes(post["id"])

    assert (listed.status, listed.body) == (200, {"items": likes[::-1]})
    assert (await api.get_post(post["id"])).body["likeCount"] == 3


async def test_an_unlike_restores_the_count(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.new_like(post, author)

    answers = [await api.delete_like(post["id"], author["id"]) for _ in range(2)]

    assert [(answer.status, answer.content) for answer in answers] == [(204, b"")] * 2
    assert (await api.get_post(post["id"])).body["likeCount"] == 0
    assert (await api.list_likes(post["id"])).body == {"items": []}


async def test_a_post_can_be_liked_again_after_an_unlike(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.new_like(post, author)
    await api.delete_like(post["id"], author["id"])

    again = await api.create_like(post["id"], author["id"])

    assert again.status == 201
    assert (await api.list_likes(post["id"])).body == {"items": [again.body]}


@pytest.mark.parametrize("user_id", ["unknown", "a b", "o'neil", "a%b", "é😀", "x" * 250, "x" * 251, "x" * 255])
async def test_unliking_without_a_like_returns_204(api: Api, user_id: str) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.new_like(post, author)

    answer = await api.delete_like(post["id"], user_id)

    assert answer.status == 204
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_likes_require_a_known_user(api: Api) -> None:
    post = await api.new_post(await api.new_user())

    answer = await api.create_like(post["id"], "unknown")

    assert (answer.status, answer.body["title"]) == (404, "User not found")
    assert (await api.get_post(post["id"])).body["likeCount"] == 0
