"""Commands on the site, in Chromium with JavaScript."""

from __future__ import annotations

import asyncio
import re
import time
import unicodedata
from typing import Literal

import pytest
from playwright.async_api import Route, expect

from addons.web.slugs import slug
from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.addons.web.deliveries import has_copies
from tests.api import Api
from tests.items import unique
from tests.polling import eventually


async def test_someone_signs_up_and_publishes_a_post(visit: Visit) -> None:
    ada = await visit("/write")
    username = await ada.sign_up()
    title = unique("Engines")

    await ada.page.get_by_label("Title").fill(title)
    await ada.page.get_by_label("Text").fill("They *weave* patterns.")
    await expect(ada.page.locator("[data-preview] em")).to_have_text("weave")
    await ada.page.get_by_role("button", name="Publish").click()

    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(title)
    await expect(ada.page).to_have_url(re.compile(f"/posts/[0-9a-f-]+/{slug(title)}$"))
    await expect(ada.page.locator("article.post [data-author]").first).to_contain_text(username)
    await expect(ada.page.get_by_role("link", name="Edit")).to_be_visible()
    assert "blog-draft" not in await ada.evaluate("Object.keys(localStorage).join()")


async def test_a_second_user_comments_and_likes_and_takes_both_back(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    grace = await visit(f"/posts/{post['id']}")
    username = await grace.sign_up("grace")

    await grace.comment("Well put.")
    await expect(grace.comments).to_contain_text([f"{username}just now"])
    await expect(grace.status).to_have_text("Your comment is published.")
    await grace.like.click()
    await expect(grace.status).to_have_text("You like this post.")

    await grace.page.reload()
    await expect(grace.comments).to_contain_text(["Well put."])
    await expect(grace.like).to_have_attribute("aria-pressed", "true")
    await expect(grace.page.locator("[data-like-count]")).to_have_text("1")

    await grace.like.click()
    await expect(grace.status).to_have_text("You no longer like this post.")
    await grace.comments.get_by_role("button", name="Delete").click()
    await grace.confirm()
    await expect(grace.status).to_have_text("The comment is deleted.")
    assert (await api.list_comments(post["id"])).body["items"] == []
    assert (await api.get_post(post["id"])).body["likeCount"] == 0


async def test_fast_presses_of_like_end_in_what_the_button_shows(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()

    are_over = asyncio.Event()

    async def hold(route: Route) -> None:
        await are_over.wait()
        await route.continue_()

    await ada.page.route("**/likes", hold)
    for _ in range(5):
        await ada.like.click()
    are_over.set()

    await expect(ada.status).to_have_text("You like this post.")
    assert (await api.get_post(post["id"])).body["likeCount"] == 1


async def test_liking_again_without_knowing_does_not_count_twice(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await api.new_like(post, user)
    await ada.page.locator("[data-like-count]").evaluate("element => { element.textContent = '1'; }")

    await ada.like.click()

    await expect(ada.status).to_have_text("You like this post.")
    await expect(ada.page.locator("[data-like-count]")).to_have_text("1")


async def test_a_like_from_elsewhere_is_counted_on_a_page_without_it(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    await api.new_like(post, await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)
    await api.new_like(post, user)

    await ada.like.click()

    await expect(ada.status).to_have_text("You like this post.")
    await expect(ada.page.locator("[data-like-count]")).to_have_text("2")
    await ada.like.click()
    await expect(ada.status).to_have_text("You no longer like this post.")
    await expect(ada.page.locator("[data-like-count]")).to_have_text("1")


async def test_the_author_edits_and_deletes_a_post(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}")
    await expect(ada.page.get_by_role("link", name="Edit")).to_be_hidden()
    await ada.be(author)

    await ada.page.get_by_role("link", name="Edit").click()
    await ada.page.get_by_label("Title").fill("A better title")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("A better title")

    edit, delete = ada.page.get_by_role("link", name="Edit"), ada.page.locator("[data-delete-post]")
    for part in ("color", "font-size", "font-weight"):
        await expect(edit).to_have_css(part, await delete.evaluate(f"button => getComputedStyle(button)['{part}']"))
    await delete.click()
    await expect(ada.page.get_by_role("alertdialog", name="Delete this post?")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Cancel")).to_be_focused()
    await ada.page.keyboard.press("Enter")
    await expect(delete).to_be_focused()
    assert (await api.get_post(post["id"])).status == 200
    await delete.click()
    await ada.confirm()
    await expect(ada.status).to_contain_text("Your post is deleted.")
    assert (await api.get_post(post["id"])).status == 404


async def test_only_the_author_can_use_the_editor_of_a_post(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    notice = "Only its author can edit this post."
    grace = await visit(f"/posts/{post['id']}/edit")
    await grace.sign_up("grace")

    await expect(grace.page.get_by_text(notice)).to_be_visible()
    await expect(grace.page.get_by_label("Title")).to_be_hidden()
    await expect(grace.page.get_by_role("button", name="Save")).to_be_hidden()

    await grace.choose("Switch user")
    await grace.dialog.get_by_role("button", name=author["username"]).click()
    await expect(grace.page.get_by_text(notice)).to_be_hidden()
    await expect(grace.page.get_by_role("button", name="Save")).to_be_enabled()


@pytest.mark.nightly
async def test_going_back_does_not_show_a_deleted_post(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    kept, post = await api.new_post(author), await api.new_post(author)
    # The change feed adds posts to the list.
    await eventually(lambda: has_copies(api, author, 2))
    ada = await visit(f"/users/{author['id']}")
    await ada.be(author)
    await ada.page.locator(f"#post-{post['id']} h2 a").click()
    await ada.page.get_by_role("link", name="Edit").click()
    await ada.page.get_by_role("link", name="Cancel").click()

    await ada.page.locator("[data-delete-post]").click()
    await ada.confirm()
    await expect(ada.status).to_contain_text("Your post is deleted.")

    # Back leads to the editor of the deleted post, which leaves for the front page.
    await ada.page.go_back()
    await expect(ada.page).to_have_url(f"{ada.url}/")
    await expect(ada.page.locator(f"#post-{post['id']}")).to_have_count(0)
    await ada.open(f"/users/{author['id']}")
    await expect(ada.page.locator(f"#post-{kept['id']}")).to_be_visible()
    await expect(ada.page.locator(f"#post-{post['id']}")).to_have_count(0)


@pytest.mark.nightly
async def test_going_back_to_a_deleted_post_with_ones_own_comment_leaves_it(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(author)
    await ada.open(f"/posts/{post['id']}?limit=7")
    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")
    await ada.page.locator("[data-delete-post]").click()
    await ada.confirm()
    await expect(ada.status).to_contain_text("Your post is deleted.")

    await ada.page.go_back()

    await expect(ada.page).to_have_url(f"{ada.url}/")


@pytest.mark.nightly
async def test_going_back_shows_ones_own_comments_and_likes(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()
    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")
    await ada.like.click()
    await expect(ada.status).to_have_text("You like this post.")
    await ada.open("/")

    await ada.page.go_back()

    await expect(ada.comments).to_contain_text(["Well put."])
    await expect(ada.like).to_have_attribute("aria-pressed", "true")
    await ada.comments.get_by_role("button", name="Delete").click()
    await ada.confirm()
    await expect(ada.status).to_have_text("The comment is deleted.")
    await ada.open("/")
    ada.log.requested.clear()
    await ada.page.go_back(wait_until="networkidle")
    await expect(ada.page.get_by_text("No comments yet.")).to_be_visible()
    await expect(ada.comments).to_have_count(0)
    # Going back loads the page, and then once more.
    assert ada.log.requested.count(f"{ada.url}/posts/{post['id']}") == 2


async def test_a_renamed_user_has_the_new_name_on_every_page(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    own = await api.new_post(user, unique("Own"))
    other = await api.new_post(await api.new_user())
    await api.new_comment(other, user)
    await api.new_like(other, user)
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    renamed = unique("countess")

    await ada.page.get_by_role("button", name="Change username").click()
    field = ada.page.locator("main").get_by_label("New username")
    await expect(field).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(field).to_be_hidden()
    await ada.page.get_by_role("button", name="Change username").click()
    await field.fill(renamed)
    await ada.page.get_by_role("button", name="Save").click()
    deadline = time.monotonic() + 60

    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(renamed)
    await expect(ada.page.locator("main")).not_to_contain_text(user["username"])
    await expect(ada.corner).to_contain_text(renamed)
    shown = f"main [data-author][href='/users/{user['id']}'], main h1[data-username]"
    for path in (f"/posts/{own['id']}", f"/posts/{other['id']}", "/", f"/users/{user['id']}"):
        await ada.open(path)
        while set(names := await ada.page.locator(shown).all_text_contents()) != {renamed}:
            assert time.monotonic() < deadline, (path, names)
            await ada.open(path)


async def test_an_account_is_deleted_on_its_own_page_only_after_its_name_was_typed(visit: Visit, api: Api) -> None:
    user, other = await api.new_user(), await api.new_user()
    post = await api.new_post(other)
    await api.new_comment(post, user)
    ada = await visit(f"/users/{user['id']}")
    button = ada.page.get_by_role("button", name="Delete account")
    await expect(button).to_have_count(0)
    await ada.be(user)

    await button.click()
    field = ada.page.get_by_label("Type your username to confirm")
    await expect(field).to_be_focused()
    await expect(field).to_have_accessible_description(re.compile("cannot be undone"))
    await ada.page.keyboard.press("Escape")
    await expect(field).to_be_hidden()
    await expect(button).to_be_focused()
    await button.press("Enter")
    await field.fill(other["username"])
    await field.press("Enter")
    assert (await api.get_user(user["id"])).status == 200
    await field.fill(user["username"])
    await ada.confirm()

    await expect(ada.page).to_have_url(re.compile("/$"))
    await expect(ada.page.get_by_role("status").first).to_contain_text("Your account is deleted")
    await expect(ada.corner.get_by_role("button", name="Sign in")).to_be_visible()
    assert (await api.get_user(user["id"])).status == 404

    async def is_gone() -> bool:
        return (await api.get_post(post["id"])).body["commentCount"] == 0

    await eventually(is_gone)


async def test_a_button_is_shown_once_its_script_is_loaded(visit: Visit, api: Api) -> None:
    user, held = await api.new_user(), asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    await ada.page.route("**/account.js", hold)
    await ada.page.reload()
    await expect(ada.corner.get_by_role("button", name="Your account")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Delete account")).to_be_hidden()

    held.set()
    await ada.page.get_by_role("button", name="Delete account").click()

    await expect(ada.page.get_by_label("Type your username to confirm")).to_be_visible()


async def test_a_deleted_account_is_not_offered_again(visit: Visit) -> None:
    ada = await visit("/write")
    username = await ada.sign_up()
    await ada.page.get_by_role("button", name="Your account").click()
    await ada.corner.get_by_role("link", name=username).click()
    await ada.page.get_by_role("button", name="Delete account").click()
    await ada.page.get_by_label("Type your username to confirm").fill(username)
    await ada.page.keyboard.press("Enter")
    await expect(ada.status).to_contain_text("Your account is deleted")

    await ada.page.get_by_role("button", name="Sign in").click()

    await expect(ada.dialog).to_be_visible()
    await expect(ada.dialog.get_by_role("button", name=username)).to_have_count(0)


@pytest.mark.nightly
async def test_a_deleted_account_is_not_offered_in_another_tab(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)
    other = Person(await ada.page.context.new_page(), ada.url)
    await other.open(f"/posts/{(await api.new_post(user))['id']}")
    await ada.page.get_by_role("button", name="Delete account").click()
    await ada.page.get_by_label("Type your username to confirm").fill(user["username"])
    await ada.page.keyboard.press("Enter")
    await expect(ada.status).to_contain_text("Your account is deleted")

    await other.page.get_by_role("button", name="Sign in").click()

    await expect(other.dialog).to_be_visible()
    await expect(other.dialog.get_by_role("button", name=user["username"])).to_have_count(0)
    other.assert_no_errors()


@pytest.mark.parametrize(("form", "typed"), [("NFD", "NFC"), ("NFC", "NFD")])
async def test_an_account_is_deleted_with_either_form_of_its_name(
    visit: Visit, api: Api, form: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    username = unique("José")
    user = (await api.create_user(unicodedata.normalize(form, username))).body
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)

    await ada.page.get_by_role("button", name="Delete account").click()
    await ada.page.get_by_label("Type your username to confirm").fill(unicodedata.normalize(typed, username))
    await ada.page.keyboard.press("Enter")

    await expect(ada.status).to_contain_text("Your account is deleted")
    assert (await api.get_user(user["id"])).status == 404


@pytest.mark.nightly
async def test_a_list_says_that_it_is_empty_after_its_last_post_was_deleted(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await eventually(lambda: has_copies(api, author, 1))
    ada = await visit(f"/users/{author['id']}")
    await ada.be(author)
    empty = ada.page.get_by_role("heading", name="No posts yet")
    await expect(empty).to_be_hidden()
    # The list as it is until the change feed has removed the post.
    listed = await (await ada.page.request.get(ada.page.url)).text()
    await ada.page.route(ada.page.url, lambda route: route.fulfill(body=listed, content_type="text/html"))

    await ada.open(f"/posts/{post['id']}")
    await ada.page.locator("[data-delete-post]").click()
    await ada.confirm()
    await expect(ada.status).to_contain_text("Your post is deleted.")
    await ada.open(f"/users/{author['id']}")

    await expect(ada.page.locator(f"#post-{post['id']}")).to_have_count(0)
    await expect(empty).to_be_visible()


async def test_a_taken_name_is_refused_with_advice(visit: Visit, api: Api) -> None:
    taken = await api.new_user()
    ada = await visit()
    ada.expected.append("409 (Conflict)")

    await ada.page.get_by_role("button", name="Sign in").click()
    await ada.dialog.get_by_label("New username").fill(taken["username"].upper())
    await ada.dialog.get_by_role("button", name="Sign up").click()

    await expect(ada.dialog.get_by_role("alert")).to_contain_text("is taken; choose another")
    await expect(ada.dialog.get_by_label("New username")).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(ada.dialog).to_be_hidden()
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_focused()


async def test_the_dialog_offers_authors_of_the_page_and_earlier_users(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    ada = await visit(f"/posts/{post['id']}")
    first = await ada.sign_up()

    await ada.choose("Switch user")
    await ada.dialog.get_by_role("button", name=author["username"]).click()
    await expect(ada.corner).to_contain_text(author["username"])
    await ada.choose("Switch user")

    await expect(ada.dialog.get_by_role("button", name=first)).to_be_visible()


async def test_the_dialog_offers_existing_users_first_and_their_ids_behind_more(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    ada = await visit(f"/posts/{(await api.new_post(author))['id']}")

    await ada.page.get_by_role("button", name="Sign in").click()

    offered = ada.dialog.get_by_role("list", name="Continue as").get_by_role("button")
    await expect(offered.first).to_have_text(author["username"])
    await expect(offered.first).to_be_focused()
    fields = ada.dialog.get_by_role("textbox")
    await expect(fields).to_have_count(1)
    assert await ada.evaluate(
        "document.querySelector('[data-known-users]').compareDocumentPosition(document.querySelector('[data-sign-up]'))"
        " === Node.DOCUMENT_POSITION_FOLLOWING"
    )
    await ada.dialog.get_by_text("More", exact=True).click()
    await expect(ada.dialog.get_by_label("Or the ID of an existing user")).to_be_visible()


async def test_the_dialog_opens_even_if_the_users_do_not_load(visit: Visit) -> None:
    ada = await visit("/write")
    ada.expected.append("Failed to load resource")
    await ada.page.route(f"{ada.url}/", lambda route: route.abort())

    await ada.page.get_by_role("button", name="Sign in").click()

    await expect(ada.dialog.get_by_label("New username")).to_be_focused()
    await expect(ada.dialog.get_by_text("Continue as", exact=True)).to_be_hidden()


async def test_the_rename_form_states_the_rules_for_names(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/users/{user['id']}")
    await ada.be(user)

    await ada.page.get_by_role("button", name="Change username").click()

    field = ada.page.locator("main").get_by_label("New username")
    await expect(field).to_have_accessible_description(re.compile("3 to 30 letters, digits"))


async def test_someone_who_signs_out_can_be_chosen_again_on_any_page(visit: Visit) -> None:
    ada = await visit()
    username = await ada.sign_up()

    await ada.choose("Sign out")

    await expect(ada.status).to_have_text("You are signed out.")
    await expect(ada.page.get_by_role("button", name="Sign in")).to_be_focused()
    await ada.open("/write")
    await ada.page.get_by_role("button", name="Sign in").click()
    await ada.dialog.get_by_role("button", name=username).click()
    await expect(ada.corner).to_contain_text(username)


async def test_load_more_continues_each_list(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    for number in range(25):
        await api.new_comment(post, author, f"Comment {number}.")
    ada = await visit(f"/posts/{post['id']}")
    await expect(ada.comments).to_have_count(20)

    await ada.page.get_by_role("link", name="Show newer").click()

    await expect(ada.comments).to_have_count(25)
    await expect(ada.comments.nth(20)).to_be_focused()
    await expect(ada.page.locator("a.more")).to_have_count(0)
    await expect(ada.status).to_have_text("5 more loaded.")


async def test_every_request_after_a_command_sends_its_session_token(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    ada = await visit(f"/posts/{post['id']}")
    await ada.be(user)

    async with ada.page.expect_response("**/likes") as first:
        await ada.like.click()
    token = (await first.value).headers["x-ms-session-token"]
    await expect(ada.status).to_have_text("You like this post.")
    async with ada.page.expect_request("**/comments") as second:
        await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")
    async with ada.page.expect_request("**/posts/*") as navigation:
        await ada.page.reload()

    assert (await (await second.value).all_headers())["x-ms-session-token"] == token
    assert "blog-session=1." in (await (await navigation.value).all_headers())["cookie"]


@pytest.mark.nightly
async def test_the_header_shows_a_rename_from_elsewhere(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit()
    await ada.be(user)
    renamed = unique("countess")
    await api.edit_user(user["id"], renamed)

    await ada.open("/write")

    await expect(ada.corner).to_contain_text(renamed)
    await ada.choose("Switch user")
    await expect(ada.dialog.get_by_role("button", name=renamed)).to_be_visible()


async def test_the_header_shows_a_rename_when_the_tab_is_seen_again(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit()
    await ada.be(user)
    renamed = unique("countess")
    await api.edit_user(user["id"], renamed)

    await ada.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    await expect(ada.corner).to_contain_text(renamed)


async def test_addresses_in_a_new_comment_are_links_at_once(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    ada = await visit(f"/posts/{post['id']}")
    await ada.sign_up()

    await ada.comment("<b> 请看https://e.com/a，\n再见")

    link = ada.comments.first.get_by_role("link", name="https://e.com/a", exact=True)
    await expect(link).to_have_attribute("href", "https://e.com/a")
    await expect(link).to_have_attribute("rel", "nofollow noopener noreferrer ugc")
    assert await ada.comments.first.locator("[data-content]").text_content() == "<b> 请看https://e.com/a，\n再见"


async def test_someone_else_sees_the_post_instead_of_its_fields(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author, "Not yours", "Some *text*.")
    bob = await visit(f"/posts/{post['id']}/edit")

    await expect(bob.page.get_by_role("heading", level=1)).to_have_text("Not yours")
    await expect(bob.page.get_by_role("main").get_by_role("textbox")).to_have_count(0)
    await expect(bob.page.locator("[data-preview] em")).to_be_visible()
    await expect(bob.page.get_by_role("link", name="Read it with its comments")).to_be_visible()
    await bob.be(author)
    await bob.open(f"/posts/{post['id']}/edit")
    await expect(bob.page.get_by_role("heading", level=1)).to_have_text("Edit your post")
    await expect(bob.page.get_by_label("Title")).to_be_editable()


@pytest.mark.nightly
@pytest.mark.parametrize(("title", "direction"), [("שלום", "rtl"), ("Hello", "ltr")])
async def test_the_header_of_a_post_has_the_direction_of_its_title(
    visit: Visit, api: Api, title: str, direction: str
) -> None:
    post = await api.new_post(await api.new_user(), title)
    ada = await visit(f"/posts/{post['id']}")

    for selector in ("h1", ".byline"):
        element = ada.page.locator(f"article.post > header {selector}")
        assert await element.evaluate("one => getComputedStyle(one).direction") == direction, selector


@pytest.mark.nightly
@pytest.mark.parametrize(("text", "direction"), [("שלום", "rtl"), ("Hello", "ltr")])
async def test_cards_and_comments_have_the_direction_of_their_text(
    visit: Visit, api: Api, text: str, direction: str
) -> None:
    author = await api.new_user()
    post = await api.new_post(author, text)
    await api.new_comment(post, author, text)

    async def is_listed() -> bool:
        return bool((await api.list_user_posts(author["id"])).body["items"])

    await eventually(is_listed)
    ada = await visit(f"/users/{author['id']}")
    await ada.be(author)
    for path, article in ((f"/users/{author['id']}", ".card"), (f"/posts/{post['id']}", "ol.comments article")):
        await ada.open(path)
        for part in [".byline"] + (["[data-delete-comment]"] if article != ".card" else []):
            element = ada.page.locator(f"{article} {part}")
            assert await element.evaluate("one => getComputedStyle(one).direction") == direction, part
    byline, button = [
        await ada.page.locator(f"ol.comments {part}").bounding_box() for part in (".user", "[data-delete-comment]")
    ]
    assert byline is not None
    assert button is not None
    assert (button["x"] < byline["x"]) == (direction == "rtl")
