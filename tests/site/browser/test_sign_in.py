"""Signing in through App Service authentication, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.auth.conftest import with_sign_in
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, running_app
from tests.site.browser.person import Person


@pytest.fixture
def app(emulator: EmulatorThread, tmp_path: Path) -> Iterator[RunningApp]:
    with running_app(with_sign_in(emulator), tmp_path / "host.log", disabled=TRIGGERS) as running:
        yield running


async def test_someone_whose_session_ended_can_read_on_and_keeps_what_they_wrote(
    browser: Browser, app: RunningApp
) -> None:
    ada = Person(await browser.new_page(), app.url)
    # What the platform answers to someone who is not signed in.
    await ada.page.route("**/.auth/me", lambda route: route.fulfill(status=401))
    ada.expected.append("401 (Unauthorized)")
    await ada.open("/")
    await ada.evaluate("localStorage.setItem('blog-user', JSON.stringify({id: 'x', username: 'x'}))")

    await ada.open("/write")

    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert ada.page.url == f"{app.url}/write"
    ada.assert_no_errors()


async def test_someone_signed_in_by_app_service_chooses_a_username_once(browser: Browser, app: RunningApp) -> None:
    # The platform adds these headers to requests, and serves `/.auth/me`.
    principal = {"X-MS-CLIENT-PRINCIPAL-IDP": "aad", "X-MS-CLIENT-PRINCIPAL-ID": "ada-1"}
    claim = {"typ": "http://schemas.microsoft.com/identity/claims/objectidentifier", "val": "ada-1"}
    me = [{"provider_name": "aad", "user_id": "ada@example.com", "user_claims": [claim]}]
    username = unique("ada")

    context = await browser.new_context(extra_http_headers=principal)
    await context.route("**/.auth/me", lambda route: route.fulfill(json=me))
    ada = Person(await context.new_page(), app.url)
    ada.expected.append("404 (Not Found)")  # not registered yet
    await ada.open("/write#sign-up")
    await ada.dialog.get_by_label("New username").fill(username)
    await ada.dialog.get_by_role("button", name="Sign up").click()
    await expect(ada.corner).to_contain_text(username)
    await ada.evaluate("localStorage.clear()")

    await ada.open("/")

    await expect(ada.corner).to_contain_text(username)

    # An outage does not make them someone without a user.
    await ada.fail("GET", "**/api/users/*", 503)
    await ada.page.reload()
    await expect(ada.alert).to_contain_text("The database cannot be reached.")
    await expect(ada.corner).to_contain_text(username)
    ada.assert_no_errors()
    await context.close()
