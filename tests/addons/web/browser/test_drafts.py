"""Drafts of posts: one per tab, kept until they are published or discarded, in Chromium."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.accessibility import violations
from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.items import unique

KEPT = "Draft kept on this device."


class Tab:
    """A tab with the editor."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.title = page.get_by_label("Title")
        self.text = page.get_by_label("Text", exact=True)
        self.note = page.locator("[data-kept]")
        self.toggle = page.locator("[data-drafts-toggle]")
        self.drafts = page.locator("#drafts > li")

    def draft(self, title: str) -> Locator:
        return self.drafts.filter(has_text=title)


async def new_tab(person: Person, path: str = "/write") -> Tab:
    page = await person.page.context.new_page()
    await page.goto(person.url + path, wait_until="networkidle")
    return Tab(page)


async def sign_out(person: Person) -> None:
    await person.choose("Sign out")


async def sign_in_again(person: Person, user: Json) -> None:
    await person.page.get_by_role("button", name="Sign in").click()
    await person.dialog.get_by_role("button", name=user["username"]).click()


async def test_the_editor_says_that_a_draft_is_kept(visit: Visit) -> None:
    ada = await visit("/write")
    tab = Tab(ada.page)
    await expect(tab.note).to_be_empty()
    await expect(ada.page.get_by_role("button", name="Discard draft")).to_be_hidden()

    await tab.title.fill("Unfinished")
    await expect(tab.note).to_have_text(KEPT)
    await ada.page.get_by_role("button", name="Discard draft").click()

    await expect(tab.title).to_have_value("")
    await expect(tab.title).to_be_focused()
    await expect(tab.note).to_be_empty()
    await ada.page.reload()
    await expect(tab.title).to_have_value("")


async def test_the_editor_says_if_a_draft_cannot_be_kept(visit: Visit) -> None:
    ada = await visit("/write")
    tab = Tab(ada.page)
    await ada.evaluate("localStorage.setItem('full', 'x'.repeat(5 * 2 ** 20 - 1000))")

    await tab.text.fill("long " * 1_000)

    await expect(tab.note).to_contain_text("cannot be kept")


async def test_each_tab_keeps_its_own_draft(visit: Visit) -> None:
    ada = await visit("/write")
    first, second = Tab(ada.page), await new_tab(ada)
    await first.title.fill("From the first tab")
    await second.title.fill("From the second tab")

    await first.page.reload()
    await second.page.reload()

    await expect(first.title).to_have_value("From the first tab")
    await expect(second.title).to_have_value("From the second tab")


async def with_a_draft(visit: Visit, author: Json) -> tuple[Person, Tab]:
    """Someone who writes a post with the title "By Ada", and the editor in their tab."""
    ada = await visit("/write")
    tab = Tab(ada.page)
    await ada.be(author)
    await tab.title.fill("By Ada")
    return ada, tab


async def test_a_draft_is_offered_only_to_its_author(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    ada, tab = await with_a_draft(visit, author)
    await ada.open("/")
    await sign_out(ada)
    await ada.sign_up("bob")

    await ada.open("/write")
    await expect(tab.title).to_have_value("")
    await expect(tab.toggle).to_be_hidden()
    await tab.title.fill("By Bob")
    await ada.open("/")
    await sign_out(ada)
    await sign_in_again(ada, author)
    await ada.open("/write")

    await expect(tab.title).to_have_value("By Ada")
    await expect(tab.toggle).to_be_hidden()


@pytest.mark.nightly
async def test_a_draft_is_offered_when_its_author_signs_in(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    ada, tab = await with_a_draft(visit, author)
    await ada.open("/")
    await sign_out(ada)
    await ada.open("/write")
    await expect(tab.title).to_have_value("")

    await sign_in_again(ada, author)

    await expect(tab.title).to_have_value("By Ada")


@pytest.mark.nightly
async def test_someone_else_continues_an_open_draft_as_a_copy(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    ada, tab = await with_a_draft(visit, author)

    await sign_out(ada)
    await ada.sign_up("bob")
    await tab.title.fill("By Bob")
    await ada.page.get_by_role("button", name="Discard draft").click()
    await sign_out(ada)
    await sign_in_again(ada, author)

    await expect(tab.title).to_have_value("By Ada")


@pytest.mark.nightly
@pytest.mark.parametrize("is_old", [True, False])
async def test_a_draft_without_a_user_is_offered_to_anybody(visit: Visit, is_old: bool) -> None:
    ada = await visit("/write")
    tab = Tab(ada.page)
    if is_old:
        # As earlier versions of the site kept it.
        draft = json.dumps({"title": "Unfinished", "content": "", "date": time.time() * 1000})
        await ada.evaluate(f"localStorage.setItem('blog-draft:new:0', {json.dumps(draft)})")
    else:
        await tab.title.fill("Unfinished")
    await ada.open("/")
    await ada.sign_up()

    await ada.open("/write")

    await expect(tab.title).to_have_value("Unfinished")


@pytest.mark.nightly
@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_the_editor_shows_others_the_post_and_not_its_draft(visit: Visit, api: Api, is_signed_in: bool) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}/edit")
    tab = Tab(ada.page)
    await ada.be(author)
    await tab.title.fill("A draft")
    await tab.text.fill("A *draft*.")
    await expect(ada.page.locator("[data-preview]")).to_have_text("A draft.")

    # At once, and on the next visit.
    await sign_out(ada)
    if is_signed_in:
        await ada.sign_up("bob")
    await expect(ada.page.locator("[data-preview]")).to_have_text(post["content"])
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(post["title"])
    await ada.open(f"/posts/{post['id']}/edit")
    await expect(ada.page.get_by_text("Only its author can edit this post.")).to_be_visible()
    await expect(ada.page.locator("[data-preview]")).to_have_text(post["content"])
    await expect(tab.toggle).to_be_hidden()
    if is_signed_in:
        await sign_out(ada)
    await sign_in_again(ada, author)

    await expect(tab.text).to_have_value("A *draft*.")


@pytest.mark.nightly
async def test_publishing_in_one_tab_leaves_the_draft_of_another(visit: Visit) -> None:
    ada = await visit("/write")
    await ada.sign_up()
    first, second = Tab(ada.page), await new_tab(ada)
    await second.title.fill("From the second tab")
    await first.title.fill(unique("Published"))
    await first.text.fill("Some text.")

    await first.page.get_by_role("button", name="Publish").click()
    await expect(ada.page.locator("article.post")).to_be_visible()
    await second.page.reload()

    await expect(second.title).to_have_value("From the second tab")
    await ada.open("/write")
    await expect(first.title).to_have_value("")


@pytest.mark.nightly
async def test_a_new_tab_does_not_take_the_draft_that_another_has_open(visit: Visit) -> None:
    ada = await visit("/write")
    first = Tab(ada.page)
    await first.title.fill("From the first tab")

    second = await new_tab(ada)
    await second.toggle.click()
    await expect(second.draft("From the first tab")).to_contain_text("open in another tab")
    await expect(second.title).to_have_value("")

    # Continuing it makes a copy.
    await second.draft("From the first tab").get_by_role("button", name="Continue").click()
    await expect(second.title).to_have_value("From the first tab")
    await second.title.fill("From the second tab")
    await first.page.reload()
    await expect(first.title).to_have_value("From the first tab")


@pytest.mark.nightly
async def test_a_duplicated_tab_has_a_draft_of_its_own(visit: Visit) -> None:
    ada = await visit("/write")
    first = Tab(ada.page)
    await first.title.fill("From the first tab")

    # A window that a page opens has a copy of its sessionStorage, like a duplicated tab.
    async with ada.page.expect_popup() as opened:
        await ada.evaluate("void open('/write')")
    second = Tab(await opened.value)
    await expect(second.toggle).to_be_visible()
    await second.title.fill("From the second tab")
    await first.page.reload()

    await expect(first.title).to_have_value("From the first tab")


@pytest.mark.nightly
async def test_a_tab_duplicated_on_another_page_continues_a_copy(visit: Visit) -> None:
    ada = await visit("/write")
    first = Tab(ada.page)
    await first.title.fill("Before")
    await ada.open("/")
    async with ada.page.expect_popup() as opened:
        await ada.evaluate("void open('/write')")
    second = Tab(await opened.value)
    await expect(second.title).to_have_value("Before")

    await ada.open("/write")
    await expect(first.title).to_have_value("Before")
    await first.title.fill("From the first tab")
    await second.title.fill("From the second tab")
    await first.page.reload()

    await expect(first.title).to_have_value("From the first tab")


@pytest.mark.nightly
async def test_the_draft_of_a_closed_tab_is_back(visit: Visit) -> None:
    ada = await visit()
    closed = await new_tab(ada)
    await closed.title.fill("Unfinished")
    await closed.page.close()

    tab = await new_tab(ada)

    await expect(tab.title).to_have_value("Unfinished")
    await expect(tab.note).to_have_text(KEPT)
    await expect(tab.toggle).to_be_hidden()


@pytest.mark.nightly
async def test_several_drafts_are_a_list_to_continue_or_delete(visit: Visit) -> None:
    ada = await visit()
    tabs = [await new_tab(ada), await new_tab(ada), await new_tab(ada)]
    for number, closed in enumerate(tabs):
        await closed.title.fill(f"Draft {number}")
        await closed.text.fill(f"The text of draft {number}.")
    for closed in tabs:
        await closed.page.close()

    tab = await new_tab(ada)
    await expect(tab.title).to_have_value("")
    await expect(tab.page.locator("#status")).to_contain_text("3 drafts")
    await tab.toggle.click()
    await expect(tab.drafts).to_have_count(3)
    await expect(tab.drafts.first).to_contain_text("Draft 2")
    person = Person(tab.page, ada.url)
    assert await violations(person.page) == []
    await tab.draft("Draft 0").get_by_role("button", name="Delete").click()
    await person.confirm()
    await expect(tab.drafts).to_have_count(2)
    await tab.draft("Draft 1").get_by_role("button", name="Continue").click()

    await expect(tab.title).to_have_value("Draft 1")
    await expect(tab.text).to_have_value("The text of draft 1.")
    await expect(tab.title).to_be_focused()
    # What the tab had is kept when it continues another.
    await tab.toggle.click()
    await tab.draft("Draft 2").get_by_role("button", name="Continue").click()
    await expect(tab.title).to_have_value("Draft 2")
    await tab.toggle.click()
    await expect(tab.drafts).to_have_count(1)
    await expect(tab.drafts).to_contain_text(["Draft 1"])


@pytest.mark.nightly
async def test_cancel_says_that_a_draft_is_kept(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit("/write")
    await ada.be(author)

    await ada.page.get_by_role("link", name="Cancel").click()
    await expect(ada.page).to_have_url(f"{ada.url}/")
    await expect(ada.status).to_be_empty()

    for path, title in (("/write", "A new post"), (f"/posts/{post['id']}/edit", "An edit")):
        await ada.open(path)
        await ada.page.get_by_label("Title").fill(title)
        await ada.page.get_by_role("link", name="Cancel").click()
        await expect(ada.status).to_contain_text("Your draft is kept on this device.")
        await ada.open(path)
        await expect(ada.page.get_by_label("Title")).to_have_value(title)


async def test_the_text_cannot_change_while_it_is_published(visit: Visit) -> None:
    ada = await visit("/write")
    tab = Tab(ada.page)
    await ada.sign_up()
    ada.expected.append("503 (Service Unavailable)")
    is_over = asyncio.Event()

    async def fail_later(route: Route) -> None:
        await is_over.wait()
        await route.fulfill(status=503, json={"title": "Unavailable"})

    await ada.page.route("**/api/posts", fail_later)
    await tab.title.fill("Finished")
    await tab.text.fill("Some text.")

    await ada.page.get_by_role("button", name="Publish").click()

    await expect(tab.text).not_to_be_editable()
    await expect(tab.title).not_to_be_editable()
    await expect(ada.page.get_by_role("button", name="Discard draft")).to_be_disabled()
    is_over.set()
    await expect(ada.alert).to_contain_text("Wait a few seconds")
    await expect(tab.text).to_be_editable()
    await tab.text.fill("Some better text.")
    await ada.page.unroute("**/api/posts")
    await ada.page.get_by_role("button", name="Publish").click()
    await expect(ada.page.locator(".prose")).to_have_text("Some better text.")


@pytest.mark.nightly
async def test_only_a_failure_of_the_preview_is_announced(visit: Visit) -> None:
    ada = await visit("/write")
    tab = Tab(ada.page)
    await tab.text.fill("Some *text*.")
    await expect(ada.page.locator("[data-preview] em")).to_have_text("text")
    assert await ada.page.locator("[aria-live], [role=status], [role=alert]").filter(has_text="Some text.").count() == 0

    await ada.fail("POST", "**/preview", 503)
    await tab.text.fill("Other *text*.")

    await expect(ada.page.get_by_role("status").filter(has_text="The preview is not available.")).to_be_visible()
    await expect(ada.page.locator("[data-preview]")).to_be_empty()
    await ada.page.unroute("**/preview")
    await tab.text.fill("Better *text*.")
    await expect(ada.page.locator("[data-preview]")).to_have_text("Better text.")
    await expect(ada.page.get_by_text("The preview is not available.")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
async def test_publishing_and_saving_are_confirmed(visit: Visit, width: int) -> None:
    ada = await visit("/write", viewport={"width": width, "height": 800})
    await ada.sign_up()
    tab = Tab(ada.page)
    await tab.title.fill(unique("Engines"))
    await tab.text.fill("Some text.")

    await ada.page.get_by_role("button", name="Publish").click()
    await expect(ada.status).to_have_text("Your post is published.")
    await ada.page.get_by_role("link", name="Edit").click()
    await tab.text.fill("Other text.")
    await ada.page.get_by_role("button", name="Save").click()

    await expect(ada.status).to_have_text("Your changes are saved.")
    await expect(ada.page.locator(".prose")).to_have_text("Other text.")


@pytest.mark.nightly
@pytest.mark.parametrize("width", [390, 1280])
async def test_messages_do_not_cover_what_they_announce(visit: Visit, api: Api, width: int) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit("/write", viewport={"width": width, "height": 844})
    await ada.page.get_by_label("Title").fill("Unfinished")
    await ada.page.reload()
    await expect(ada.status).to_contain_text("Discard draft")
    assert not await overlap(ada.status, ada.page.get_by_role("button", name="Discard draft"))

    await ada.open(f"/posts/{post['id']}")
    await ada.sign_up()
    # The comment appears at the lower edge of the window.
    button = ada.page.get_by_role("button", name="Comment", exact=True)
    await ada.page.get_by_label("Your comment").fill("Well put.")
    bottom = await button.evaluate("element => element.getBoundingClientRect().bottom + scrollY")
    await ada.page.set_viewport_size({"width": width, "height": int(bottom) + 100})
    await button.click()
    await expect(ada.status).to_have_text("Your comment is published.")
    assert not await overlap(ada.status, ada.comments.first)

    await ada.fail("POST", "**/comments", 500)
    await ada.comment("Another one.")
    await expect(ada.alert).not_to_be_empty()
    assert not await overlap(ada.alert, ada.page.get_by_label("Your comment"))
    assert not await overlap(ada.alert, button)


async def overlap(one: Locator, other: Locator) -> bool:
    boxes = [await found.bounding_box() for found in (one, other)]
    first, second = [box for box in boxes if box is not None]
    return all(
        first[start] < second[start] + second[size] and second[start] < first[start] + first[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


DRAFTS = "Object.keys(localStorage).filter(key => key.startsWith('blog-draft:')).length"


@pytest.mark.nightly
async def test_drafts_go_with_their_post_or_the_account(visit: Visit, api: Api) -> None:
    ada = await visit()
    await ada.sign_up()
    user_id = (await ada.evaluate("JSON.parse(localStorage.getItem('blog-user'))"))["id"]
    post = (await api.create_post(user_id, "A title", "Some content.")).body
    for path in ("/write", f"/posts/{post['id']}/edit"):
        await ada.open(path)
        await Tab(ada.page).text.fill("Unfinished")
        await expect(Tab(ada.page).note).to_have_text(KEPT)
    assert await ada.evaluate(DRAFTS) == 2

    await ada.open(f"/posts/{post['id']}")
    await ada.page.locator("[data-delete-post]").click()
    await ada.confirm()
    await expect(ada.page).to_have_url(f"{ada.url}/")
    assert await ada.evaluate(DRAFTS) == 1

    await ada.open(f"/users/{user_id}")
    await ada.page.locator("[data-delete-account]").click()
    await ada.page.get_by_label("Type your username").fill(await ada.page.locator("h1[data-username]").inner_text())
    await ada.confirm()
    await expect(ada.page).to_have_url(f"{ada.url}/")
    assert await ada.evaluate(DRAFTS) == 0


async def test_a_draft_expires(visit: Visit) -> None:
    ada = await visit()
    for days in (29, 31):
        draft = f"{{title: 'x', content: 'y', date: Date.now() - {days} * 86400000}}"
        await ada.evaluate(f"localStorage.setItem('blog-draft:new:{days}', JSON.stringify({draft}))")

    await ada.open("/")

    assert await ada.evaluate("Object.keys(localStorage).filter(key => key.startsWith('blog-draft:'))") == [
        "blog-draft:new:29"
    ]
