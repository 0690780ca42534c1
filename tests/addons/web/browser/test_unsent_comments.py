"""The text of a comment is kept until it is published, in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Locator, Route, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json

pytestmark = pytest.mark.nightly


@pytest.fixture
async def post(api: Api) -> Json:
    return await api.new_post(await api.new_user())


def field(person: Person) -> Locator:
    return person.page.get_by_label("Your comment")


@asynccontextmanager
async def lost_answers(person: Person) -> AsyncIterator[asyncio.Event]:
    """Let the database store comments, but withhold the answers. The event tells that one is stored."""
    is_stored = asyncio.Event()
    is_over = asyncio.Event()

    async def withhold(route: Route) -> None:
        await route.fetch()
        is_stored.set()
        await is_over.wait()

    await person.page.route("**/comments", withhold)
    yield is_stored
    is_over.set()
    await person.page.unroute("**/comments")


async def test_a_typed_comment_survives_a_reload_and_a_visit_of_another_page(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await field(ada).fill("Half a tho")

    await ada.page.reload()
    await expect(field(ada)).to_have_value("Half a tho")
    await ada.open("/")
    await ada.open(f"/posts/{post['id']}")

    await expect(field(ada)).to_have_value("Half a tho")


@pytest.mark.parametrize("status", [None, 500])
async def test_a_comment_that_fails_survives_a_reload(visit: Visit, post: Json, status: int | None) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    await ada.fail("POST", "**/api/**", status)
    await ada.comment("Well put.")
    await expect(ada.alert).not_to_be_empty()

    await ada.page.reload()

    await expect(field(ada)).to_have_value("Well put.")


async def test_a_comment_on_its_way_and_the_next_one_survive_leaving_the_page(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    async with lost_answers(ada) as is_stored:
        await ada.comment("First.")
        await is_stored.wait()
        await field(ada).fill("Second.")

        await ada.open("/")
        await ada.open(f"/posts/{post['id']}")

        await expect(field(ada)).to_have_value("First.\n\nSecond.")


async def test_a_comment_sent_again_on_a_later_page_is_published_once(visit: Visit, api: Api, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    async with lost_answers(ada) as is_stored:
        await ada.comment("Well put.")
        await is_stored.wait()
        await ada.page.reload()
    await expect(ada.comments).to_have_count(1)
    await expect(field(ada)).to_have_value("Well put.")

    await ada.page.get_by_role("button", name="Comment", exact=True).click()

    await expect(ada.status).to_have_text("Your comment is published.")
    await expect(ada.comments).to_have_count(1)
    await expect(ada.page.locator("[data-comment-count]")).to_have_text("1")
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_a_published_comment_is_not_in_the_field_any_more(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")

    await ada.page.reload()
    await expect(ada.comments).to_have_count(1)
    await expect(field(ada)).to_have_value("")
    await ada.open("/")
    await ada.page.go_back()

    await expect(field(ada)).to_have_value("")


async def test_a_comment_of_white_space_is_refused_at_the_field(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()

    await ada.comment("  \n ")

    await expect(field(ada)).to_be_focused()
    await expect(field(ada)).to_have_js_property("validationMessage", "This is empty. Write something.")
    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")
