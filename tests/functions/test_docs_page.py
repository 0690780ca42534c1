"""Swagger UI in a real browser, sending requests to the running app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.browser import Page, browser_page, eventually, find_chromium
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app


@pytest.fixture(scope="session")
def chromium() -> str:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium, or name one in the environment variable CHROME")
    return found


@pytest.fixture(scope="module")
def app(chromium: str, emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with its own database, so the example username is available and the feed does not change."""
    settings = provisioned(Settings(emulator.endpoint, emulator.key, unique("docs-page")))
    with running_app(settings, tmp_path_factory.mktemp("docs-page") / "host.log") as running:
        yield running


class Operation:
    """An operation on the page, by tag and function name."""

    def __init__(self, page: Page, tag: str, name: str) -> None:
        self._page = page
        self._place = f"#operations-{tag}-{name}"

    async def open(self) -> None:
        await self._page.click(f"{self._place} .opblock-summary-control")

    async def body(self) -> Any:
        """The example body."""
        return json.loads(await self._page.text(f"{self._place} .body-param__text"))

    async def execute(self) -> tuple[int, Any]:
        """Press "Execute" and return the status and body that the page shows."""
        await self._page.click(f"{self._place} .execute")
        shown = f"{self._place} .live-responses-table .response"
        status = await self._page.text(f"{shown} .response-col_status")
        body = await self._page.text(f"{shown} .highlight-code pre")
        return int(status), json.loads(body)


def assert_keeps_to_itself(page: Page, address: str) -> None:
    """The page sent requests only to the app, and the browser reported no violation."""
    elsewhere = [url for url in page.requested if not url.startswith((f"{address}/", "data:"))]
    assert (elsewhere, page.complaints) == ([], [])


async def test_the_page_can_request_the_feed(app: RunningApp, api: Api, chromium: str, tmp_path: Path) -> None:
    feed = await a_feed_of_one_post(api)
    async with browser_page(chromium, tmp_path / "docs.png") as page:
        await page.open(f"{app.url}/api/docs")
        get_feed = Operation(page, "feed", "get_feed")
        await get_feed.open()

        assert await get_feed.execute() == (200, feed)
        assert_keeps_to_itself(page, app.url)


async def a_feed_of_one_post(api: Api) -> dict[str, Any]:
    await api.new_post(await api.new_user(), "A <b>bug</b>", "First actual case of “bug” being found.")

    async def feed() -> dict[str, Any] | None:
        answer: dict[str, Any] = (await api.get_feed()).body
        return answer if answer["items"] else None

    return await eventually(feed, "the post in the feed")


async def test_the_page_can_create_a_user_from_the_example_body(
    app: RunningApp, api: Api, chromium: str, tmp_path: Path
) -> None:
    async with browser_page(chromium, tmp_path / "docs.png") as page:
        await page.open(f"{app.url}/api/docs")
        create_user = Operation(page, "users", "create_user")
        await create_user.open()
        offered = await create_user.body()
        status, user = await create_user.execute()

        assert offered == {"username": "ada.lovelace"}
        assert (status, user["username"]) == (201, "ada.lovelace")
        assert (await api.get_user(user["id"])).body == user
        assert_keeps_to_itself(page, app.url)


async def test_a_page_that_violates_its_policy_is_detected(chromium: str, tmp_path: Path) -> None:
    script = 'console.error("told"); fetch("http://127.0.0.1:9/elsewhere").catch(() => {}); fetch("/missing"); lost();'
    async with TestServer(serving("<script>inline()</script><script src=/script></script><p>Done", script)) as server:
        address = str(server.make_url("")).rstrip("/")
        async with browser_page(chromium, tmp_path / "page.png") as page:
            await page.open(f"{address}/")
            await page.text("p")

            async def all_complaints() -> str | None:
                said = "\n".join(page.complaints)
                return said if all(part in said for part in ("console:", "uncaught:", "network:", "policy:")) else None

            said = await eventually(all_complaints, f"a complaint of each kind among {page.complaints}")

    assert "told" in said
    assert "lost is not defined" in said
    assert f"{address}/missing" in said
    assert "http://127.0.0.1:9/elsewhere" in said
    with pytest.raises(AssertionError):
        assert_keeps_to_itself(page, address)


def serving(page: str, script: str) -> web.Application:
    """A server of one page with a policy like the app's."""
    policy = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'"}

    async def get_page(_: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html", headers=policy)

    async def get_script(_: web.Request) -> web.Response:
        return web.Response(text=script, content_type="text/javascript")

    application = web.Application()
    application.add_routes([web.get("/", get_page), web.get("/script", get_script)])
    return application
