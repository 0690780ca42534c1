"""Search in all posts, by the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from addons.web.relative_time import exact_day
from tests.accessibility import violations
from tests.addons.web.browser.person import Person
from tests.addons.web.pages import Site
from tests.api import Api, Json
from tests.browser import DESKTOP, PHONE
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp


@pytest.fixture
async def author(searched: Api) -> Json:
    return await searched.new_user()


@pytest.fixture
async def pages(searched: Api, searched_app: RunningApp) -> Site:
    return Site(searched.session, searched_app.url)


async def posted(api: Api, author: Json, title: str, content: str, *, word: str) -> Json:
    """Create a post, and wait until a search finds it."""
    post = await api.new_post(author, title, content)

    async def is_found() -> bool:
        page = await api.send("GET", f"/api/search?q={word}&order=date")
        return [item["id"] for item in page.body["items"]][:1] == [post["id"]]

    await eventually(is_found)
    return post


@pytest.mark.nightly
@pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_a_visitor_finds_a_post(
    browser: Browser, searched: Api, searched_app: RunningApp, author: Json, device: dict[str, Any]
) -> None:
    word = unique("zebra").replace("-", "")
    title, content = f"About {word}", f"# Heading\n\nThis has <b>{word}s</b> & **more**. " + "It is long. " * 40
    post = await posted(searched, author, title, content, word=word)
    ada = Person(await (await browser.new_context(**device)).new_page(), searched_app.url)
    await ada.open("/")

    await ada.page.get_by_role("navigation").get_by_role("link", name="Search").click()
    await ada.page.get_by_role("searchbox").fill(f"the {word}")
    await ada.page.get_by_role("button", name="Search").click()

    result = ada.page.locator(f"#post-{post['id']}")
    await expect(result.locator("mark")).to_have_text([word, f"{word}s"])
    await expect(result).to_contain_text("This has ")
    assert await violations(ada.page) == []
    await ada.page.get_by_label("Newest first").check()
    await ada.page.get_by_role("button", name="Search").click()
    await expect(ada.page).to_have_url(f"{searched_app.url}/search?q=the+{word}&order=date")
    await result.get_by_role("link", name=title).click()
    await expect(ada.page.get_by_role("heading", name=title)).to_be_visible()
    ada.assert_no_errors()


async def test_a_found_comment_is_shown_on_its_post(
    browser: Browser, searched: Api, searched_app: RunningApp, author: Json
) -> None:
    word = unique("okapi").replace("-", "")
    post = await searched.new_post(author)
    comment = await searched.new_comment(post, author, f"A *remark* on {word}.")

    async def is_found() -> bool:
        return bool((await searched.send("GET", f"/api/search?q={word}")).body["items"])

    await eventually(is_found)
    ada = Person(await (await browser.new_context(**PHONE)).new_page(), searched_app.url)
    await ada.open(f"/search?q={word}")
    result = ada.page.locator(f"#comment-{comment['id']}")

    await expect(result).to_contain_text(f"A *remark* on {word}.")
    await expect(result.locator("mark")).to_have_text([word])
    assert await violations(ada.page) == []
    await result.get_by_role(
        "link", name=f"Comment by {author['username']}, {exact_day(comment['creationDate'])}"
    ).click()
    await expect(ada.page.locator(f"#comment-{comment['id']}")).to_contain_text(word)
    ada.assert_no_errors()


async def test_advice_keeps_the_order(pages: Site) -> None:
    shown = await pages.get("/search?q=the&order=date")

    assert shown.page.one("input", value="date").get("checked") is not None


async def test_more_results_are_on_the_next_page(searched: Api, pages: Site, author: Json) -> None:
    word = unique("giraffe").replace("-", "")
    for number in range(3):
        await posted(searched, author, f"Post {number}", f"With {word}.", word=word)

    first = await pages.get(f"/search?q={word}&order=date&limit=2")
    second = await pages.get(f"/search{first.page.one('a', rel='next')['href']}&limit=2")

    assert "Post 2" in first.text
    assert "Post 0" not in first.text
    assert "Post 0" in second.text
    assert second.page.all("a", rel="next") == []
    assert first.page.all("a", href=f"?q={word}&order=date") == []
    assert second.page.one("a", href=f"?q={word}&order=date").text == "First results"
    after = await pages.get(f"/search?q={word}&cursor=3-0")
    assert "Nothing found" not in after.text
    assert after.page.one("a", href=f"?q={word}&order=relevance").text == "First results"


@pytest.mark.parametrize("place", [0, 30_000])
async def test_the_part_of_a_post_around_a_word_is_shown(searched: Api, pages: Site, author: Json, place: int) -> None:
    word = unique("zebra").replace("-", "")
    await posted(
        searched,
        author,
        "Long",
        f"{'Filler. ' * (place // 8)}Some **{word.title()}s** here. {'More. ' * 90}",
        word=word,
    )

    shown = await pages.get(f"/search?q={word}")

    assert shown.page.one("mark").text == f"{word.title()}s"
    assert "Some " in shown.page.one("p", **{"class": "summary"}).text


async def test_more_results_have_those_before_one_that_is_shown(
    browser: Browser, searched: Api, searched_app: RunningApp, author: Json
) -> None:
    """Posts that rank higher since move a result of the first page to the second, behind one that is new there."""
    word = unique("gnu").replace("-", "")
    await posted(searched, author, "First", f"A {word}.", word=word)
    known = await posted(searched, author, "Second", f"A {word}.", word=word)
    ada = Person(await (await browser.new_context(**DESKTOP)).new_page(), searched_app.url)
    await ada.open(f"/search?q={word}&order=date&limit=1")
    items = ada.page.locator("[data-list] > li")
    await expect(items).to_have_count(1)
    ids = [f"post-{known['id']}", "post-new", "post-last"]

    async def second_page(route: Route) -> None:
        listed = "".join(f'<li id="{item_id}">A post</li>' for item_id in (ids[1], ids[0], ids[2]))
        await route.fulfill(content_type="text/html", body=f"<ol data-list>{listed}</ol><p data-end>The end.</p>")

    await ada.page.route("**/search?*cursor*", second_page)
    await ada.page.get_by_role("link", name="More results").click()

    await expect(items).to_have_count(len(ids))
    assert await items.evaluate_all("items => items.map(item => item.id)") == ids
    await expect(ada.page.get_by_text("The end.")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("q=the+of", "very frequent words"),
        ("q=%3F%3F", "no word"),
        ("q=" + "a" * 201, "201 characters"),
        ("q=a1&order=best", "relevance or date"),
    ],
)
async def test_a_search_that_cannot_work_is_explained_on_the_page(pages: Site, query: str, advice: str) -> None:
    shown = await pages.get(f"/search?{query}")

    assert shown.status == 200
    assert advice in shown.page.one("p", id="advice").text
    # That is for clients of the API.
    assert "parameter" not in shown.text


async def test_text_of_visitors_and_authors_is_escaped(searched: Api, pages: Site, author: Json) -> None:
    word = unique("lion").replace("-", "")
    hostile = f"\"><script>alert('{word}')</script>"
    await posted(searched, author, hostile, hostile, word=word)

    shown = await pages.get(f"/search?q={word}+%22%3E%3Cscript%3Ealert")

    assert shown.status == 200
    assert "<script>alert" not in shown.text


async def test_nothing_found_and_nothing_entered(pages: Site) -> None:
    assert "Nothing found" in (await pages.get(f"/search?q={unique('nothing')}")).text
    empty = await pages.get("/search")
    assert "Nothing found" not in empty.text
    assert empty.status == 200


async def test_without_the_index_the_page_says_so_and_nothing_links_to_it(site: Site) -> None:
    assert "The search is off" in (await site.get("/search?q=a1")).text
    assert "/search" not in (await site.get("/")).text
