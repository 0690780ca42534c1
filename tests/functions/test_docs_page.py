"""The interactive API page in Chromium, sending requests to the running app."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Page

from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.browser import PageLog, running_chromium
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp, provisioned, running_app


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
async def page(browser: Browser) -> Page:
    return await browser.new_page()


@pytest.fixture
def log(page: Page) -> PageLog:
    return PageLog(page)


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Override the shared app: here the example's username is free, and no other test changes the feed."""
    settings = provisioned(Settings(emulator.endpoint, emulator.key, unique("docs-page")))
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


async def test_the_page_reads_the_feed(app: RunningApp, api: Api, page: Page, log: PageLog) -> None:
    feed = await feed_with_one_post(api)
    await page.goto(f"{app.url}/api/docs")
    get_feed = Operation(page, "feed", "get_feed")

    await get_feed.open()
    shown = await get_feed.execute()

    assert shown == (200, feed)
    assert_self_contained(log, app.url)


async def feed_with_one_post(api: Api) -> dict[str, Any]:
    await api.new_post(await api.new_user(), "A <b>bug</b>", "First actual case of “bug” being found.")

    async def feed() -> dict[str, Any] | None:
        body: dict[str, Any] = (await api.get_feed()).body
        return body if body["items"] else None

    found: dict[str, Any] = await eventually(feed)
    return found


async def test_the_page_creates_a_user_from_the_unchanged_example(
    app: RunningApp, api: Api, page: Page, log: PageLog
) -> None:
    await page.goto(f"{app.url}/api/docs")
    create_user = Operation(page, "users", "create_user")

    await create_user.open()
    example = await create_user.body()
    status, user = await create_user.execute()

    assert example == {"username": "ada.lovelace"}
    assert (status, user["username"]) == (201, "ada.lovelace")
    assert (await api.get_user(user["id"])).body == user
    assert_self_contained(log, app.url)


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
