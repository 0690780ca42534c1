"""Failed commands on the site, in Chromium."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api
from tests.items import unique

pytestmark = pytest.mark.nightly

# Without an answer, throttled, and an unforeseen failure.
FAILURES = {None: "cannot be reached", 429: "very busy", 500: "The server failed"}


async def lose_an_answer(person: Person, method: str, pattern: str) -> None:
    """Let the database execute the next command, but not answer it."""
    person.expected.append("Failed to load resource")

    async def lose(route: Route) -> None:
        if route.request.method != method:
            await route.fallback()
            return
        await route.fetch()
        await route.abort()
        await person.page.unroute(pattern, lose)

    await person.page.route(pattern, lose)


@pytest.mark.nightly
@pytest.mark.parametrize("status", FAILURES)
async def test_a_like_that_fails_is_taken_back(visit: Visit, api: Api, status: int | None) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    await ada.fail("POST", "**/likes", status)

    await ada.like.click()

    await expect(ada.alert).to_contain_text(FAILURES[status])
    await expect(ada.like).to_have_attribute("aria-pressed", "false")
    await expect(ada.page.locator("[data-like-count]")).to_have_text("0")
    await expect(ada.page.locator("[data-likers] > li")).to_have_count(0)


async def test_a_comment_that_fails_is_taken_back_and_its_text_is_kept(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    await ada.fail("POST", "**/comments")

    await ada.comment("Well put.")

    await expect(ada.alert).to_contain_text("cannot be reached")
    await expect(ada.comments).to_have_count(0)
    await expect(ada.page.get_by_text("No comments yet.")).to_be_visible()
    await expect(ada.page.get_by_label("Your comment")).to_have_value("Well put.")
    await expect(ada.page.locator("[data-comment-count]")).to_have_text("0")


async def test_a_comment_that_fails_is_kept_beside_the_next_one(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    ada.expected.append("Failed to load resource")
    next_is_written = asyncio.Event()

    async def fail_later(route: Route) -> None:
        await next_is_written.wait()
        await route.abort()

    await ada.page.route("**/comments", fail_later)
    await ada.comment("First.")
    await expect(ada.comments).to_have_count(1)
    await ada.page.get_by_label("Your comment").fill("Second.")
    next_is_written.set()

    await expect(ada.alert).to_contain_text("cannot be reached")
    await expect(ada.page.get_by_label("Your comment")).to_have_value("First.\n\nSecond.")


async def test_a_deletion_that_fails_restores_the_comment_in_its_place(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    for content in ("one", "two", "three"):
        await api.new_comment(post, user, content)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await ada.fail("DELETE", "**/comments/*", 503)

    await ada.comments.nth(1).get_by_role("button", name="Delete").click()
    await ada.confirm()

    await expect(ada.alert).to_contain_text("Wait a few seconds")
    assert [await item.locator("[data-content]").inner_text() for item in await ada.comments.all()] == [
        "one",
        "two",
        "three",
    ]
    await expect(ada.page.locator("[data-comment-count]")).to_have_text("3")


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["rename", "editor"])
async def test_the_focus_stays_on_the_button_of_a_form_that_fails(visit: Visit, api: Api, form: str) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}/edit" if form == "editor" else f"/users/{user['id']}")
    await ada.be(user)
    await ada.fail("PUT", "**/api/*/*", 503)
    if form != "editor":
        await ada.page.locator(f"[data-open-{form}]").click()
    fields = ada.page.locator(f"form[data-{form}]")
    button = fields.get_by_role("button").and_(ada.page.locator(":not([type=button])"))

    await button.press("Enter")

    await expect(ada.alert).to_contain_text("Wait a few seconds")
    await expect(button).to_be_focused()


async def test_someone_whose_account_is_deleted_is_not_offered_again(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await api.delete_user(user["id"])
    ada.expected.append("404 (Not Found)")
    await ada.comment("Hello?")
    await expect(ada.alert).to_contain_text("Sign in as someone else")

    await ada.page.get_by_role("button", name="Sign in").click()

    await expect(ada.dialog).to_be_visible()
    await expect(ada.dialog.get_by_role("button", name=user["username"])).to_have_count(0)


async def test_a_comment_repeated_after_a_lost_answer_exists_once(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    ada.expected.append("Failed to load resource")

    async def lose_the_answer(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await ada.page.route("**/comments", lose_the_answer, times=1)
    await ada.comment("Well put.")
    await expect(ada.alert).to_contain_text("Try again")

    await ada.page.get_by_role("button", name="Comment", exact=True).click()

    await expect(ada.status).to_have_text("Your comment is published.")
    assert [item["content"] for item in (await api.list_comments(post["id"])).body["items"]] == ["Well put."]


@pytest.mark.nightly
@pytest.mark.parametrize("space", ["", " "])
async def test_an_edit_repeated_after_a_lost_answer_is_saved(visit: Visit, api: Api, space: str) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await lose_an_answer(ada, "PUT", "**/api/posts/*")
    await ada.page.get_by_label("Title").fill(f"A better title{space}")
    await ada.page.get_by_label("Text", exact=True).fill("Better text.\n")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.alert).to_contain_text("Try again")

    await ada.page.get_by_role("button", name="Save").click()

    await expect(ada.status).to_have_text("Your changes are saved.")
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("A better title")
    await ada.page.get_by_role("link", name="Edit").click()
    await expect(ada.page.get_by_role("button", name="Save")).to_be_enabled()
    await expect(ada.page.locator("[data-kept]")).to_be_empty()


async def test_a_rename_repeated_after_a_lost_answer_succeeds(visit: Visit, api: Api) -> None:
    user, name = await api.new_user(), unique("grace")
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    await lose_an_answer(ada, "PUT", "**/api/users/*")
    await ada.page.get_by_role("button", name="Change username").click()
    await ada.page.locator("main").get_by_label("New username").fill(name)
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.alert).to_contain_text("Try again")

    await ada.page.get_by_role("button", name="Save").click()

    await expect(ada.status).to_contain_text(f"You are now {name}.")
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(name)
    await expect(ada.corner).to_contain_text(name)
    # The page knows the current version.
    again = unique("grace")
    await ada.page.get_by_role("button", name="Change username").click()
    await ada.page.locator("main").get_by_label("New username").fill(again)
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.status).to_contain_text(f"You are now {again}.")


async def test_a_comment_repeated_after_half_an_answer_exists_once(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()

    async def cut(route: Route) -> None:
        await route.fulfill(response=await route.fetch(), body="{")

    await ada.page.route("**/comments", cut, times=1)
    await ada.comment("Well put.")
    await expect(ada.alert).to_have_text("The blog cannot be reached. Try again when you are connected.")

    await ada.page.get_by_role("button", name="Comment", exact=True).click()

    await expect(ada.status).to_have_text("Your comment is published.")
    assert [item["content"] for item in (await api.list_comments(post["id"])).body["items"]] == ["Well put."]


async def test_half_an_answer_about_the_user_is_no_error(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit("/write")
    await ada.be(user)
    await ada.page.route("**/api/users/*", lambda route: route.fulfill(body="{"))

    await ada.open("/write")

    await expect(ada.corner).to_contain_text(user["username"])


async def test_half_an_answer_about_a_like_keeps_the_like(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await api.new_like(post, user)
    await ada.page.route("**/api/posts/*", lambda route: route.fulfill(body="{"))

    await ada.like.click()

    await expect(ada.status).to_have_text("You like this post.")
    await expect(ada.page.locator("[data-like-count]")).to_have_text("1")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["comment", "post", "account"])
async def test_a_deletion_repeated_after_a_lost_answer_succeeds(visit: Visit, api: Api, kind: str) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    await api.new_comment(post, user)
    ada = await visit(f"/users/{user['id']}" if kind == "account" else f"/posts/{post['id']}")
    await ada.be(user)
    await lose_an_answer(ada, "DELETE", "**/api/**")

    for attempt in range(2):
        await ada.page.locator(f"[data-delete-{kind}]:visible").click()
        if kind == "account":
            await ada.page.get_by_label("Type your username to confirm").fill(user["username"])
        await ada.confirm()
        if not attempt:
            await expect(ada.alert).to_contain_text("Try again")
            await expect(ada.page.locator(f"[data-delete-{kind}]:visible")).to_be_focused()

    await expect(ada.status).to_contain_text(f"{'The' if kind == 'comment' else 'Your'} {kind} is deleted.")
    await expect(ada.alert).to_be_empty()
    if kind == "comment":
        await expect(ada.comments).to_have_count(0)
        await expect(ada.page.locator("[data-comment-count]")).to_have_text("0")


async def test_the_site_tells_when_it_is_offline_and_back(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    ada.expected.append("ERR_INTERNET_DISCONNECTED")

    await ada.page.context.set_offline(True)
    await expect(ada.alert).to_contain_text("You are offline.")
    await ada.comment("From a train.")
    await expect(ada.alert).to_have_text("You are offline. Try again when you are connected.")
    await ada.page.context.set_offline(False)

    await expect(ada.status).to_have_text("You are online again.")
    await ada.page.get_by_role("button", name="Comment", exact=True).click()
    await expect(ada.status).to_have_text("Your comment is published.")
    assert (await api.get_post(post["id"])).body["commentCount"] == 1


async def test_without_a_function_key_the_site_says_that_it_is_read_only(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await ada.fail("POST", "**/likes", 401)

    await ada.like.click()

    await expect(ada.alert).to_contain_text("read-only")
    await expect(ada.alert).to_contain_text("BLOG_AUTH")


async def test_a_user_whom_the_database_lost_is_forgotten(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.evaluate("localStorage.setItem('blog-user', JSON.stringify({id: 'lost', username: 'lost'}))")
    await ada.page.reload()
    ada.expected.append("404 (Not Found)")

    await ada.comment("Hello?")

    await expect(ada.alert).to_contain_text("Sign in as someone else")
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_visible()
    await expect(ada.page.get_by_label("Your comment")).to_have_value("Hello?")


async def test_an_edit_of_a_post_that_changed_meanwhile_asks_first(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(author)
    await api.edit_post(post["id"], "From another tab", "Other text.")
    ada.expected.append("412 (Precondition Failed)")
    await ada.page.get_by_label("Title").fill("From this tab")

    await ada.page.get_by_role("button", name="Save").press("Enter")
    await expect(ada.page.locator(".notice[role=alert]")).to_contain_text("has changed since")
    await expect(ada.page.get_by_role("button", name="Save")).to_be_focused()
    assert (await api.get_post(post["id"])).body["title"] == "From another tab"
    await ada.page.get_by_role("button", name="Save").click()

    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("From this tab")
    assert (await api.get_post(post["id"])).body["content"] == "Some content."


async def test_a_field_that_the_server_refuses_says_why(visit: Visit, api: Api) -> None:
    ada = await visit("/write")
    await ada.sign_up()
    ada.expected.append("422 (Unprocessable")
    await ada.page.get_by_label("Title").fill("   ")
    await ada.page.get_by_label("Text").fill("Some text.")

    await ada.page.get_by_role("button", name="Publish").click()

    await expect(ada.page.get_by_label("Title")).to_be_focused()
    await expect(ada.page.get_by_label("Title")).to_have_js_property("validity.customError", True)
    await expect(ada.page.get_by_label("Title")).to_have_js_property(
        "validationMessage", "This is empty. Write something."
    )


async def test_a_title_may_have_as_many_emoji_as_letters(visit: Visit, api: Api) -> None:
    """Browsers count an emoji as two characters."""
    user = await api.new_user()
    post = (await api.create_post(user["id"], "\N{GRINNING FACE}" * 150, "Some content.")).body
    ada = await visit(f"/posts/{post['id']}/edit")
    await ada.be(user)
    await ada.page.get_by_label("Title").press("End")
    await ada.page.get_by_label("Title").press("Backspace")

    await ada.page.get_by_role("button", name="Save").click()

    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("\N{GRINNING FACE}" * 149)


async def test_a_comment_that_is_too_long_says_why(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    ada.expected.append("422 (Unprocessable")

    await ada.comment("x" * 5_001)

    field = ada.page.get_by_label("Your comment")
    await expect(field).to_have_js_property("validationMessage", "This is too long. Use at most 5,000 characters.")
    await expect(field).to_have_value("x" * 5_001)


async def test_a_username_that_the_server_refuses_says_why(visit: Visit) -> None:
    ada = await visit()
    ada.expected.append("422 (Unprocessable")
    await ada.page.get_by_role("button", name="Sign in").click()
    await ada.dialog.get_by_label("New username").fill("ada lovelace")

    await ada.dialog.get_by_role("button", name="Sign up").click()

    await expect(ada.dialog.get_by_role("alert")).to_have_text("Use only letters, digits, “_”, “-” and “.”.")
    await expect(ada.dialog.get_by_label("New username")).to_be_focused()


async def test_a_request_that_the_server_does_not_understand_has_advice_for_people(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/posts/{(await api.new_post(user))['id']}")
    await ada.be(user)
    await ada.fail("POST", "**/likes", 400)

    await ada.like.click()

    await expect(ada.alert).to_contain_text("Reload the page, then try again.")


async def test_a_draft_survives_a_closed_tab_and_can_be_discarded(visit: Visit) -> None:
    ada = await visit("/write")
    await ada.page.get_by_label("Title").fill("Unfinished")

    await ada.open("/")
    await ada.open("/write")

    await expect(ada.page.get_by_label("Title")).to_have_value("Unfinished")
    await expect(ada.status).to_contain_text("draft is restored")
    await ada.page.get_by_role("button", name="Discard draft").click()
    await expect(ada.page.get_by_label("Title")).to_have_value("")


@pytest.mark.nightly
async def test_a_draft_survives_a_browser_that_restores_fields(visit: Visit) -> None:
    ada = await visit("/write")
    await ada.page.get_by_label("Text").fill("Unfinished")

    await ada.open("/")
    await ada.page.go_back(wait_until="networkidle")
    await ada.open("/")
    await ada.open("/write")

    await expect(ada.page.get_by_label("Text")).to_have_value("Unfinished")


async def test_more_items_are_a_navigation_if_the_scripts_do_not_load(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    for number in range(21):
        await api.new_comment(post, author, f"Comment {number}.")
    ada = await visit(f"/posts/{post['id']}")
    await ada.fail("GET", "**/more.js")

    await ada.page.get_by_role("link", name="Show newer").click()

    await expect(ada.comments).to_have_count(1)
    await expect(ada.comments).to_contain_text(["Comment 20."])


async def test_two_tabs_share_the_user_and_see_each_others_changes(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    second = await ada.page.context.new_page()
    await second.goto(ada.page.url)

    username = await ada.sign_up()
    await expect(second.locator("[data-identity]")).to_contain_text(username)
    await ada.comment("From the first tab.")
    await expect(ada.status).to_have_text("Your comment is published.")
    await second.get_by_label("Your comment").fill("From the second tab.")
    await second.get_by_role("button", name="Comment", exact=True).click()
    await expect(second.locator("#status")).to_have_text("Your comment is published.")

    await ada.page.reload()
    await expect(ada.comments).to_contain_text(["From the first tab.", "From the second tab."])


async def test_a_rename_to_a_taken_name_is_refused_at_the_field(visit: Visit, api: Api) -> None:
    user, taken = await api.new_user(), await api.new_user()
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    ada.expected.append("409 (Conflict)")
    await ada.page.get_by_role("button", name="Change username").click()
    field = ada.page.locator("main").get_by_label("New username")
    await field.fill(taken["username"])

    await ada.page.get_by_role("button", name="Save").click()

    await expect(field).to_have_js_property("validity.customError", True)
    assert "taken" in await field.evaluate("field => field.validationMessage")
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(user["username"])


async def test_a_rename_of_an_account_that_was_deleted_elsewhere_leads_to_signing_in(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    await api.delete_user(user["id"])
    ada.expected.append("404 (Not Found)")
    await ada.page.get_by_role("button", name="Change username").click()
    field = ada.page.locator("main").get_by_label("New username")
    await field.fill(unique("grace"))

    await field.press("Enter")

    await expect(ada.alert).to_contain_text("Sign in as someone else")
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_focused()


async def test_a_failed_request_does_not_drop_a_later_session_token(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/posts/{(await api.new_post(user))['id']}")
    await ada.be(user)
    ada.expected.append("503 (Service Unavailable)")
    has_later_token = asyncio.Event()

    async def fail_later(route: Route) -> None:
        await has_later_token.wait()
        await route.fulfill(status=503, json={"title": "Unavailable"})

    await ada.page.route("**/comments", fail_later)
    await ada.evaluate("document.cookie = 'blog-session=1.AAAA; Path=/'")
    await ada.comment("Well put.")
    await ada.evaluate("document.cookie = 'blog-session=1.BBBB; Path=/'")
    has_later_token.set()
    await expect(ada.alert).to_contain_text("Wait a few seconds")

    assert await ada.evaluate("document.cookie") == "blog-session=1.BBBB"


async def test_a_session_token_that_the_database_never_reaches_is_dropped(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    ada.expected.append("400 (Bad Request)")
    await ada.evaluate("document.cookie = 'blog-session=broken; Path=/'")

    await ada.like.click()
    await expect(ada.alert).not_to_be_empty()
    await ada.like.click()

    await expect(ada.status).to_have_text("You like this post.")
