"""People with browsers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.addons.web.browser.person import Person
from tests.running_app import RunningApp

# Opens a browser profile of its own on the site. It takes the arguments of Playwright's new_context.
Visit = Callable[..., Coroutine[Any, Any, Person]]


@pytest.fixture
async def visit(browser: Browser, app: RunningApp) -> AsyncIterator[Visit]:
    """Afterwards, no page may have reported an error that its test did not expect."""
    async with AsyncExitStack() as stack:
        people: list[Person] = []

        async def of(path: str = "/", **options: Any) -> Person:
            context = await stack.enter_async_context(await browser.new_context(**options))
            context.set_default_timeout(20_000)
            person = Person(await context.new_page(), app.url)
            people.append(person)
            await person.open(path)
            return person

        yield of
        for person in people:
            person.assert_no_errors()
