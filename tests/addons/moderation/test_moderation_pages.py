"""Reports by readers, and what moderators see and do, in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from playwright.async_api import Route, expect

from tests.accessibility import violations
from tests.addons.moderation.conftest import MODERATION
from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api, Json
from tests.auth.conftest import MODERATOR, principal, with_sign_in
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp, running_app

REASON = "It insults people."
PHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    log = tmp_path_factory.mktemp("moderation") / "host.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLOG_MODERATION", "1")
        settings = with_sign_in(emulator)
    with running_app(settings, log, environment=MODERATION) as running:
        yield running


def api_of(session: ClientSession, app: RunningApp, *roles: str) -> Api:
    return Api(session, app.url, app.openapi, headers=principal(unique("someone"), roles=roles))


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with ClientSession() as opened:
        yield opened


@pytest.fixture
async def reader(session: ClientSession, app: RunningApp) -> Api:
    return api_of(session, app)


@pytest.fixture
async def moderator(session: ClientSession, app: RunningApp) -> Api:
    return api_of(session, app, MODERATOR)


@pytest.fixture
async def author(session: ClientSession, app: RunningApp) -> Api:
    return api_of(session, app)


@pytest.fixture
async def user(author: Api) -> Json:
    return await author.new_user()


@pytest.fixture
async def post(author: Api, user: Json) -> Json:
    return await author.new_post(user)


@pytest.fixture
async def comment(author: Api, user: Json, post: Json) -> Json:
    return await author.new_comment(post, user, "An insult.")


async def visit_as(visit: Visit, path: str, api: Api, **options: object) -> Person:
    """Open a page with the headers of a principal, who has a user."""
    user = await api.new_user()
    person: Person = await visit(path, extra_http_headers=api.headers, **options)
    await expect(person.corner).to_contain_text(user["username"])
    return person


async def serve_as_now(person: Person, path: str) -> None:
    """Serve the page as it is, like a list that the change feed has not reached."""
    listed = await (await person.page.request.get(person.url + path)).text()
    await person.page.route(person.url + path, lambda route: route.fulfill(body=listed, content_type="text/html"))


async def give_reason(person: Person, reason: str, action: str) -> None:
    dialog = person.page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill(reason)
    await dialog.get_by_role("button", name=action).click()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["post", "comment"])
async def test_a_reader_reports_something(
    visit: Visit, reader: Api, moderator: Api, post: Json, comment: Json, kind: str
) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}", reader)
    place = person.page.locator("article.post > footer" if kind == "post" else "ol.comments")

    earlier = f"You have already reported this {kind}. The moderators see your reason: {REASON}"
    for reason, message in ((REASON, "The moderators will see your report."), ("Another reason.", earlier)):
        await place.get_by_role("button", name="Report").click()
        await give_reason(person, reason, "Report")
        await expect(person.status).to_contain_text(message)

    item = post if kind == "post" else comment

    async def is_listed() -> bool:
        return item["id"] in [entry["itemId"] for entry in (await moderator.list_reports(limit=100)).body["items"]]

    await eventually(is_listed)


async def test_readers_see_nothing_of_moderation(visit: Visit, reader: Api, post: Json, comment: Json) -> None:
    person = await visit_as(visit, "/", reader)
    for path in (f"/posts/{post['id']}", f"/users/{post['userId']}"):
        await person.open(path)
        assert await person.page.locator("[data-moderate], [data-ban]").count() == 0
        await expect(person.page.get_by_role("link", name="Reports")).to_have_count(0)

    person.expected.append("403 (Forbidden)")
    await person.open("/reports")
    await expect(person.page.get_by_role("heading", name="You cannot see this page")).to_be_visible()


async def test_strangers_are_asked_to_sign_in(visit: Visit) -> None:
    person = await visit("/")
    person.expected.append("401 (Unauthorized)")
    await person.open("/reports")
    await expect(person.page.get_by_role("heading", name="Sign in to see this page")).to_be_visible()


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
async def test_a_moderator_deletes_a_reported_comment_and_its_author(
    visit: Visit, author: Api, moderator: Api, post: Json, comment: Json, options: dict[str, object]
) -> None:
    await author.report(post["id"], post["userId"], REASON, comment_id=comment["id"])
    person = await visit_as(visit, "/", moderator, **options)

    async def is_listed() -> bool:
        await person.open("/reports?limit=100")
        return await person.page.locator(f"a[href*='{comment['id']}']").count() == 1

    await eventually(is_listed)
    await person.page.locator(f"a[href*='{comment['id']}']").click()
    deleting = person.page.locator(f"#comment-{comment['id']}").get_by_role("button", name="Delete")
    await deleting.focus()
    await person.page.keyboard.press("Enter")
    await expect(person.page.get_by_role("dialog").get_by_label("Reason")).to_be_focused()
    await person.page.keyboard.type(REASON)
    await person.page.keyboard.press("Tab")
    await person.page.keyboard.press("Enter")
    await expect(person.status).to_contain_text("The comment is deleted.")
    assert (await author.list_comments(post["id"])).body["items"] == []

    await person.open(f"/users/{post['userId']}")
    await person.page.get_by_role("button", name="Delete this account").click()
    dialog = person.page.get_by_role("dialog")
    await dialog.get_by_label("They cannot register again").check()
    await give_reason(person, REASON, "Delete")
    await expect(person.status).to_contain_text("The account is deleted.")
    refused = await author.create_user(unique("ada"))
    assert (refused.status, refused.body["title"]) == (409, "Account deleted")


async def test_after_a_moderator_deletes_a_comment_the_page_is_as_after_its_authors_deletion(
    visit: Visit, author: Api, moderator: Api, user: Json, post: Json, comment: Json
) -> None:
    await author.new_comment(post, user, "Another insult.")
    person = await visit_as(visit, f"/posts/{post['id']}", moderator)
    number = person.page.locator("[data-comment-count]")
    empty = person.page.get_by_text("No comments yet.")
    await expect(number).to_have_text("2")

    for left in (1, 0):
        await person.comments.first.get_by_role("button", name="Delete").press("Enter")
        await give_reason(person, REASON, "Delete")

        await expect(person.status).to_contain_text("The comment is deleted.")
        await expect(person.comments).to_have_count(left)
        await expect(number).to_have_text(str(left))
        await expect(empty).to_be_visible(visible=left == 0)
        await expect(person.page.get_by_label("Your comment")).to_be_focused()


@pytest.mark.nightly
async def test_a_list_that_is_behind_hides_a_post_that_a_moderator_deleted(
    visit: Visit, moderator: Api, post: Json
) -> None:
    person = await visit_as(visit, "/", moderator)
    card = person.page.locator(f"#post-{post['id']}")

    async def is_listed() -> bool:
        await person.open("/")
        return await card.count() == 1

    await eventually(is_listed)
    await serve_as_now(person, "/")
    await person.open(f"/posts/{post['id']}")
    await person.page.locator("article.post").get_by_role("button", name="Delete").click()
    await give_reason(person, REASON, "Delete")

    await expect(person.status).to_contain_text("The post is deleted.")
    await expect(person.page).to_have_url(f"{person.url}/")
    await expect(card).to_have_count(0)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["post", "account"])
async def test_a_moderator_whose_session_ends_can_sign_in(visit: Visit, moderator: Api, post: Json, kind: str) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}" if kind == "post" else f"/users/{post['userId']}", moderator)
    await person.fail("DELETE", "**/api/moderation/**", 401)

    await person.page.locator("[data-moderate]").first.click()
    await give_reason(person, REASON, "Delete")

    await expect(person.page.get_by_role("dialog")).to_contain_text("You are no longer signed in.")
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("button", name="Sign in")).to_be_visible()


async def test_a_moderator_who_deletes_a_deleted_account_stays_signed_in(
    visit: Visit, author: Api, moderator: Api, user: Json
) -> None:
    person = await visit_as(visit, f"/users/{user['id']}", moderator)
    await author.delete_user(user["id"])
    person.expected.append("404 (Not Found)")

    await person.page.get_by_role("button", name="Delete this account").click()
    await give_reason(person, REASON, "Delete")

    await expect(person.page.get_by_role("dialog")).to_contain_text("This was deleted.")
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("button", name="Your account")).to_be_visible()


async def test_a_report_that_is_sent_late_closes_no_other_dialog(
    visit: Visit, reader: Api, post: Json, comment: Json
) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}", reader)
    dialog = person.page.get_by_role("dialog")
    may_arrive = asyncio.Event()

    async def arrive_later(route: Route) -> None:
        await may_arrive.wait()
        await route.continue_()

    await person.page.route(f"**/posts/{post['id']}/reports", arrive_later)
    await person.page.locator("article.post > footer").get_by_role("button", name="Report").click()
    await give_reason(person, REASON, "Report")
    await person.page.keyboard.press("Escape")
    await person.page.locator("ol.comments").get_by_role("button", name="Report").click()
    await dialog.get_by_label("Reason").fill("Another reason.")
    may_arrive.set()

    await expect(person.status).to_contain_text("The moderators will see your report.")
    await expect(dialog.get_by_label("Reason")).to_have_value("Another reason.")
    await dialog.get_by_role("button", name="Report").click()
    await expect(dialog).to_be_hidden()


async def test_the_buttons_are_shown_when_their_script_is_loaded(visit: Visit, moderator: Api, post: Json) -> None:
    """Before that, nothing would happen on a click."""
    person = await visit_as(visit, "/", moderator)
    is_seen = asyncio.Event()

    async def load_later(route: Route) -> None:
        await is_seen.wait()
        await route.continue_()

    await person.page.route("**/moderation.js", load_later)
    await person.page.goto(f"{person.url}/posts/{post['id']}", wait_until="commit")
    button = person.page.locator("article.post").get_by_role("button", name="Delete")
    await expect(person.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(button).to_be_hidden()
    is_seen.set()
    await button.click()

    await expect(person.page.get_by_role("dialog")).to_be_visible()


async def test_a_refused_deletion_is_explained_in_the_dialog(
    visit: Visit, post: Json, author: Api, moderator: Api
) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}", moderator)
    await author.delete_post(post["id"])
    person.expected.append("404 (Not Found)")

    await person.page.locator("article.post").get_by_role("button", name="Delete").click()
    await give_reason(person, REASON, "Delete")

    await expect(person.page.get_by_role("dialog").locator("[data-error]")).to_contain_text("deleted")
    await person.page.keyboard.press("Escape")
    await expect(person.page.locator("article.post").get_by_role("button", name="Delete")).to_be_focused()


async def test_a_moderator_dismisses_a_report(visit: Visit, author: Api, moderator: Api, post: Json) -> None:
    await author.report(post["id"], post["userId"], REASON)
    person = await visit_as(visit, "/", moderator)
    entry = person.page.locator(".reports > li").filter(has=person.page.locator(f"a[href*='{post['id']}']"))

    async def is_listed() -> bool:
        await person.open("/reports?limit=100")
        return await entry.count() == 1

    await eventually(is_listed)
    await entry.get_by_role("button", name="Dismiss").click()

    await expect(entry).to_have_count(0)
    await person.open("/reports?limit=100")
    await expect(entry).to_have_count(0)


@pytest.mark.nightly
async def test_a_report_that_the_page_does_not_show_is_not_dismissed(
    visit: Visit, author: Api, moderator: Api, reader: Api, post: Json
) -> None:
    await author.report(post["id"], post["userId"], REASON)
    person = await visit_as(visit, "/", moderator)
    entry = person.page.locator(".reports > li").filter(has=person.page.locator(f"a[href*='{post['id']}']"))

    async def is_listed(number: int) -> bool:
        listed = (await moderator.list_reports(limit=100)).body["items"]
        return [found["reportCount"] for found in listed if found["itemId"] == post["id"]] == [number]

    await eventually(lambda: is_listed(1))
    await person.open("/reports?limit=100")
    await reader.report(post["id"], (await reader.new_user())["id"], "It is abusive now.")
    await eventually(lambda: is_listed(2))
    person.expected.append("412 (Precondition Failed)")
    await entry.get_by_role("button", name="Dismiss").click()

    await expect(person.alert).to_contain_text("This has changed since you loaded it. Reload the page")
    await expect(entry).to_have_count(1)


@pytest.mark.nightly
async def test_a_report_that_was_dismissed_elsewhere_is_dismissed(
    visit: Visit, author: Api, moderator: Api, post: Json
) -> None:
    """The answer of the first click can have been lost."""
    await author.report(post["id"], post["userId"], REASON)
    person = await visit_as(visit, "/", moderator)
    entry = person.page.locator(".reports > li").filter(has=person.page.locator(f"a[href*='{post['id']}']"))

    async def is_listed() -> bool:
        await person.open("/reports?limit=100")
        return await entry.count() == 1

    await eventually(is_listed)
    entry_id = str(await entry.get_attribute("id")).removeprefix("report-")
    assert (await moderator.send("DELETE", f"/api/reports/{entry_id}")).status == 204
    person.expected.append("404 (Not Found)")
    await entry.get_by_role("button", name="Dismiss").click()

    await expect(person.status).to_contain_text("The report is dismissed.")
    await expect(entry).to_have_count(0)


@pytest.mark.nightly
async def test_a_moderator_dismisses_all_reports_with_the_keyboard(
    visit: Visit, author: Api, moderator: Api, post: Json, comment: Json
) -> None:
    await author.report(post["id"], post["userId"], REASON)
    await author.report(post["id"], post["userId"], REASON, comment_id=comment["id"])
    person = await visit_as(visit, "/", moderator)
    entries = person.page.locator(".reports > li")

    async def are_listed() -> bool:
        await person.open("/reports?limit=100")
        return await entries.filter(has=person.page.locator(f"a[href*='{post['id']}']")).count() == 2

    await eventually(are_listed)
    empty = person.page.get_by_role("heading", name="No reports")
    await expect(empty).to_be_hidden()
    await entries.first.get_by_role("link").first.focus()
    for left in reversed(range(await entries.count())):
        for _ in range(2):  # over the author
            await person.page.keyboard.press("Tab")
        await person.page.keyboard.press("Enter")
        await expect(entries).to_have_count(left)
        await expect(
            entries.first.get_by_role("link").first if left else person.page.get_by_role("main")
        ).to_be_focused()

    await expect(empty).to_be_visible()
    await expect(person.status).to_contain_text("The report is dismissed.")


@pytest.mark.nightly
async def test_the_focus_stays_on_a_report_that_could_not_be_dismissed(
    visit: Visit, author: Api, moderator: Api, post: Json
) -> None:
    await author.report(post["id"], post["userId"], REASON)
    person = await visit_as(visit, "/", moderator)
    button = person.page.get_by_role("button", name="Dismiss").first

    async def is_listed() -> bool:
        await person.open("/reports")
        return await button.count() == 1

    await eventually(is_listed)
    await person.fail("DELETE", "**/api/reports/*", 503)
    await button.press("Enter")

    await expect(person.alert).to_contain_text("Wait a few seconds")
    await expect(button).to_be_focused()


@pytest.mark.nightly
async def test_later_reports_link_to_the_first_ones(
    visit: Visit, author: Api, moderator: Api, post: Json, comment: Json
) -> None:
    await author.report(post["id"], post["userId"], REASON)
    await author.report(post["id"], post["userId"], REASON, comment_id=comment["id"])
    person = await visit_as(visit, "/", moderator)
    more, first = [person.page.get_by_role("link", name=name) for name in ("More reports", "First reports")]

    async def are_listed() -> bool:
        await person.open("/reports?limit=1")
        return await more.count() == 1

    await eventually(are_listed)
    await expect(first).to_have_count(0)
    await more.click()
    await expect(person.status).to_contain_text("more loaded")
    # Then the page starts with the second one.
    await person.page.reload()
    entries = person.page.locator(".reports > li")
    for left in reversed(range(await entries.count())):
        await entries.first.get_by_role("button", name="Dismiss").click()
        await expect(entries).to_have_count(left)
    await person.page.reload()

    await expect(person.page.get_by_role("heading", name="No reports")).to_be_hidden()
    await first.click()
    await expect(person.page).to_have_url(f"{person.url}/reports")
    await expect(entries).not_to_have_count(0)
    await expect(first).to_have_count(0)


async def test_each_button_that_dismisses_says_which_report(
    visit: Visit, author: Api, moderator: Api, post: Json, comment: Json
) -> None:
    await author.report(post["id"], post["userId"], "It insults me.")
    await author.report(post["id"], post["userId"], "It insults them.", comment_id=comment["id"])
    person = await visit_as(visit, "/", moderator)
    entries = person.page.locator(".reports > li").filter(has=person.page.locator(f"a[href*='{post['id']}']"))

    async def are_listed() -> bool:
        await person.open("/reports?limit=100")
        return await entries.count() == 2

    await eventually(are_listed)
    for start, reason in ((post["title"], "It insults me."), (f"Comment on {post['title']}", "It insults them.")):
        button = entries.filter(has_text=reason).get_by_role("button", name="Dismiss")
        await expect(button).to_have_accessible_description(f"{start} {reason}")


@pytest.mark.nightly
async def test_a_post_is_reported_dismissed_edited_and_deleted_with_a_reason(
    visit: Visit, author: Api, reader: Api, moderator: Api, post: Json, tmp_path: Path
) -> None:
    """The whole way of a post: what the reader, the moderator, and the author see, and the author once banned."""
    reporting = await visit_as(visit, f"/posts/{post['id']}", reader)
    moderating = await visit_as(visit, "/", moderator)
    button = reporting.page.locator("article.post > footer").get_by_role("button", name="Report")
    entry = moderating.page.locator(".reports > li").filter(has=moderating.page.locator(f"a[href*='{post['id']}']"))

    await button.click()
    await give_reason(reporting, "An advertisement.", "Report")
    await expect(reporting.status).to_contain_text("Thank you.")
    await moderating.page.get_by_role("link", name="Reports").click()
    await expect(entry).to_contain_text(post["title"])
    await expect(entry).to_contain_text(post["userUsername"])
    await expect(entry).not_to_contain_text("Edited since")
    await entry.get_by_role("button", name="Dismiss").click()
    await expect(entry).to_have_count(0)

    assert (await author.edit_post(post["id"], post["title"], "An advertisement, now really.")).status == 200
    await reporting.open(f"/posts/{post['id']}")
    await button.click()
    await give_reason(reporting, "Now it really is one.", "Report")
    await expect(reporting.status).to_contain_text("Thank you.")
    assert (await author.edit_post(post["id"], "Another title", "Buy now.")).status == 200
    await moderating.open("/reports?limit=100")
    await expect(entry).to_contain_text("Now it really is one.")
    await expect(entry).to_contain_text("Edited since")
    await moderating.page.screenshot(path=tmp_path / "reports.png", full_page=True)
    await entry.get_by_role("link", name="Another title").click()
    await moderating.page.locator("article.post").get_by_role("button", name="Delete").click()
    await give_reason(moderating, "Advertisements belong elsewhere.", "Delete")
    await expect(moderating.status).to_contain_text("The post is deleted.")

    reading = await visit(f"/users/{post['userId']}", extra_http_headers=author.headers)
    await reading.page.get_by_role("link", name="Deleted by moderators").click()
    await expect(reading.page.get_by_role("main")).to_contain_text("Advertisements belong elsewhere.")
    assert await violations(reading.page) == []
    await reading.page.screenshot(path=tmp_path / "deletions.png", full_page=True)

    await moderating.open(f"/users/{post['userId']}")
    await moderating.page.get_by_role("button", name="Delete this account").click()
    await moderating.page.get_by_role("dialog").get_by_label("They cannot register again").check()
    await give_reason(moderating, "Again and again.", "Delete")
    await expect(moderating.status).to_contain_text("The account is deleted.")
    refused = await author.create_user(unique("again"))
    assert (refused.status, refused.body["detail"]) == (409, "This account was deleted. You cannot register again.")


async def test_an_empty_reason_is_explained(visit: Visit, reader: Api, post: Json) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}", reader)
    button = person.page.locator("article.post > footer").get_by_role("button", name="Report")
    field = person.page.get_by_role("dialog").get_by_label("Reason")
    message = "field => field.validationMessage"
    await button.click()

    await give_reason(person, "  \n", "Report")

    assert await field.evaluate(message) == "This is empty. Write something."
    await expect(field).to_be_focused()
    await person.page.keyboard.press("Escape")
    await button.click()
    assert await field.evaluate(message) != "This is empty. Write something."
    await give_reason(person, " ", "Report")
    await give_reason(person, REASON, "Report")
    await expect(person.status).to_contain_text("The moderators will see your report")


@pytest.mark.nightly
async def test_a_reason_may_have_as_many_emoji_as_letters(visit: Visit, moderator: Api, post: Json) -> None:
    person = await visit_as(visit, f"/posts/{post['id']}", moderator)
    await person.page.locator("article.post").get_by_role("button", name="Delete").click()

    await give_reason(person, "a" * 501, "Delete")
    field = person.page.get_by_role("dialog").get_by_label("Reason")
    assert await field.evaluate("field => field.validationMessage") == "This is too long. Use at most 500 characters."

    await give_reason(person, "\U0001f600" * 500, "Delete")
    await expect(person.status).to_contain_text("The post is deleted.")


@pytest.mark.nightly
@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
async def test_moderation_is_accessible(
    visit: Visit, author: Api, moderator: Api, post: Json, comment: Json, size: dict[str, object], tmp_path: Path
) -> None:
    await author.report(post["id"], post["userId"], REASON)
    person = await visit_as(visit, f"/posts/{post['id']}", moderator, **size)
    assert await violations(person.page) == []
    await person.page.screenshot(path=tmp_path / "post.png", full_page=True)
    await person.page.locator("ol.comments").get_by_role("button", name="Report").click()
    assert await violations(person.page) == []
    await person.page.screenshot(path=tmp_path / "dialog.png")
    await person.page.keyboard.press("Escape")
    await person.open(f"/users/{post['userId']}")
    await person.page.get_by_role("button", name="Delete this account").click()
    assert await violations(person.page) == []
    await person.page.screenshot(path=tmp_path / "account.png")

    async def is_listed() -> bool:
        await person.open("/reports")
        return await person.page.locator(".reports > li").count() > 0

    await eventually(is_listed)
    assert await violations(person.page) == []
    await person.page.screenshot(path=tmp_path / "reports.png", full_page=True)
