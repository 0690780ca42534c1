"""Signing in through App Service authentication, which the host emulates, in Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession
from playwright.async_api import expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.auth.conftest import with_sign_in
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, running_app

SESSION = "AppServiceAuthSession"


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    log = tmp_path_factory.mktemp("sign-in") / "host.log"
    with running_app(with_sign_in(emulator), log, disabled=TRIGGERS, options=["--sign-in"]) as running:
        yield running


@pytest.fixture
async def author(app: RunningApp) -> AsyncIterator[Api]:
    """Someone with a user and a session of their own."""
    async with ClientSession() as session:
        form = {"name": unique("author")}
        async with session.post(f"{app.url}/.auth/login/aad", data=form, allow_redirects=False) as signed_in:
            cookie = f"{SESSION}={signed_in.cookies[SESSION].coded_value}"
        yield Api(session, app.url, app.openapi, headers={"Cookie": cookie})


@pytest.fixture
async def post(author: Api) -> Json:
    return await author.new_post(await author.new_user())


async def sign_in(person: Person, principal: str) -> None:
    """Sign in with the button at the top, and come back."""
    await person.page.get_by_role("button", name="Sign in").click()
    await person.page.get_by_label("Who are you?").fill(principal)
    await person.page.get_by_role("button", name="Sign in").click()


async def register(person: Person) -> str:
    """Sign in for the first time, and choose a username. Returns it."""
    person.expected.append("404 (Not Found)")  # their user, who does not exist yet
    name = unique("ada")
    await sign_in(person, name)
    await person.dialog.get_by_label("New username").fill(name)
    await person.dialog.get_by_role("button", name="Sign up").click()
    await expect(person.corner).to_contain_text(name)
    return name


async def expire(person: Person) -> None:
    """End the session, as the platform does after some hours."""
    person.expected.append("401 (Unauthorized)")
    await person.page.context.clear_cookies(name=SESSION)


def paths(person: Person) -> list[str]:
    """The paths that the page has requested, except those that browsers cache for a year."""
    requested = [urlsplit(url).path for url in person.log.requested]
    return [path for path in requested if not path.startswith(("/assets/", "/avatars/"))]


async def test_someone_signs_in_writes_and_signs_out(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}?limit=7")
    where = ada.page.url

    name = await register(ada)
    assert ada.page.url == where
    await ada.comment("Signed in.")
    await expect(ada.comments.filter(has_text="Signed in.")).to_contain_text(name)
    await ada.open("/write")
    await ada.page.get_by_label("Title").fill("A title")
    await ada.page.get_by_label("Text").fill("Some *text*.")
    await expect(ada.page.locator("[data-preview] em")).to_have_text("text")
    await ada.page.get_by_role("button", name="Publish").click()
    await expect(ada.page.locator("h1")).to_have_text("A title")
    written = ada.page.url
    await ada.choose("Sign out")

    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert ada.page.url == written
    assert SESSION not in [cookie["name"] for cookie in await ada.page.context.cookies()]


@pytest.mark.nightly
async def test_someone_who_signs_up_with_the_enter_key_has_the_focus_on_their_user(visit: Visit) -> None:
    ada = await visit()
    ada.expected.append("404 (Not Found)")
    name = unique("ada")
    await sign_in(ada, name)
    await ada.dialog.get_by_label("New username").fill(name)

    await ada.dialog.get_by_label("New username").press("Enter")

    await expect(ada.corner.get_by_role("button", name="Your account")).to_be_focused()


async def test_someone_who_is_known_gets_their_user_back(visit: Visit) -> None:
    ada = await visit()
    name = await register(ada)

    again = await visit("/write")
    await sign_in(again, name)

    await expect(again.corner).to_contain_text(name)
    await expect(again.dialog).to_be_hidden()
    assert urlsplit(again.page.url).path == "/write"


async def test_a_page_view_of_someone_signed_in_is_one_page_and_their_user(visit: Visit, post: Json) -> None:
    ada = await visit()
    await register(ada)
    ada.log.requested.clear()

    await ada.open(f"/posts/{post['id']}")

    user = await ada.evaluate("JSON.parse(localStorage['blog-user']).id")
    assert paths(ada) == [f"/posts/{post['id']}", f"/api/users/{user}"]


async def test_a_reader_is_never_redirected(visit: Visit, post: Json) -> None:
    reader = await visit(f"/posts/{post['id']}")

    assert paths(reader) == [f"/posts/{post['id']}"]


@pytest.mark.nightly
async def test_after_the_session_expires_nothing_written_is_lost(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    name = await register(ada)
    await expire(ada)

    await ada.comment("Too late.")
    await expect(ada.alert).to_contain_text("You are no longer signed in.")
    await sign_in(ada, name)
    await expect(ada.page.get_by_label("Your comment")).to_have_value("Too late.")
    await ada.page.get_by_role("button", name="Comment", exact=True).click()

    await expect(ada.comments.filter(has_text="Too late.")).to_contain_text(name)
    await expect(ada.status).to_contain_text("published")


@pytest.mark.nightly
async def test_after_the_session_of_an_editing_author_expires_the_post_is_shown(visit: Visit) -> None:
    ada = await visit("/write")
    await register(ada)
    shown = ada.page.locator("[data-preview]")
    await ada.page.get_by_label("Title").fill("A title")
    await ada.page.get_by_label("Text").fill("The published text.")
    await ada.page.get_by_role("button", name="Publish").click()
    await ada.page.get_by_role("link", name="Edit").click()
    await ada.page.get_by_label("Text").fill("An unpublished text.")
    await expect(shown).to_have_text("An unpublished text.")
    await expire(ada)

    await ada.page.get_by_role("button", name="Save").click()

    await expect(shown).to_have_text("The published text.")


@pytest.mark.nightly
async def test_pages_in_the_history_show_who_is_signed_in_now(visit: Visit, post: Json) -> None:
    ada = await visit()
    await ada.open(f"/posts/{post['id']}")
    name = await register(ada)

    await ada.page.go_back()
    await ada.page.go_back()
    await ada.page.go_back()
    await expect(ada.page.get_by_role("heading", name="The Blog", level=1)).to_be_attached()
    await expect(ada.corner).to_contain_text(name)
    await ada.choose("Sign out")
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    await ada.page.go_back()

    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()


async def test_a_page_without_a_session_shows_nobody(visit: Visit, post: Json) -> None:
    ada = await visit()
    await register(ada)
    await expire(ada)

    await ada.open(f"/posts/{post['id']}")

    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()


async def test_someone_whose_session_expires_before_they_have_a_user_can_sign_in_again(visit: Visit) -> None:
    ada = await visit()
    ada.expected.append("404 (Not Found)")
    name = unique("ada")
    await sign_in(ada, name)
    await expire(ada)

    await ada.dialog.get_by_label("New username").fill(name)
    await ada.dialog.get_by_role("button", name="Sign up").click()
    await expect(ada.dialog.get_by_role("alert")).to_contain_text("You are no longer signed in.")
    await ada.page.keyboard.press("Escape")
    await sign_in(ada, name)

    await expect(ada.dialog.get_by_label("New username")).to_be_visible()


async def test_nobody_can_change_another_users_post(visit: Visit, post: Json) -> None:
    ada = await visit()
    await register(ada)

    await ada.open(f"/posts/{post['id']}/edit")

    await expect(ada.page.get_by_text("Only its author can edit this post.")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Save")).to_be_hidden()


async def test_a_command_of_somebody_else_is_refused_with_advice(visit: Visit, post: Json) -> None:
    """The session can be another person's, who signed in with another tab of a page that has not noticed."""
    ada = await visit(f"/posts/{post['id']}")
    ada.expected.append("403 (Forbidden)")
    await register(ada)
    grace = await visit()
    await register(grace)

    await ada.page.context.add_cookies([one for one in await grace.page.context.cookies() if one["name"] == SESSION])
    await ada.comment("As Grace.")

    await expect(ada.alert).to_contain_text("Sign in as its author")
    await expect(ada.page.get_by_label("Your comment")).to_have_value("As Grace.")


@pytest.mark.nightly
async def test_tabs_share_the_session(visit: Visit, post: Json) -> None:
    ada = await visit()
    name = await register(ada)
    other = Person(await ada.page.context.new_page(), ada.url)
    await other.open(f"/posts/{post['id']}")
    await expect(other.corner).to_contain_text(name)

    await ada.choose("Sign out")

    await expect(other.page.get_by_role("button", name="Sign in")).to_be_visible()
    await sign_in(other, name)
    await expect(other.corner).to_contain_text(name)
    other.assert_no_errors()


@pytest.mark.nightly
async def test_an_outage_does_not_make_them_someone_without_a_user(visit: Visit) -> None:
    ada = await visit()
    name = await register(ada)
    await ada.fail("GET", "**/api/users/*", 503)

    await ada.page.reload()

    await expect(ada.alert).to_contain_text("The database cannot be reached.")
    await expect(ada.corner).to_contain_text(name)
