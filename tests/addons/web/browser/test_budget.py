"""The front page is small and does not shift, and no page scrolls sideways."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, Response, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.deliveries import feed_has
from tests.api import Api
from tests.items import unique
from tests.page_budget import BYTES, OBSERVE
from tests.polling import eventually
from tests.running_app import RunningApp

pytestmark = pytest.mark.nightly

REQUESTS = 10


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

    fonts = [response for response in responses if response.url.endswith(".woff2")]
    sizes = [await response.request.sizes() for response in responses if response not in fonts]
    assert len(sizes) <= REQUESTS
    assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) <= BYTES
    # Latin, in the styles that the page shows.
    assert 0 < len(fonts) <= 3
    assert await page.evaluate("window.shifts") < 0.01


async def test_no_page_scrolls_sideways(app: RunningApp, api: Api, page: Page) -> None:
    author = await api.new_user()
    wide = f"{'W' * 500}\n\n```\n{'code ' * 100}\n```\n\n| {'cell | ' * 20}\n|{'---|' * 20}\n| {'cell | ' * 20}\n"
    post = await api.new_post(author, "W" * 200, wide)
    await api.new_comment(post, author, "W" * 500)

    for path in ("/", f"/posts/{post['id']}", f"/users/{author['id']}", "/write", f"/posts/{post['id']}/edit", "/nope"):
        await page.goto(app.url + path)
        for width in (320, 390, 768, 1280, 1920):
            await page.set_viewport_size({"width": width, "height": 800})

            assert await page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)


@pytest.mark.nightly
async def test_the_longest_username_fits_on_every_page(visit: Visit, api: Api) -> None:
    user = (await api.create_user(unique("W").ljust(30, "W"))).body
    post = await api.new_post(user)
    await api.new_comment(post, user)
    await api.new_like(post, user)
    ada = await visit(viewport={"width": 320, "height": 800})
    await ada.be(user)
    account = ada.page.get_by_role("button", name="Your account")

    for path in ("/", f"/posts/{post['id']}", f"/users/{user['id']}", "/write"):
        await ada.open(path)
        for width in (320, 390):
            await ada.page.set_viewport_size({"width": width, "height": 800})
            assert await ada.evaluate("document.documentElement.scrollWidth") <= width, path
            # The whole picture is on the screen.
            await expect(account).to_be_in_viewport(ratio=1)
    await ada.choose("Switch user")
    await expect(ada.dialog.get_by_role("button", name=user["username"])).to_be_visible()
    for width in (320, 390):
        await ada.page.set_viewport_size({"width": width, "height": 800})
        assert await ada.dialog.evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") <= 0
