"""C3, Q4: create, list, delete comments."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest

from tests.api import Api
from tests.blog import Blog
from tests.items import a_post, unique

PROPERTIES = {"id", "type", "postId", "userId", "userUsername", "content", "creationDate"}


async def test_a_created_comment_has_exactly_its_documented_properties(api: Api) -> None:
    author, reader = await api.new_user(), await api.new_user("reader")
    post = await api.new_post(author)

    answer = await api.create_comment(post["id"], reader["id"], "Well put.")

    assert answer.status == 201
    assert set(answer.body) == PROPERTIES
    assert {name: answer.body[name] for name in PROPERTIES - {"id", "creationDate"}} == {
        "type": "comment",
        "postId": post["id"],
        "userId": reader["id"],
        "userUsername": reader["username"],
        "content": "Well put.",
    }
    assert answer.headers["location"] == f"/api/posts/{post['id']}/comments/{answer.body['id']}"


async def test_the_location_of_a_comment_encodes_the_id_of_an_imported_post(api: Api, stored: Blog) -> None:
    author = await api.new_user()
    post_id = unique("é 100%")
    await stored.posts.create(a_post(author) | {"id": post_id, "postId": post_id})

    answer = await api.create_comment(post_id, author["id"], "Well put.")

    assert answer.status == 201
    assert answer.headers["location"] == f"/api/posts/{quote(post_id)}/comments/{answer.body['id']}"


async def test_new_comments_are_listed_and_counted_immediately(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    comments = [await api.new_comment(post, author, f"Comment {number}.") for number in range(3)]

    listed = await api.list_comments(post["id"])
    read = await api.get_post(post["id"])

    assert (listed.status, listed.body) == (200, {"items": comments[::-1]})
    assert read.body["commentCount"] == 3


@pytest.mark.parametrize("content", ["c", "c" * 5_000, "😀" * 5_000, "\t\r\n\u2028x\ufeff", "'\"\\</script>"])
async def test_a_comment_returns_its_content_unchanged(api: Api, content: str) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    created = await api.create_comment(post["id"], author["id"], content)

    assert created.body["content"] == content
    assert (await api.list_comments(post["id"])).body["items"] == [created.body]


async def test_concurrent_comments_are_all_counted(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)

    answers = await asyncio.gather(*(api.create_comment(post["id"], author["id"], "Well put.") for _ in range(15)))

    assert {answer.status for answer in answers} == {201}
    assert (await api.get_post(post["id"])).body["commentCount"] == 15
    assert len((await api.list_comments(post["id"])).body["items"]) == 15


async def test_a_deleted_comment_leaves_the_list_and_the_count_immediately(api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    first, second = await api.new_comment(post, author), await api.new_comment(post, author)

    deleted = await api.delete_comment(post["id"], first["id"])
    again = await api.delete_comment(post["id"], first["id"])

    assert (deleted.status, deleted.content) == (204, b"")
    assert (again.status, again.body["title"]) == (404, "Comment not found")
    assert (await api.list_comments(post["id"])).body["items"] == [second]
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


@pytest.mark.parametrize("comment_id", ["unknown", "a b", "o'neil", 'a"b', "a%b", "é😀", "a/b", "x" * 255])
async def test_unknown_comment_ids_return_404(api: Api, comment_id: str) -> None:
    post = await api.new_post(await api.new_user())

    answer = await api.delete_comment(post["id"], comment_id)

    assert (answer.status, answer.body["title"]) == (404, "Comment not found")


async def test_ids_of_other_items_are_not_comments_of_the_post(api: Api) -> None:
    author = await api.new_user()
    post, other_post = await api.new_post(author), await api.new_post(author)
    like, elsewhere = await api.new_like(post, author), await api.new_comment(other_post, author)

    answers = [await api.delete_comment(post["id"], item["id"]) for item in (post, like, elsewhere)]

    assert [answer.body["title"] for answer in answers] == ["Comment not found"] * 3
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_comments_require_a_known_user(api: Api) -> None:
    post = await api.new_post(await api.new_user())

    answer = await api.create_comment(post["id"], "unknown", "Well put.")

    assert (answer.status, answer.body["title"]) == (404, "User not found")
    assert (await api.get_post(post["id"])).body["commentCount"] == 0
