"""The data explorer, operated the way a user would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.browser import PageLog, expect

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

# In a checkout of the repository, next to the tests of the web site.
_AXE = Path(__file__).parents[4] / "tests" / "axe-core" / "axe.min.js"
expect.set_options(timeout=20_000)


class Explorer:
    """A page of the explorer. `log` has the errors that the browser reported."""

    def __init__(self, page: Page, endpoint: str) -> None:
        self.page = page
        self.log = PageLog(page)
        self.url = f"{endpoint}_explorer/"
        self.main = page.locator("main")
        self.dialog = page.locator("dialog[open]")
        self.items = page.get_by_role("grid", name="Items")
        self.rows = page.get_by_role("grid", name="Rows")

    async def open(self, hash_path: str = "") -> None:
        # A change of the hash alone would not load the page again.
        await self.page.goto("about:blank")
        await self.page.goto(f"{self.url}{hash_path}")

    async def view(self, name: str) -> None:
        """Open a view of the container `db` / `orders`."""
        await self.open(f"#/dbs/db/colls/orders/{name}")

    async def press(self, name: str, *, within: str = "main") -> None:
        await self.page.locator(within).get_by_role("button", name=name, exact=True).click()

    async def fill(self, label: str, text: str) -> None:
        await self.page.get_by_label(label, exact=True).fill(text)

    async def status(self, part: str) -> str:
        """Wait for a status line that contains `part`, and return all of it."""
        line = self.main.locator(".status", has_text=part)
        await expect(line).to_be_visible()
        return await line.inner_text()

    async def json(self, selector: str) -> Any:
        element = self.page.locator(selector)
        await expect(element).to_be_visible()
        return json.loads(await element.evaluate("(element) => element.value ?? element.innerText"))

    async def column(self, grid: Locator, name: str) -> list[str]:
        """Return the texts of a column."""
        await expect(grid).to_be_visible()
        titles = await grid.get_by_role("columnheader").evaluate_all("(all) => all.map((one) => one.innerText)")
        index = [title.rstrip("▲▼↕ \n") for title in titles].index(name) + 1
        return await grid.locator(f"tbody td:nth-child({index})").all_text_contents()

    async def violations(self) -> list[str]:
        """The serious and critical violations that axe-core finds, with light and with dark colors."""
        if not _AXE.exists():
            pytest.skip("axe-core is only in a checkout of the repository.")
        await self.page.evaluate(_AXE.read_text(encoding="utf-8"))
        await self._show_colors("light")
        light = await self.page.evaluate("axe.run({resultTypes: ['violations']})")
        await self._show_colors("dark")
        # The scheme changes only colors.
        rules = "runOnly: ['color-contrast', 'link-in-text-block']"
        dark = await self.page.evaluate(f"axe.run({{{rules}, resultTypes: ['violations']}})")
        return [
            f"{violation['id']}: {[node['html'] for node in violation['nodes']]}"
            for violation in light["violations"] + dark["violations"]
            if violation["impact"] in ("serious", "critical")
        ]

    async def _show_colors(self, scheme: Literal["light", "dark"]) -> None:
        """Apply a color scheme, and wait until colors no longer change."""
        await self.page.emulate_media(color_scheme=scheme)
        await self.page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished))")
