"""`make screenshots`: take pictures of the site with sample data. The README's replace docs/images."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

from aiohttp import ClientError, ClientSession
from playwright.async_api import Browser, Page

from checks.chaos.ports import free_port
from tests.addons.inspector.animation import Frame, animated
from tests.browser import running_chromium

_REPOSITORY = Path(__file__).parents[3]
_IMAGES = _REPOSITORY / "docs" / "images"
_IN_README = ("feed-desktop-light", "inspector-bars-desktop-light")
# All others are only to be looked at.
_OTHERS = _REPOSITORY / "dist" / "screenshots"
_START_S = 120
_VIEWPORTS = {"desktop": (1280, 800), "phone": (390, 844), "small": (320, 640)}
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_RENAME = """async ([id, username]) => (await fetch(`/api/users/${id}`, {
  method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify({username}),
})).status"""
_DRAFT = """The first loom that I repaired had **no instructions**, only a drawing.

- Count the threads.
- Count them *again*.

> A pattern is a program that you can wear.
"""


@contextmanager
def _stack(port: int) -> Iterator[None]:
    """Run the blog with sample data in memory and the inspector."""
    options = ("--seed", "--memory", "--port", str(port), "--cosmos-port", str(free_port()))
    process = subprocess.Popen(  # noqa: S603 - no input
        (sys.executable, "-m", "local", *options), cwd=_REPOSITORY, env={**os.environ, "BLOG_INSPECTOR": "1"}
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def _feed(session: ClientSession, url: str) -> list[dict[str, Any]]:
    """Return the feed as soon as the blog responds."""
    async with asyncio.timeout(_START_S):
        while True:
            try:
                async with session.get(f"{url}/api/feed") as response:
                    if response.status == 200:
                        return list((await response.json())["items"])
            except ClientError:
                pass
            await asyncio.sleep(0.2)


@asynccontextmanager
async def _page(browser: Browser, viewport: str, scheme: Literal["light", "dark"]) -> AsyncIterator[Page]:
    width, height = _VIEWPORTS[viewport]
    async with await browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme) as context:
        yield await context.new_page()


async def _photograph(page: Page, session: ClientSession, url: str, post: dict[str, Any], name: str) -> None:
    async def save(subject: str) -> None:
        title = f"{subject}-{name}"
        folder = _IMAGES if title in _IN_README else _OTHERS
        await page.screenshot(path=folder / f"{title}.png", animations="disabled")

    await page.goto(f"{url}/", wait_until="networkidle")
    await save("feed")
    await page.goto(f"{url}/posts/{post['id']}", wait_until="networkidle")
    await page.locator("[data-like]").scroll_into_view_if_needed()
    await save("post")
    await page.goto(f"{url}/write", wait_until="networkidle")
    await page.get_by_label("Title").fill("On looms")
    await page.locator("textarea[name=content]").fill(_DRAFT)
    await page.locator("[data-preview] blockquote").wait_for()
    await save("editor")
    await page.goto(f"{url}/users/{post['userId']}", wait_until="networkidle")
    await page.get_by_role("button", name="Inspector").click()
    await page.get_by_text("Show a user and their posts").first.click()
    await page.locator(".bars + .hint").last.scroll_into_view_if_needed()
    await save("inspector-bars")
    await page.evaluate(_RENAME, [post["userId"], f"{post['userUsername'][:15]}-{name}"])
    await page.locator("[data-caption]", has_text="done after").wait_for()
    await save("inspector")
    if name != "desktop-light":
        return
    for step in range(1, 9):
        await page.goto(f"{url}/tour/{step}", wait_until="networkidle")
        await save(f"tour-{step}")


async def _record_rename(page: Page, url: str) -> None:
    """Record step 4 of the tour as an animated PNG: the page, then the diagram as the rename is replayed."""
    await page.goto(f"{url}/tour/4", wait_until="networkidle")
    await page.get_by_role("button", name="First, write 1,000 comments").click()
    await page.locator("[data-measured]", has_text="by the change feeds").wait_for()
    await page.get_by_role("button", name="Rename", exact=True).click()
    await page.locator("[data-measured]", has_text=re.compile(r"1 rename: 1,\d{3} copies.*done after")).wait_for()
    await page.locator("[data-verdict]", has_text="All 1,000 comments have the new name.").wait_for()
    box = await page.locator(".diagram").bounding_box()
    assert box is not None
    clip: Any = {name: int(value) for name, value in box.items()}
    frames = [Frame(await page.screenshot(), 0, 0, 1500)]
    time = page.get_by_role("slider", name="Time")
    for position in range(0, 1001, 40):
        await time.fill(str(position))
        frames.append(Frame(await page.screenshot(clip=clip), clip["x"], clip["y"], 250 if position < 1000 else 3000))
    (_IMAGES / "rename.png").write_bytes(animated(frames))


async def _main() -> None:
    _OTHERS.mkdir(parents=True, exist_ok=True)
    port = free_port()
    url = f"http://localhost:{port}"
    with _stack(port):
        async with ClientSession() as session, running_chromium() as browser:
            posts = await _feed(session, url)
            for viewport in _VIEWPORTS:
                for scheme in _SCHEMES:
                    async with _page(browser, viewport, scheme) as page:
                        await _photograph(page, session, url, posts[0], f"{viewport}-{scheme}")
            # Last, because its posts are on the front page until its page is left.
            async with await browser.new_context(viewport={"width": 1180, "height": 640}) as context:
                await _record_rename(await context.new_page(), url)


if __name__ == "__main__":
    asyncio.run(_main())
