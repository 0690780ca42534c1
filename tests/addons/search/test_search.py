"""Search in all posts, by the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
from azure.cosmos.aio import CosmosClient
from cosmos_emulator.search import stop_words

from addons.search.query import MOST_WORDS, QUERY_LENGTH
from addons.search.stop_words import STOP_WORDS
from tests.api import Api
from tests.items import a_comment, a_post, a_user, unique
from tests.polling import eventually
from tests.running_app import RunningApp


async def found(api: Api, text: str, **parameters: Any) -> list[str]:
    response = await api.send("GET", f"/api/search?{urlencode({'q': text, **parameters})}")
    assert response.status == 200, response.body
    return [item.get("title", "a comment") for item in response.body["items"]]


async def post(api: Api, author: Any, title: str, content: str) -> Any:
    body = {"userId": author["id"], "title": title, "content": content}
    response = await api.send("POST", "/api/posts", body=body)
    assert response.status == 201
    return response.body


async def has(api: Api, text: str, titles: list[str], **parameters: Any) -> None:
    async def is_found() -> bool:
        return await found(api, text, **parameters) == titles

    await eventually(is_found)


async def test_posts_with_all_words_are_found_most_relevant_first(searched: Api) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    await post(
        searched, author, "Elsewhere", f"A long text about other things that has {word} once. " + "Filler. " * 60
    )
    await post(searched, author, f"All about {word}", f"{word} and {word} again: partitions.")
    await post(searched, author, "Unrelated", "Nothing of it.")

    await has(searched, word, [f"All about {word}", "Elsewhere"])
    assert await found(searched, f"{word} partition") == [f"All about {word}"]
    assert await found(searched, f"hello, I don't know the {word.upper()} of partitions!") == [f"All about {word}"]
    assert await found(searched, f"{word} missing") == []
    assert await found(searched, word, order="date") == [f"All about {word}", "Elsewhere"]


@pytest.mark.parametrize("order", ["relevance", "date"])
async def test_a_word_at_the_end_of_a_long_post_is_found(searched: Api, order: str) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    await post(searched, author, "Long", f"{'Filler. ' * 10_000}{word}")
    await has(searched, word, ["Long"], order=order)

    found = await searched.send("GET", f"/api/search?q={word}&order={order}")

    assert found.body["items"][0]["content"].startswith("Filler.")


@pytest.mark.parametrize("order", ["relevance", "date"])
async def test_a_post_without_optional_properties_is_found(searched: Api, searched_app: RunningApp, order: str) -> None:
    """The index has null for a missing property. A V1 post has neither counts nor a username."""
    word = unique("word").replace("-", "")
    post = a_post(a_user(), content=f"Text with {word}.")
    for name in ("userUsername", "commentCount", "likeCount", "version"):
        del post[name]
    account = searched_app.settings.account
    async with CosmosClient(account.endpoint, account.key) as client:
        database = client.get_database_client(searched_app.settings.database)
        await database.get_container_client("posts").create_item(post)
    await has(searched, word, [post["title"]], order=order)

    response = await searched.send("GET", f"/api/search?q={word}&order={order}")

    expected = {**post, "userUsername": "", "commentCount": 0, "likeCount": 0}
    assert response.body["items"] == [expected]


@pytest.mark.parametrize("order", ["relevance", "date"])
async def test_damaged_items_do_not_hide_the_others(searched: Api, searched_app: RunningApp, order: str) -> None:
    """They have been imported or written by hand."""
    word, date = unique("word").replace("-", ""), {"creationDate": "Tue, 01 Mar 2016 10:00:00 GMT"}
    author, content = a_user(), f"Text with {word}."
    post, dated, untitled, empty = (a_post(author, content=content) for _ in range(4))
    comment, anonymous = (a_comment(post, author) | {"content": content} for _ in range(2))
    del untitled["title"], empty["content"], anonymous["userId"]
    account = searched_app.settings.account
    async with CosmosClient(account.endpoint, account.key) as client:
        database = client.get_database_client(searched_app.settings.database)
        for item in (dated | date, untitled, empty | {"title": content}, anonymous, post, comment):
            await database.get_container_client("posts").create_item(item)
    expected = {post["id"], comment["id"]}

    async def are_found() -> bool:
        response = await searched.send("GET", f"/api/search?q={word}&order={order}")
        assert response.status == 200, response.body
        return {item["id"] for item in response.body["items"]} == expected

    await eventually(are_found)
    async with searched.session.get(f"{searched_app.url}/search?q={word}&order={order}") as page:
        assert page.status == 200
        shown = await page.text()
    assert all(item_id in shown for item_id in expected)


async def test_results_follow_edits_renames_and_deletions(searched: Api) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    first = await post(searched, author, "First", f"Text with {word}.")
    second = await post(searched, author, "Second", f"Text with {word}.")
    await has(searched, word, ["Second", "First"], order="date")

    edited = {"title": "First, edited", "content": "Without it."}
    await searched.send("PUT", f"/api/posts/{first['id']}", body=edited)
    await searched.send("DELETE", f"/api/posts/{second['id']}")
    third = await post(searched, author, "Third", f"Text with {word}.")
    await searched.send("PUT", f"/api/users/{author['id']}", body={"username": (name := unique("name")[:30])})

    async def is_renamed() -> bool:
        page = await searched.send("GET", f"/api/search?q={word}")
        return [(item["id"], item["userUsername"]) for item in page.body["items"]] == [(third["id"], name)]

    await eventually(is_renamed)


async def test_comments_are_found_until_they_are_deleted(searched: Api) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    one = await post(searched, author, "A post", f"Text with {word}.")
    other = await post(searched, author, "Another post", "Text without it.")
    comments = [await searched.new_comment(of, author, f"A remark on {word}s.") for of in (one, other)]
    await has(searched, word, ["A post", "a comment", "a comment"])

    page = (await searched.send("GET", f"/api/search?q={word}")).body
    assert sorted(page["items"][1:], key=lambda item: item["id"]) == sorted(comments, key=lambda item: item["id"])
    await searched.delete_comment(one["id"], comments[0]["id"])
    await has(searched, word, ["A post", "a comment"])
    await searched.delete_post(other["id"])
    await has(searched, word, ["A post"])


@pytest.mark.parametrize("order", ["relevance", "date"])
async def test_pages_have_each_post_and_comment_once(searched: Api, order: str) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    one = await post(searched, author, "A post", f"Text with {word}.")
    comments = [await searched.new_comment(one, author, f"A remark on {word}.") for _ in range(5)]
    posts = [await post(searched, author, f"Post {number}", f"Text with {word}.") for number in range(2)]
    expected = [item["id"] for item in (one, *comments, *posts)]

    async def are_found() -> bool:
        return len(await found(searched, word)) == len(expected)

    await eventually(are_found)
    pages, query = [], f"/api/search?q={word}&order={order}&limit=3"
    while True:
        page = (await searched.send("GET", query)).body
        pages.append([item["id"] for item in page["items"]])
        if "nextCursor" not in page:
            break
        query = f"/api/search?q={word}&order={order}&limit=3&cursor={page['nextCursor']}"

    shown = [item_id for page in pages for item_id in page]
    assert [len(page) for page in pages] == [3, 3, 2]
    assert sorted(shown) == sorted(expected)
    if order == "date":
        assert shown == expected[::-1]


@pytest.mark.parametrize("change", ["write", "delete"])
async def test_pages_by_date_stay_the_same_while_posts_are_written_and_deleted(
    searched: Api, searched_app: RunningApp, change: str
) -> None:
    word = unique("word").replace("-", "")
    author, content = a_user(), f"Text with {word}."
    # Three have the same date.
    posts = [a_post(author, second=max(0, number - 2), content=content) for number in range(6)]
    account = searched_app.settings.account
    async with CosmosClient(account.endpoint, account.key) as client:
        stored = client.get_database_client(searched_app.settings.database).get_container_client("posts")
        for item in (*posts, a_comment(posts[0], author, second=0) | {"content": content}):
            await stored.create_item(item)

        async def are_found() -> bool:
            return len(await found(searched, word)) == 7

        await eventually(are_found)
        query, shown = f"/api/search?q={word}&order=date&limit=2", []
        page = (await searched.send("GET", query)).body
        shown += page["items"]
        if change == "write":
            await stored.create_item(a_post(author, second=60, content=content))
        else:
            await stored.delete_item(page["items"][0]["id"], page["items"][0]["id"])
        first = page

        async def is_changed() -> bool:
            return (await searched.send("GET", query)).body["items"] != first["items"]

        await eventually(is_changed)
        while "nextCursor" in page:
            page = (await searched.send("GET", f"{query}&cursor={page['nextCursor']}")).body
            shown += page["items"]

    order = sorted(shown, key=lambda item: (item["creationDate"], item["id"]), reverse=True)
    assert shown == order
    assert len({item["id"] for item in shown}) == len(shown) == 7


async def test_a_page_has_at_most_20_results(searched: Api) -> None:
    """Each can be as long as the longest post, and all are read."""
    author, word = await searched.new_user(), unique("word").replace("-", "")
    one = await post(searched, author, "A post", "A text.")
    for _ in range(21):
        await searched.new_comment(one, author, f"With {word}.")
    await has(searched, word, ["a comment"] * 20, limit=100)

    assert "nextCursor" in (await searched.send("GET", f"/api/search?q={word}&limit=100")).body


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Straße und {}", "Straße {}"),
        ("ΟΔΟΣ {}", "ΟΔΟΣ {}"),
        ("Οδός {}", "οδός {}"),
        ("The \ufb01ne {}", "\ufb01ne {}"),
        ("I don’t {}", "don’t {}"),
        ("I don’t {}", "don't {}"),
        ("हिन्दी {}", "हिन्दी {}"),
        ("한국 {}", "한국 {}"),
        ("Crème {}", "cre\u0300me {}"),
        ("Cre\u0300me {}", "crème {}"),
        ("İstanbul {}", "İSTANBUL {}"),
        ("İstanbul {}", "istanbul {}"),
    ],
)
async def test_a_title_is_found_by_its_words(searched: Api, title: str, query: str) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    created = await post(searched, author, title.format(word), "A text.")

    await has(searched, query.format(word), [created["title"]])


@pytest.mark.parametrize("order", ["relevance", "date"])
async def test_pages_have_each_post_once(searched: Api, order: str) -> None:
    author, word = await searched.new_user(), unique("word").replace("-", "")
    titles = [f"Post {number}" for number in range(7)]
    for title in titles:
        await post(searched, author, title, f"Text with {word}.")

    async def are_found() -> bool:
        return len(await found(searched, word)) == len(titles)

    await eventually(are_found)
    pages: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        parameters = urlencode({"q": word, "order": order, "limit": 3} | cursor)
        page = (await searched.send("GET", f"/api/search?{parameters}")).body
        pages.append([item["title"] for item in page["items"]])
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}

    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(title for page in pages for title in page) == titles
    if order == "date":
        assert [title for page in pages for title in page] == titles[::-1]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("", "with the query parameter q"),
        ("q=", "with the query parameter q"),
        ("q=%20..%20", "has no word"),
        ("q=the+of+and", "very frequent words"),
        ("q=Hello%2C+don%27t", "very frequent words"),
        ("q=don%E2%80%99t", "very frequent words"),
        ("q=C%2B%2B+1.2.3+AT%26T", "single letters and digits"),
        (f"q={'a' * (QUERY_LENGTH + 1)}", "201 characters"),
        (f"q={quote_plus(' '.join(f'w{number}' for number in range(MOST_WORDS + 1)))}", "11 words"),
        ("q=a%00b", "U+0000"),
        ("q=a1&order=best", "relevance or date"),
        ("q=a1&cursor=-1", "nextCursor of a search"),
        ("q=a1&cursor=900", "nextCursor of a search"),
        ("q=a1&cursor=0-0", "nextCursor of a search"),
        ("q=a1&cursor=100-100", "nextCursor of a search"),
        ("q=a1&limit=0", "limit must be"),
        ("q=a1&cursor=WyIyMDI2IiwiYSJd", "nextCursor of this order"),
        ("q=a1&order=date&cursor=1-1", "nextCursor of this order"),
    ],
)
async def test_an_invalid_search_is_explained(searched: Api, query: str, detail: str) -> None:
    response = await searched.send("GET", f"/api/search?{query}")

    assert response.status == 400
    assert detail in response.body["detail"]


@pytest.mark.parametrize(
    "text", ["'; DROP", "@w0", "c.title) OR (true", '"quoted"', "l'été", "中文 搜索", "naïve café"]
)
async def test_any_text_can_be_searched(searched: Api, text: str) -> None:
    assert await found(searched, text) == []


async def test_a_search_reads_two_logical_partitions(searched: Api) -> None:
    response = await searched.send("GET", "/api/search?q=partition")

    assert 4 < float(response.headers["x-ms-request-charge"]) < 10


async def test_without_the_index_there_is_no_api(api: Api) -> None:
    assert (await api.send("GET", "/api/search?q=a1")).status == 404


def test_the_search_and_the_emulator_ignore_the_same_words() -> None:
    # Each has its own copy, because the blog does not import the local stack.
    assert stop_words.STOP_WORDS == STOP_WORDS


async def test_the_description_groups_the_search_under_its_name(searched: Api, searched_app: RunningApp) -> None:
    assert searched_app.openapi["paths"]["/search"]["get"]["tags"] == ["search"]
