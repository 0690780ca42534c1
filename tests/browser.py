"""Headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright

# The first has no windows and takes half the processor time of the others.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_DISABLED_FEATURES = (
    # Pages behind the address bar. They take more processor time than a page of a test.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    # Chromium ignores all but the last --disable-features, so these repeat Playwright's.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    "PreconnectToSearch",
)
# Containers often lack a GPU and the namespaces that Chromium's sandbox needs.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-site-isolation-trials",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1440, "height": 900}}
# A script that returns the background of an element, and what it returns if there is none.
BACKGROUND, TRANSPARENT = "element => getComputedStyle(element).backgroundColor", "rgba(0, 0, 0, 0)"


@asynccontextmanager
async def running_chromium() -> AsyncIterator[Browser]:
    """Start Chromium with an empty profile. Skip the test if it is not installed."""
    program = _find_chromium()
    async with (
        async_playwright() as playwright,
        await playwright.chromium.launch(executable_path=program, args=_ARGUMENTS) as browser,
    ):
        yield browser


def _find_chromium() -> str:
    named = os.environ.get("CHROME")
    found = next((path for name in ([named] if named else _PROGRAMS) if (path := shutil.which(name))), None)
    if found is None and named:
        pytest.fail(f"CHROME={named} is not a program. Set CHROME to the path of Chromium, or unset it.")
    if found is None:
        pytest.skip(
            "Chromium was not found. Install it: `apt-get install chromium-headless-shell`. Or set CHROME to its path."
        )
    return found


class PageLog:
    """The URLs a page requested and the errors the browser reported about it."""

    def __init__(self, page: Page) -> None:
        self.requested: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(f"{message.text} ({message.location['url']})")


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One browser per test worker."""
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """The browser, in which this test opens profiles of its own."""
    yield chromium
    for context in chromium.contexts:
        await context.close()
