"""Returning to the editor after Save or Publish, in Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Route, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.items import unique

pytestmark = pytest.mark.nightly


@pytest.fixture
async def author(api: Api) -> Json:
    return await api.new_user()


@pytest.fixture
async def post(api: Api, author: Json) -> Json:
    return await api.new_post(author)


def title(person: Person) -> Locator:
    return person.page.get_by_label("Title")


async def stay(person: Person) -> None:
    """Let the browser stay on the page when it opens a post, as a page in the back/forward cache does.

    Playwright disables that cache. `come_back` then does what the cache does to a page.
    """

    async def refuse(route: Route) -> None:
        is_navigation = route.request.is_navigation_request()
        await (route.fulfill(status=204) if is_navigation else route.fallback())

    await person.page.route("**/posts/**", refuse)


async def come_back(person: Person) -> None:
    for event in ("pagehide", "pageshow"):
        await person.evaluate(f"dispatchEvent(new PageTransitionEvent('{event}', {{persisted: true}}))")


async def test_back_after_saving_shows_the_edit_and_saves_again(
    visit: Visit, api: Api, author: Json, post: Json
) -> None:
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await title(ada).fill("A better title")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("A better title")

    await ada.page.go_back()

    await expect(title(ada)).to_have_value("A better title")
    await expect(ada.page.locator("[data-kept]")).to_be_empty()
    await ada.page.get_by_label("Text", exact=True).fill("Better text.")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.locator("article.post .prose")).to_have_text("Better text.")
    edited = (await api.get_post(post["id"])).body
    assert (edited["title"], edited["content"]) == ("A better title", "Better text.")


async def test_back_after_publishing_shows_an_empty_editor(visit: Visit, author: Json) -> None:
    ada = await visit("/write")
    await ada.be(author)
    await title(ada).fill(unique("Engines"))
    await ada.page.get_by_label("Text", exact=True).fill("Some text.")
    await ada.page.get_by_role("button", name="Publish").click()
    await expect(ada.page.locator("article.post")).to_be_visible()

    await ada.page.go_back()

    await expect(title(ada)).to_have_value("")
    await expect(ada.page.get_by_role("button", name="Publish")).to_be_enabled()


async def test_the_cached_page_shows_the_current_version_and_saves_again(
    visit: Visit, api: Api, author: Json, post: Json
) -> None:
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await stay(ada)
    await title(ada).fill("A better title")
    async with ada.page.expect_response(lambda response: response.status == 204):
        await ada.page.get_by_role("button", name="Save").click()
    await api.edit_post(post["id"], "From elsewhere", "Other text.")

    await come_back(ada)

    await expect(title(ada)).to_have_value("From elsewhere")
    await expect(ada.page.get_by_role("button", name="Save")).to_be_enabled()
    await title(ada).fill("A third title")
    async with ada.page.expect_response(lambda response: response.status == 204):
        await ada.page.get_by_role("button", name="Save").click()
    assert (await api.get_post(post["id"])).body["title"] == "A third title"


async def test_the_cached_page_of_a_published_post_is_an_empty_editor(visit: Visit, author: Json) -> None:
    ada = await visit("/write")
    await ada.be(author)
    await stay(ada)
    await title(ada).fill(unique("Engines"))
    await ada.page.get_by_label("Text", exact=True).fill("Some text.")
    async with ada.page.expect_response(lambda response: response.status == 204):
        await ada.page.get_by_role("button", name="Publish").click()

    await come_back(ada)

    await expect(title(ada)).to_have_value("")
    await expect(ada.page.get_by_role("button", name="Publish")).to_be_enabled()


async def test_a_draft_of_an_earlier_version_is_kept_apart(visit: Visit, api: Api, author: Json, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await title(ada).fill("A draft")
    await ada.open("/")
    await api.edit_post(post["id"], "From elsewhere", "Other text.")
    ada.expected.append("412 (Precondition Failed)")

    await ada.page.go_back()

    await expect(title(ada)).to_have_value("From elsewhere")
    await expect(ada.status).to_contain_text("A draft of an earlier version")
    await ada.page.get_by_role("button", name="Drafts (1)").click()
    await ada.page.get_by_role("button", name="Continue “A draft”").click()
    await expect(title(ada)).to_have_value("A draft")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.locator(".notice[role=alert]")).to_contain_text("has changed since")
    assert (await api.get_post(post["id"])).body["title"] == "From elsewhere"


async def test_a_draft_of_the_current_version_is_back_despite_likes(
    visit: Visit, api: Api, author: Json, post: Json
) -> None:
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await title(ada).fill("A draft")
    await ada.open("/")
    await api.new_like(post, author)

    await ada.page.go_back()

    await expect(title(ada)).to_have_value("A draft")
    await expect(ada.page.locator("[data-kept]")).to_have_text("Draft kept on this device.")
