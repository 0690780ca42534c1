"""Signing in at an OpenID Connect issuer and through App Service, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from playwright.async_api import Browser, expect

from shared.settings import Account, AuthMode, Settings
from tests.api import Api
from tests.auth.issuer import AUDIENCE, bearer
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app
from tests.site.browser.person import Person
from tests.site.browser.sign_in_issuer import CLIENT_ID, SignInIssuer


@pytest.fixture
def issuer() -> Iterator[SignInIssuer]:
    with SignInIssuer() as listening:
        yield listening


@pytest.fixture
def app(
    emulator: EmulatorThread, issuer: SignInIssuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    auth = {"auth": AuthMode.OIDC, "issuer": issuer.url, "audience": AUDIENCE, "client_id": CLIENT_ID}
    settings = provisioned(
        Settings(account=Account(emulator.endpoint, emulator.key), database=unique("oidc-site"), **auth)
    )
    with running_app(settings, tmp_path_factory.mktemp("oidc-site") / "host.log", disabled=TRIGGERS) as running:
        yield running


async def test_someone_signs_in_registers_posts_is_renewed_and_signs_out(
    browser: Browser, app: RunningApp, issuer: SignInIssuer
) -> None:
    ada = Person(await browser.new_page(), app.url)
    ada.origins.append(issuer.url.removesuffix("/tenant"))
    ada.expected.append("404 (Not Found)")  # not registered yet
    issuer.subject = "ada"
    username = unique("ada")
    await ada.open("/write")

    # Sign in and register.
    await ada.page.get_by_role("button", name="Sign in").click()
    await ada.dialog.get_by_label("New username").fill(username)
    await ada.dialog.get_by_role("button", name="Sign up").click()
    await expect(ada.corner).to_contain_text(username)
    assert ada.page.url == f"{app.url}/write"
    assert issuer.grants == ["authorization_code"]

    # Tokens are only in memory.
    stored = await ada.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert "eyJ" not in stored

    # A token about to expire is renewed. The next page gets its own without a question.
    issuer.lifetime_s = 1
    await ada.open("/write")
    await ada.page.get_by_label("Title").fill("Signed")
    await ada.page.get_by_label("Text").fill("By me.")
    await expect(ada.page.locator("[data-preview]")).to_contain_text("By me.")
    assert "refresh_token" in issuer.grants
    issuer.lifetime_s = 600
    await ada.page.get_by_role("button", name="Publish").click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("Signed")
    await ada.page.wait_for_load_state("networkidle")
    await ada.comment("First!")
    await expect(ada.status).to_have_text("Your comment is published.")

    await ada.page.get_by_role("button", name="Sign out").click()
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert issuer.subject is None
    ada.assert_no_errors()


async def test_concurrent_commands_share_the_renewal_of_a_token(
    browser: Browser, app: RunningApp, issuer: SignInIssuer
) -> None:
    ada = await _at_a_post(browser, app, issuer, expires_in_s=1)

    await ada.page.get_by_label("Your comment").fill("Well put.")
    await ada.evaluate(
        "document.querySelector('[data-like]').click(); document.querySelector('main form').requestSubmit()"
    )

    await expect(ada.comments.locator("time")).to_have_count(1)
    await expect(ada.comments.first).to_have_id(re.compile("comment-."))
    await expect(ada.status).not_to_be_empty()
    ada.assert_no_errors()


async def test_a_command_uses_the_present_token_if_the_issuer_cannot_be_reached(
    browser: Browser, app: RunningApp, issuer: SignInIssuer
) -> None:
    ada = await _at_a_post(browser, app, issuer, expires_in_s=1)
    ada.expected.append("ERR_FAILED")
    await ada.page.route(f"{issuer.url}/token", lambda route: route.abort())

    await ada.comment("Well put.")

    await expect(ada.status).to_have_text("Your comment is published.")
    assert "refresh_token" not in issuer.grants
    ada.assert_no_errors()


async def _at_a_post(browser: Browser, app: RunningApp, issuer: SignInIssuer, *, expires_in_s: int) -> Person:
    """Return a registered person who has signed in at their post, with tokens that expire in `expires_in_s`."""
    issuer.subject = "ada"
    async with ClientSession() as session:
        api = Api(session, app.url, app.openapi, headers=bearer(issuer.token("ada")))
        post = await api.new_post(await api.new_user())
    ada = Person(await browser.new_page(), app.url)
    ada.origins.append(issuer.url.removesuffix("/tenant"))
    await ada.open(f"/posts/{post['id']}")
    issuer.lifetime_s = expires_in_s
    await ada.page.get_by_role("button", name="Sign in").click()
    await expect(ada.page.get_by_role("button", name="Sign out")).to_be_visible()
    return ada


async def test_someone_whose_session_ended_can_read_on_and_keeps_what_they_wrote(
    browser: Browser, app: RunningApp, issuer: SignInIssuer
) -> None:
    ada = Person(await browser.new_page(), app.url)
    ada.origins.append(issuer.url.removesuffix("/tenant"))
    await ada.open("/")
    await ada.evaluate("localStorage.setItem('blog-user', JSON.stringify({id: 'x', username: 'x'}))")

    await ada.open("/write")

    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert ada.page.url == f"{app.url}/write"
    assert issuer.grants == []
    ada.assert_no_errors()


async def test_someone_signed_in_by_app_service_chooses_a_username_once(
    browser: Browser, emulator: EmulatorThread, tmp_path: Path
) -> None:
    # The platform adds these headers to requests, and serves `/.auth/me`.
    principal = {"X-MS-CLIENT-PRINCIPAL-IDP": "aad", "X-MS-CLIENT-PRINCIPAL-ID": "ada-1"}
    claim = {"typ": "http://schemas.microsoft.com/identity/claims/objectidentifier", "val": "ada-1"}
    me = [{"provider_name": "aad", "user_id": "ada@example.com", "user_claims": [claim]}]
    auth = {"auth": AuthMode.APP_SERVICE, "platform_authenticates": "True"}
    settings = provisioned(
        Settings(account=Account(emulator.endpoint, emulator.key), database=unique("app-service"), **auth)
    )
    username = unique("ada")

    with running_app(settings, tmp_path / "host.log", disabled=TRIGGERS) as app:
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
