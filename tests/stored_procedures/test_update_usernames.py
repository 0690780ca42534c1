"""updateUsernames.js as deployed, and the article's script for comparison."""

from __future__ import annotations

import pytest

from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user

pytestmark = pytest.mark.usefixtures("both_script_views")


async def _post_with_comments(blog: Blog, author: Item, number: int) -> Item:
    post = await blog.posts.create(a_post(author))
    for start in range(0, number, 100):
        comments = [a_comment(post, author, second=second) for second in range(start, min(number, start + 100))]
        await blog.posts.batch(post["id"], [("create", (comment,)) for comment in comments])
    return post


async def _names(blog: Blog, post: Item) -> set[str]:
    return {item["userUsername"] for item in await blog.items_of(post)}


async def test_items_on_all_pages_are_renamed(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 300)

    answer = await blog.posts.execute("updateUsernames", post["id"], author["id"], "new-name", 2)

    assert answer == {"updated": 301, "more": False}
    assert await _names(blog, post) == {"new-name"}


async def test_the_articles_script_renames_only_one_page(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 300)
    await blog.deploy_naive_procedure("updateUsernames")

    await blog.posts.execute("naive-updateUsernames", post["id"], author["id"], "new-name")

    assert await _names(blog, post) == {"new-name", author["username"]}


async def test_a_hostile_user_id_renames_nothing(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 1)

    answer = await blog.posts.execute("updateUsernames", post["id"], "x' OR '1'='1", "mallory", 2)

    assert answer == {"updated": 0, "more": False}
    assert await _names(blog, post) == {author["username"]}


async def test_the_articles_script_lets_a_hostile_user_id_rename_everything(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 1)
    await blog.deploy_naive_procedure("updateUsernames")

    await blog.posts.execute("naive-updateUsernames", post["id"], "x' OR '1'='1", "mallory")

    assert await _names(blog, post) == {"mallory"}


async def test_a_user_id_can_contain_a_quote(blog: Blog) -> None:
    author = a_user(user_id="o'neil")
    post = await _post_with_comments(blog, author, 1)

    answer = await blog.posts.execute("updateUsernames", post["id"], "o'neil", "new-name", 2)

    assert answer == {"updated": 2, "more": False}


async def test_items_of_other_users_are_not_renamed(blog: Blog) -> None:
    author, reader = a_user("author"), a_user("reader")
    post = await _post_with_comments(blog, author, 1)
    await blog.posts.create(a_comment(post, reader))

    await blog.posts.execute("updateUsernames", post["id"], author["id"], "new-name", 2)

    assert await _names(blog, post) == {"new-name", reader["username"]}


async def test_a_second_run_writes_nothing(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 3)
    await blog.posts.execute("updateUsernames", post["id"], author["id"], "new-name", 2)
    before = await blog.items_of(post)

    answer = await blog.posts.execute("updateUsernames", post["id"], author["id"], "new-name", 2)

    assert answer == {"updated": 0, "more": False}
    assert await blog.items_of(post) == before


async def test_a_late_earlier_rename_changes_nothing(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 3)
    await blog.posts.execute("updateUsernames", post["id"], author["id"], "third-name", 3)

    answer = await blog.posts.execute("updateUsernames", post["id"], author["id"], "second-name", 2)

    assert answer == {"updated": 0, "more": False}
    assert await _names(blog, post) == {"third-name"}


async def test_repeated_calls_finish_an_interrupted_rename(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 250)

    with blog.accepting(60):
        answers = []
        while not answers or answers[-1]["more"]:
            answers.append(await blog.posts.execute("updateUsernames", post["id"], author["id"], "new-name", 2))

    assert len(answers) > 4
    assert sum(answer["updated"] for answer in answers) == 251
    assert await _names(blog, post) == {"new-name"}


async def test_a_limit_ends_a_call_before_all_items_are_renamed(blog: Blog) -> None:
    author = a_user()
    post = await _post_with_comments(blog, author, 49)

    async def call() -> dict[str, object]:
        answer: dict[str, object] = await blog.posts.execute(
            "updateUsernames", post["id"], author["id"], "new-name", 2, {"limit": 25}
        )
        return answer

    answers = [await call(), await call()]

    assert answers == [{"updated": 25, "more": True}, {"updated": 25, "more": False}]
    assert await _names(blog, post) == {"new-name"}
    assert "traceparent" not in (await blog.posts.read(post["id"], post["id"]) or {})


async def test_an_item_without_a_username_gets_one(blog: Blog) -> None:
    author = a_user()
    v1 = a_post(author)
    del v1["userUsername"]
    post = await blog.posts.create(v1)

    await blog.posts.execute("updateUsernames", post["id"], author["id"], author["username"], 1)

    assert await _names(blog, post) == {author["username"]}
