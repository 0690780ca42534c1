"""More posts on the front page, in Chromium."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Locator, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.polling import eventually

pytestmark = pytest.mark.nightly


@pytest.fixture
async def author(api: Api) -> Json:
    """The author of 22 posts on the front page, which thus has more than it shows."""
    author = await api.new_user()
    posted = {f"post-{(await api.new_post(author))['id']}" for _ in range(22)}

    async def are_listed() -> bool:
        return posted <= set(await ids(api))

    await eventually(are_listed)
    return author


def posts(person: Person) -> Locator:
    return person.page.locator("ol.posts > li")


async def ids(api: Api) -> list[str]:
    """The IDs of the elements that the longest front page has."""
    return [f"post-{post['id']}" for post in (await api.get_feed(limit=100)).body["items"]]


async def test_more_posts_begin_below_the_last_one_despite_newer_ones(visit: Visit, api: Api, author: Json) -> None:
    ada = await visit()
    shown = await posts(ada).evaluate_all("items => items.map(item => item.id)")
    newest = await api.new_post(author, "The newest")

    async def is_listed() -> bool:
        return newest["id"] in await (await ada.page.request.get(f"{ada.url}/?limit=40")).text()

    await eventually(is_listed)
    await ada.page.get_by_role("link", name="Load more posts").click()

    await expect(posts(ada).nth(20)).to_be_focused()
    assert await posts(ada).evaluate_all("items => items.map(item => item.id)") == shown + (await ids(api))[21:40]


@pytest.mark.usefixtures("author")
async def test_more_posts_leave_out_one_that_this_tab_has_deleted(visit: Visit, api: Api) -> None:
    ada = await visit()
    following = (await ids(api))[20:40]
    # The feed still has it.
    deleted = json.dumps(json.dumps([following[0].removeprefix("post-")]))
    await ada.evaluate(f"sessionStorage.setItem('blog-deleted', {deleted})")

    await ada.page.get_by_role("link", name="Load more posts").click()

    await expect(ada.status).to_have_text(f"{len(following) - 1} more loaded.")
    await expect(posts(ada).nth(20)).to_be_focused()
    await expect(posts(ada).nth(20)).to_have_id(following[1])
    assert ada.page.url == f"{ada.url}/?limit=40#{following[1]}"


@pytest.mark.usefixtures("author")
async def test_the_focus_moves_to_the_last_post_if_there_are_no_more(visit: Visit) -> None:
    ada = await visit()
    await ada.page.route("**/?limit=40", lambda route: route.fulfill(body="<ol data-list></ol>"))

    await ada.page.get_by_role("link", name="Load more posts").click()

    await expect(ada.status).to_have_text("There are no more.")
    await expect(ada.page.get_by_role("link", name="Load more posts")).to_have_count(0)
    await expect(posts(ada).last).to_be_focused()
    assert ada.page.url == f"{ada.url}/"
