"""The interactive API page in Chromium, sending requests to the running app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Page, expect

from shared.platform.settings import Account
from shared.settings import Settings
from tests.accessibility import found_by_axe
from tests.api import Api
from tests.blog import EmulatorThread
from tests.browser import DESKTOP, PHONE, PageLog
from tests.items import unique
from tests.page_budget import OBSERVE
from tests.polling import eventually
from tests.running_app import RunningApp, provisioned, running_app


@pytest.fixture
async def page(browser: Browser) -> Page:
    return await browser.new_page()


@pytest.fixture
async def log(page: Page) -> PageLog:
    return PageLog(page)


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Override the shared app: here the example's username is free, and no other test changes the feed."""
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("docs-page")))
    with running_app(settings, tmp_path_factory.mktemp("docs-page") / "host.log") as running:
        yield running


class Operation:
    """One operation on the page, identified by its tag and function name."""

    def __init__(self, page: Page, tag: str, name: str) -> None:
        self._node = page.locator(f"#operations-{tag}-{name}")

    async def open(self) -> None:
        await self._node.locator(".opblock-summary-control").click()

    async def body(self) -> Any:
        """Return the example request body."""
        return json.loads(await self._node.locator("textarea.body-param__text").input_value())

    async def execute(self) -> tuple[int, Any]:
        """Press "Execute", and return the status and the body of the response shown."""
        await self._node.locator(".execute").click()
        response = self._node.locator(".live-responses-table .response")
        status = await response.locator(".response-col_status").inner_text()
        body = await response.locator(".highlight-code pre").first.inner_text()
        return int(status), json.loads(body)


def assert_self_contained(log: PageLog, address: str) -> None:
    """Assert that the page requested only `address` and that the browser reported no error."""
    elsewhere = [url for url in log.requested if not url.startswith((f"{address}/", "data:"))]
    assert (elsewhere, log.errors) == ([], [])


async def test_the_page_sends_requests_with_the_function_key_and_links_to_the_site(
    app: RunningApp, api: Api, page: Page, log: PageLog
) -> None:
    """The local host checks no keys, so the request itself is the evidence."""
    feed = await feed_with_one_post(api)
    await page.goto(f"{app.url}/api/docs")
    get_feed, create_user = Operation(page, "feed", "get_feed"), Operation(page, "users", "create_user")

    await get_feed.open()
    assert await get_feed.execute() == (200, feed)

    await page.get_by_role("button", name="Authorize").first.click()
    await page.locator("#api_key_value").first.fill("the-key")
    await page.get_by_role("button", name="Apply credentials").first.click()
    await page.get_by_role("button", name="Close").last.click()
    await create_user.open()
    example = await create_user.body()
    async with page.expect_request("**/api/users*") as sent:
        status, user = await create_user.execute()
    assert await (await sent.value).header_value("x-functions-key") == "the-key"
    assert example == {"username": "ada.lovelace"}
    assert (status, user["username"]) == (201, "ada.lovelace")
    assert (await api.get_user(user["id"])).body == user

    face = (
        "[document.body, document.querySelector('h1')].map(one => (one = getComputedStyle(one), one.font + one.color))"
    )
    shown, paper = await page.evaluate(face), await page.evaluate("getComputedStyle(document.body).backgroundColor")
    links = await page.get_by_role("banner").get_by_role("link").all_text_contents()
    await page.get_by_role("banner").get_by_role("link", name="The Blog").click()
    await expect(page).to_have_url(f"{app.url}/")
    assert (await page.evaluate(face))[0] == shown[0]
    assert "Source Serif 4" in shown[1]
    await expect(page.locator("body")).to_have_css("background-color", paper)
    assert links == (await page.get_by_role("banner").get_by_role("link").all_text_contents())[: len(links)]
    assert_self_contained(log, app.url)


async def feed_with_one_post(api: Api) -> dict[str, Any]:
    await api.new_post(await api.new_user(), "A <b>bug</b>", "First actual case of “bug” being found.")

    async def feed() -> dict[str, Any] | None:
        body: dict[str, Any] = (await api.get_feed()).body
        return body if body["items"] else None

    found: dict[str, Any] = await eventually(feed)
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_the_page_is_accessible_fits_and_does_not_shift(
    app: RunningApp, browser: Browser, device: dict[str, Any]
) -> None:
    page = await browser.new_page(**device)
    log = PageLog(page)
    await page.add_init_script(OBSERVE)
    await page.goto(f"{app.url}/api/docs", wait_until="networkidle")
    await page.locator(".opblock").last.wait_for()
    assert await page.evaluate("window.shifts") < 0.05

    # The other operations stay closed, so axe sees both states.
    get_feed, create_user = Operation(page, "feed", "get_feed"), Operation(page, "users", "create_user")
    for operation in (get_feed, create_user):
        await operation.open()
    await get_feed.execute()

    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The page follows a change of the color scheme.
    for scheme, background in (("dark", "rgb(23, 22, 20)"), ("light", "rgb(252, 251, 248)")):
        await page.emulate_media(color_scheme=scheme)
        await expect(page.locator("body")).to_have_css("background-color", background)
    assert_self_contained(log, app.url)


async def violations(page: Page) -> list[str]:
    """The violations that axe-core finds, with light and with dark colors."""
    return [f"{one['id']}: {[node['html'] for node in one['nodes']]}" for one in await found_by_axe(page)]


@pytest.mark.nightly
@pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_an_address_with_an_error_scrolls_to_it_without_shifts(
    app: RunningApp, browser: Browser, device: dict[str, Any]
) -> None:
    page = await browser.new_page(**device)
    await page.add_init_script(OBSERVE)

    await page.goto(f"{app.url}/api/docs#post-not-found", wait_until="networkidle")
    await page.locator(".opblock").last.wait_for()

    assert await page.evaluate("window.shifts") < 0.05
    await expect(page.locator("#post-not-found")).to_be_in_viewport()


async def test_the_log_detects_every_kind_of_violation(page: Page, log: PageLog) -> None:
    script = 'console.error("told"); fetch("http://127.0.0.1:9/elsewhere").catch(() => {}); fetch("/missing"); lost();'
    application = serving("<script>inline()</script><script src=/script></script><p>Done", script)

    async with TestServer(application) as server:
        address = str(server.make_url("")).rstrip("/")
        await page.goto(f"{address}/")
        expected = [
            "told",
            "lost is not defined",
            f"404 (Not Found) ({address}/missing)",
            "inline script",
            "http://127.0.0.1:9/elsewhere",
        ]
        await eventually(lambda: all(any(part in error for error in log.errors) for part in expected))
        assert any("Content Security Policy" in error for error in log.errors)

    with pytest.raises(AssertionError):
        assert_self_contained(log, address)


def serving(page: str, script: str) -> web.Application:
    """Return a server of one page and one script, with a content security policy like the app's."""
    policy = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'"}

    async def get_page(_: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html", headers=policy)

    async def get_script(_: web.Request) -> web.Response:
        return web.Response(text=script, content_type="text/javascript")

    application = web.Application()
    application.add_routes([web.get("/", get_page), web.get("/script", get_script)])
    return application


async def test_the_page_explains_no_errors_of_an_add_on_that_is_off(page: Page, app: RunningApp) -> None:
    await page.goto(f"{app.url}/api/docs")

    await expect(page.locator("#post-not-found")).to_be_visible()
    await expect(page.locator("#report-not-found")).to_have_count(0)
