"""What the front page costs a browser, and that its policy blocks nothing of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, Response

from tests.api import Api
from tests.browser import PageLog, running_chromium
from tests.polling import eventually
from tests.running_app import RunningApp
from tests.site.test_pages import feed_has

REQUESTS = 10
BYTES = 60_000
# Records layout shifts from the start of the page.
OBSERVE = """
window.shifts = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => { window.shifts += entry.value; }))
  .observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
async def page(browser: Browser) -> Page:
    return await browser.new_page()


async def test_the_front_page_is_small_and_does_not_shift(app: RunningApp, api: Api, page: Page) -> None:
    author = await api.new_user()
    for _ in range(20):
        await api.new_post(author, "A title of usual length", "Some words of *Markdown*. " * 10)
    await eventually(lambda: feed_has(api, 20))
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    await page.add_init_script(OBSERVE)

    await page.goto(f"{app.url}/", wait_until="networkidle")

    sizes = [await response.request.sizes() for response in responses]
    assert len(responses) <= REQUESTS
    assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) <= BYTES
    assert await page.evaluate("window.shifts") < 0.01


@pytest.mark.parametrize("path", ["/", "/posts/{id}", "/users/{userId}", "/write", "/posts/{id}/edit"])
async def test_the_browser_reports_no_errors(app: RunningApp, api: Api, page: Page, path: str) -> None:
    post = await api.new_post(await api.new_user(), "A title", "![A picture](https://example.com/x.png) and `code`")
    log = PageLog(page)

    await page.goto(app.url + path.format_map(post), wait_until="networkidle")

    assert log.errors == []
    assert [url for url in log.requested if not url.startswith((app.url, "data:"))] == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
async def test_no_page_scrolls_sideways(app: RunningApp, api: Api, page: Page, width: int) -> None:
    author = await api.new_user()
    wide = f"{'W' * 500}\n\n```\n{'code ' * 100}\n```\n\n| {'cell | ' * 20}\n|{'---|' * 20}\n| {'cell | ' * 20}\n"
    post = await api.new_post(author, "W" * 200, wide)
    await api.new_comment(post, author, "W" * 500)
    await page.set_viewport_size({"width": width, "height": 800})

    for path in ("/", f"/posts/{post['id']}", f"/users/{author['id']}", "/write", f"/posts/{post['id']}/edit", "/nope"):
        await page.goto(app.url + path)

        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path
