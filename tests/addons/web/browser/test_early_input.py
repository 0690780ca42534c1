"""What someone types and presses before the scripts of a page have loaded, or if they do not load, in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Locator, Route, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.polling import eventually

pytestmark = pytest.mark.nightly


@pytest.fixture
async def post(api: Api) -> Json:
    return await api.new_post(await api.new_user())


@asynccontextmanager
async def early(person: Person, path: str, script: str) -> AsyncIterator[None]:
    """The page before it has the script."""
    is_over = asyncio.Event()

    async def delay(route: Route) -> None:
        await is_over.wait()
        await route.continue_()

    await person.page.route(f"**/{script}", delay)
    await person.page.goto(person.url + path, wait_until="domcontentloaded")
    yield
    is_over.set()
    await person.page.wait_for_load_state("networkidle")


def comment_field(person: Person) -> Locator:
    return person.page.get_by_label("Your comment")


async def test_a_comment_submitted_before_its_script_is_kept_and_can_be_sent(
    visit: Visit, api: Api, post: Json
) -> None:
    ada = await visit()
    await ada.sign_up()
    button = ada.page.get_by_role("button", name="Comment", exact=True)
    async with early(ada, f"/posts/{post['id']}", "optimistic.js"):
        await comment_field(ada).fill("Typed early.")
        await button.click(force=True)

    assert ada.page.url == f"{ada.url}/posts/{post['id']}"
    await expect(comment_field(ada)).to_have_value("Typed early.")
    await button.click()
    await expect(ada.status).to_have_text("Your comment is published.")
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_a_comment_typed_before_its_script_is_kept_beside_an_unsent_one(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await comment_field(ada).fill("Unsent.")
    async with early(ada, f"/posts/{post['id']}", "optimistic.js"):
        await comment_field(ada).fill("Typed early.")

    await expect(comment_field(ada)).to_have_value("Unsent.\n\nTyped early.")
    await ada.page.reload()
    await expect(comment_field(ada)).to_have_value("Unsent.\n\nTyped early.")


@pytest.mark.parametrize("submit", ["button", "Enter"])
async def test_a_post_submitted_before_its_script_is_kept_and_can_be_published(visit: Visit, submit: str) -> None:
    ada = await visit()
    await ada.sign_up()
    title, button = ada.page.get_by_label("Title"), ada.page.get_by_role("button", name="Publish")
    async with early(ada, "/write", "editor.js"):
        await ada.page.get_by_label("Text").fill("Some text.")
        await title.fill("Typed early")
        await (button.click(force=True) if submit == "button" else title.press("Enter"))

    assert ada.page.url == f"{ada.url}/write"
    await expect(title).to_have_value("Typed early")
    await button.click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("Typed early")


@pytest.mark.parametrize("script", ["editor.js", "optimistic.js"])
async def test_a_script_that_does_not_load_is_reported_with_advice(visit: Visit, post: Json, script: str) -> None:
    ada = await visit()
    ada.expected.append("Failed to fetch dynamically imported module")
    await ada.fail("GET", f"**/{script}")

    await ada.open("/write" if script == "editor.js" else f"/posts/{post['id']}")

    await expect(ada.alert).to_have_text("A part of this page could not be loaded. Reload the page.")
    # The console shows the cause.
    await eventually(lambda: any(ada.expected[0] in error for error in ada.log.errors), deadline_s=10)
