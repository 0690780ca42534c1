"""Many comments: their pages, and links to one of them, in Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.addons.web.browser.conftest import Visit
from tests.api import Api, Json
from tests.blog import Blog
from tests.functions.conftest import stored
from tests.items import a_comment, a_post, a_user

pytestmark = pytest.mark.nightly

__all__ = ["stored"]


@pytest.fixture
async def discussed(stored: Blog) -> Json:
    """A post with the comments 0 to 229, of which 229 is the newest."""
    author = a_user()
    post = a_post(author) | {"commentCount": 230}
    await stored.users.proxy.upsert_item(author)
    await stored.posts.proxy.upsert_item(post)
    for number in range(230):
        await stored.posts.proxy.upsert_item(a_comment(post, author, second=number, content=f"Comment {number}."))
    return post


async def test_a_click_loads_100_newer_comments_and_reload_and_back_return_to_them(
    visit: Visit, discussed: Json
) -> None:
    ada = await visit(f"/posts/{discussed['id']}")
    first_of_last_page = ada.page.get_by_text("Comment 120.", exact=True)
    await expect(ada.comments).to_have_count(20)

    await ada.page.get_by_role("link", name="Show newer").click()
    await expect(ada.comments).to_have_count(120)
    await ada.page.get_by_role("link", name="Show newer").click()
    await expect(ada.comments).to_have_count(220)
    await expect(ada.status).to_have_text("100 more loaded.")
    await expect(ada.comments.nth(120)).to_be_focused()
    await ada.page.reload()

    await expect(ada.comments).to_have_count(100)
    await expect(first_of_last_page).to_be_in_viewport()
    await ada.comments.first.get_by_role("link").first.click()
    await expect(ada.page).to_have_url(re.compile("/users/"))
    await ada.page.go_back()
    await expect(first_of_last_page).to_be_in_viewport()
    await ada.page.get_by_role("link", name="Show newer").click()
    await expect(ada.comments).to_have_count(110)
    await ada.page.get_by_role("link", name="All comments").click()
    await expect(ada.comments).to_have_count(20)
    await expect(ada.comments.first).to_contain_text("Comment 0.")
    await ada.page.get_by_role("link", name="Newest comments").click()
    await expect(ada.comments.last).to_contain_text("Comment 229.")


async def test_newer_comments_need_no_javascript(visit: Visit, discussed: Json) -> None:
    reader = await visit(f"/posts/{discussed['id']}", java_script_enabled=False)

    await reader.page.get_by_role("link", name="Show newer").click()

    await expect(reader.comments).to_have_count(100)
    await expect(reader.comments.first).to_contain_text("Comment 20.")
    await expect(reader.comments.first).to_be_in_viewport()
    await reader.page.get_by_role("link", name="All comments").click()
    await expect(reader.comments.first).to_contain_text("Comment 0.")


async def test_the_time_of_a_comment_is_its_permalink_on_any_page(visit: Visit, discussed: Json) -> None:
    ada = await visit(f"/posts/{discussed['id']}")
    await ada.page.get_by_role("link", name="Show newer").click()
    comment = ada.comments.filter(has_text="Comment 79.")

    await comment.locator("a:has(time)").click()
    await expect(ada.page).to_have_url(re.compile(r"\?comment="))
    grace = await visit(ada.page.url.removeprefix(ada.url))

    for reader in (ada, grace):
        linked = reader.page.locator("li:target")
        await expect(linked).to_contain_text("Comment 79.")
        await expect(linked).to_be_in_viewport()
        await expect(reader.comments).to_have_count(21)


async def test_a_page_whose_comments_are_all_deleted_does_not_hide_that_there_are_newer_ones(
    visit: Visit, api: Api
) -> None:
    user = await api.new_user()
    post = await api.new_post(user)
    for content in ("The oldest one.", "A newer one."):
        await api.new_comment(post, user, content)
    ada = await visit(f"/posts/{post['id']}?limit=1")
    await ada.be(user)

    await ada.comments.get_by_role("button", name="Delete").click()
    await ada.confirm()
    await expect(ada.status).to_have_text("The comment is deleted.")
    await expect(ada.comments).to_have_count(0)

    await expect(ada.page.get_by_text("No comments yet.")).to_be_hidden()
    await ada.page.get_by_role("link", name="Show newer").click()
    await expect(ada.comments).to_contain_text(["A newer one."])


async def test_a_comment_just_published_has_its_permalink(visit: Visit, api: Api) -> None:
    user = await api.new_user()
    ada = await visit(f"/posts/{(await api.new_post(user))['id']}")
    await ada.be(user)
    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")

    await ada.comments.locator("a:has(time)").click()

    await expect(ada.page.locator("li:target")).to_contain_text("Well put.")
