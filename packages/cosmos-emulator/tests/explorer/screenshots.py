"""`python -m tests.explorer.screenshots DIR`: take pictures of the data explorer. The README shows three of them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Literal

from cosmos_emulator import CosmosEmulator, EmulatorSettings
from playwright.async_api import Browser, Page

from tests.browser import running_chromium

_VIEWPORTS = {"desktop": (1440, 900), "phone": (390, 844)}
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_QUERY = """SELECT c.id, c.customer, c.total
FROM c
WHERE c.status = "open" AND c.total >= @least
ORDER BY c.total DESC"""


async def main(images: Path) -> None:
    """Take every view on a desktop in both themes, and on a phone."""
    async with running_chromium() as browser:
        for device in _VIEWPORTS:
            for scheme in _SCHEMES if device == "desktop" else _SCHEMES[:1]:
                async with CosmosEmulator(EmulatorSettings(partitions=3)) as emulator:
                    await _photograph(browser, emulator, device, scheme, images)


async def _photograph(
    browser: Browser, emulator: CosmosEmulator, device: str, scheme: Literal["light", "dark"], images: Path
) -> None:
    width, height = _VIEWPORTS[device]
    async with await browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme) as context:
        page = await context.new_page()
        page.on("console", lambda message: sys.stderr.write(f"{message.text}\n"))
        page.on("pageerror", lambda error: sys.stderr.write(f"{error}\n"))

        async def save(subject: str) -> None:
            await page.screenshot(path=images / f"explorer-{subject}-{device}-{scheme}.png", animations="disabled")

        await page.goto(f"{emulator.endpoint}_explorer/")
        await page.get_by_role("button", name="Create sample data").wait_for()
        await save("welcome")
        await page.get_by_role("button", name="Create sample data").click()
        await page.get_by_role("gridcell", name="order-", exact=False).first.wait_for(timeout=60_000)
        await page.get_by_label("Page size").select_option("10")
        await page.get_by_text("Page 1: 10 items").wait_for()
        # Beside an open item, there is no room for the longest column.
        await page.get_by_text("Columns", exact=True).click()
        await page.get_by_label("lines").uncheck()
        await page.keyboard.press("Escape")
        await page.get_by_role("gridcell", name="order-", exact=False).nth(3).click()
        await page.get_by_text("Read: ").wait_for()
        await save("items")
        await _query(page)
        await save("query")
        await page.get_by_role("tab", name="Load", exact=True).click()
        await page.locator(".chart rect").first.wait_for()
        await save("load")
        await page.get_by_role("tab", name="Change feed").click()
        await page.get_by_label("Start").first.select_option("beginning")
        await page.get_by_role("button", name="Start").click()
        await page.locator(".changes li").first.wait_for()
        await save("change-feed")
        await page.get_by_role("tab", name="Scripts").click()
        await page.get_by_role("button", name="countOrders").click()
        await page.get_by_label("Partition key").fill("ada")
        await page.get_by_role("button", name="Execute").click()
        await page.get_by_text("Executed: ").wait_for(timeout=60_000)
        await save("scripts")
        await page.get_by_role("tab", name="Settings").click()
        await page.locator("#facts").wait_for()
        await save("settings")
        await page.goto(f"{emulator.endpoint}_explorer/#/simulation")
        await page.get_by_label("Times").fill("3")
        await page.get_by_label("Operation").select_option("create")
        await page.get_by_role("button", name="Add fault").click()
        await page.get_by_role("button", name="Remove fault 1").wait_for()
        await save("simulation")


async def _query(page: Page) -> None:
    await page.get_by_role("tab", name="Query").click()
    await page.locator("#query").fill(_QUERY)
    await page.get_by_label("Parameters").fill('{"@least": 150}')
    await page.get_by_role("button", name="Run").click()
    await page.get_by_role("grid", name="Rows").wait_for()


if __name__ == "__main__":
    images = Path(sys.argv[1])
    images.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(images))
