"""Accessibility, which axe-core checks in the browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Page

# axe-core 4.14.1 from npm.
AXE = Path(__file__).parent / "axe-core" / "axe.min.js"


async def violations(page: Page) -> list[str]:
    """The serious and critical violations that axe-core finds, with light and with dark colors."""
    return [
        f"{violation['id']}: {json.dumps([node['html'] for node in violation['nodes']])}"
        for violation in await found_by_axe(page)
        if violation["impact"] in ("serious", "critical")
    ]


async def found_by_axe(page: Page) -> list[Any]:
    """All violations, with light and with dark colors."""
    # Evaluated by the debugger, because the page's policy forbids foreign scripts.
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    await show_colors(page, "light")
    light = await page.evaluate("axe.run({resultTypes: ['violations']})")
    await show_colors(page, "dark")
    # The scheme changes only colors.
    rules = "runOnly: ['color-contrast', 'link-in-text-block']"
    dark = await page.evaluate(f"axe.run({{{rules}, resultTypes: ['violations']}})")
    return [*light["violations"], *dark["violations"]]


async def show_colors(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Apply a color scheme, and wait until colors no longer change."""
    await page.emulate_media(color_scheme=scheme)
    await page.wait_for_function("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", arg=scheme)
    # A transition starts with the frame after the change.
    await page.evaluate(
        """async () => {
            for (let frames = 0; frames < 3; frames++) {
                await new Promise(requestAnimationFrame);
                await Promise.allSettled(document.getAnimations().map((one) => one.finished));
            }
        }"""
    )
