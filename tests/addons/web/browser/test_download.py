"""Downloading one's data as a file, in Chromium."""

from __future__ import annotations

import asyncio
import json

import pytest
from playwright.async_api import Locator, Route, expect

from tests.accessibility import violations
from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json

pytestmark = pytest.mark.nightly

NAME = "Download your data"


@pytest.fixture
async def user(api: Api) -> Json:
    author = await api.new_user()
    post = await api.new_post(author)
    for number in range(4):
        await api.new_comment(post, author, f"Comment {number}.")
    return author


async def at_home(visit: Visit, user: Json, **options: object) -> Person:
    person: Person = await visit(f"/users/{user['id']}", **options)
    await person.be(user)
    return person


def button_of(person: Person, name: str = NAME) -> Locator:
    return person.page.locator("section.account > .download").get_by_role("button", name=name)


def progress_of(person: Person) -> Locator:
    return person.page.locator("section.account > .download [data-download-progress]")


async def small_pages(person: Person) -> None:
    """Let each page have two items."""

    async def shorten(route: Route) -> None:
        await route.continue_(url=route.request.url.replace("limit=100", "limit=2"))

    await person.page.route("**/data?*", shorten)


async def downloaded(person: Person, button: Locator) -> tuple[str, list[Json]]:
    async with person.page.expect_download() as info:
        await button.click()
    download = await info.value
    content = await asyncio.to_thread((await download.path()).read_text, encoding="utf-8")
    return download.suggested_filename, json.loads(content)["items"]


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 360, "height": 740}}], ids=["desktop", "phone"])
async def test_the_file_has_everything(visit: Visit, api: Api, user: Json, options: dict[str, object]) -> None:
    person = await at_home(visit, user, **options)
    await small_pages(person)

    name, items = await downloaded(person, button_of(person))

    assert name == f"{user['username']}.json"
    assert items[0] == user
    assert sorted(item["type"] for item in items) == ["comment"] * 4 + ["post", "user"]
    await expect(progress_of(person)).to_have_text("Your data is saved.")
    assert await violations(person.page) == []


async def test_it_is_offered_before_the_account_is_deleted(visit: Visit, user: Json) -> None:
    person = await at_home(visit, user)
    await person.page.get_by_role("button", name="Delete account").click()
    form = person.page.get_by_role("alertdialog")

    _, items = await downloaded(person, form.get_by_role("button", name=NAME))

    assert len(items) == 6
    assert await violations(person.page) == []
    await expect(form).to_be_visible()


async def test_nobody_else_sees_it(visit: Visit, api: Api, user: Json) -> None:
    person = await visit(f"/users/{user['id']}")
    await expect(button_of(person)).to_be_hidden()
    await person.be(await api.new_user())
    await expect(button_of(person)).to_be_hidden()


@pytest.mark.nightly
async def test_a_busy_blog_only_delays_it(visit: Visit, user: Json) -> None:
    person = await at_home(visit, user)
    person.expected.append("503 (Service Unavailable)")
    refusals = 2

    async def refuse(route: Route) -> None:
        nonlocal refusals
        if refusals and "cursor" in route.request.url:
            refusals -= 1
            await route.fulfill(status=503, headers={"Retry-After": "1"}, json={"title": "Database unavailable"})
        else:
            await route.continue_(url=route.request.url.replace("limit=100", "limit=2"))

    await person.page.route("**/data?*", refuse)

    _, items = await downloaded(person, button_of(person))

    assert (len(items), refusals) == (6, 0)


async def test_a_failure_half_way_is_explained_and_can_be_repeated(visit: Visit, user: Json) -> None:
    person = await at_home(visit, user)
    person.expected.append("Failed to load resource")
    fails = True

    async def fail(route: Route) -> None:
        if fails and "cursor" in route.request.url:
            await route.abort()
        else:
            await route.continue_(url=route.request.url.replace("limit=100", "limit=2"))

    await person.page.route("**/data?*", fail)
    await button_of(person).click()
    await expect(progress_of(person)).to_contain_text("cannot be reached")
    fails = False

    _, items = await downloaded(person, button_of(person))

    assert len(items) == 6


async def test_it_can_be_canceled(visit: Visit, user: Json) -> None:
    person = await at_home(visit, user)

    async def hang(route: Route) -> None:
        if "cursor" not in route.request.url:
            await route.continue_(url=route.request.url.replace("limit=100", "limit=2"))

    await person.page.route("**/data?*", hang)
    await button_of(person).click()
    await expect(progress_of(person)).to_have_text("2 items…")

    await button_of(person, "Cancel the download").click()

    await expect(progress_of(person)).to_have_text("Canceled.")
    await expect(button_of(person)).to_be_enabled()
    await person.page.unroute_all(behavior="ignoreErrors")


async def test_the_limit_of_a_user_is_explained(visit: Visit, user: Json) -> None:
    person = await at_home(visit, user)
    person.expected.append("429 (Too Many Requests)")
    problem = {"title": "Too many exports", "detail": "You have downloaded your data too often; try again later."}

    async def refuse(route: Route) -> None:
        await route.fulfill(status=429, headers={"Retry-After": "3000"}, json=problem)

    await person.page.route("**/data?*", refuse)
    await button_of(person).click()

    await expect(progress_of(person)).to_have_text(problem["detail"])
