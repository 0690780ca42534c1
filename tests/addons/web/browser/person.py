"""Someone at a page of the site."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Locator, Page, Route, expect

from tests.api import Json
from tests.browser import PageLog
from tests.items import unique

expect.set_options(timeout=20_000)


class Person:
    """A page in a browser profile of its own, and what its user does there."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.log = PageLog(page)
        # Parts of messages that a browser logs because of failures that a test causes.
        self.expected: list[str] = []
        # Where the page may send requests.
        self.origins = [url]
        self.alert = page.locator("#alert")
        self.status = page.locator("#status")
        self.dialog = page.locator("[data-identity-dialog]")
        self.comments = page.locator("ol.comments > li")
        self.like = page.locator("[data-like]")

    async def open(self, path: str) -> None:
        await self.page.goto(self.url + path, wait_until="networkidle")

    async def sign_up(self, name: str = "ada") -> str:
        """Sign up with a unique name, and return it."""
        username = unique(name)
        await self.page.get_by_role("button", name="Sign in").click()
        await self.dialog.get_by_label("New username").fill(username)
        await self.dialog.get_by_role("button", name="Sign up").click()
        await expect(self.corner).to_contain_text(username)
        return username

    async def be(self, user: Json) -> None:
        """Choose an existing user by their ID."""
        await self.page.get_by_role("button", name="Sign in").click()
        await self.dialog.get_by_text("More", exact=True).click()
        await self.dialog.get_by_label("ID of an existing user").fill(user["id"])
        await self.dialog.get_by_role("button", name="Continue").click()
        await expect(self.corner).to_contain_text(user["username"])

    async def comment(self, content: str) -> None:
        await self.page.get_by_label("Your comment").fill(content)
        await self.page.get_by_role("button", name="Comment", exact=True).click()

    async def choose(self, name: str) -> None:
        """Press a button in the account's menu."""
        await self.page.get_by_role("button", name="Your account").click()
        await self.page.get_by_role("button", name=name).click()

    @property
    def corner(self) -> Locator:
        return self.page.locator("[data-identity]")

    async def evaluate(self, script: str) -> Any:
        return await self.page.evaluate(script)

    async def confirm(self) -> None:
        """Press the button of the dialog that asks before something is deleted."""
        await self.page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()

    async def fail(self, method: str, pattern: str, status: int | None = None) -> None:
        """Let requests fail: without an answer, or with the status."""
        self.expected.append("Failed to load resource")

        async def refuse(route: Route) -> None:
            if route.request.method != method:
                await route.fallback()
            elif status is None:
                await route.abort()
            else:
                await route.fulfill(status=status, json={"title": "Refused", "status": status, "detail": "No."})

        await self.page.route(pattern, refuse)

    def assert_no_errors(self) -> None:
        unexpected = [error for error in self.log.errors if not any(part in error for part in self.expected)]
        assert unexpected == []
        assert [url for url in self.log.requested if not url.startswith((*self.origins, "data:"))] == []
