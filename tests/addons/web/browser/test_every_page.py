"""Every page is accessible, fits the viewport, causes no errors, and is readable without JavaScript."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.async_api import Route, expect

from addons.web.relative_time import exact_time
from tests.accessibility import violations
from tests.addons.web.browser.conftest import Visit
from tests.api import Api, Json
from tests.blog import Blog
from tests.browser import DESKTOP, PHONE
from tests.functions.conftest import stored
from tests.items import a_comment, a_like, a_post, a_user
from tests.page_budget import OBSERVE

__all__ = ["stored"]

# Resolves when the page has been shown.
PAINTED = "new Promise(done => new PerformanceObserver(() => done()).observe({type: 'paint', buffered: true}))"
HOSTILE = "</textarea></script><img src=x onerror=alert(1)>\"'{{7*7}}"


@pytest.fixture
async def post(api: Api) -> Json:
    author = await api.new_user()
    content = "## A heading\n\nSome *text*, [a link](https://example.com) and ![a picture](https://example.com/x.png)."
    post = await api.new_post(author, "A title", content)
    await api.new_comment(post, author)
    await api.new_like(post, author)
    return post


def pages_about(post: Json) -> list[str]:
    return [
        "/",
        "/about",
        f"/posts/{post['id']}",
        f"/users/{post['userId']}",
        "/write",
        f"/posts/{post['id']}/edit",
        "/nope",
    ]


@pytest.mark.parametrize("device", [pytest.param(PHONE, marks=pytest.mark.nightly), DESKTOP], ids=["phone", "desktop"])
async def test_pages_are_accessible_and_report_no_errors(
    visit: Visit, api: Api, post: Json, device: dict[str, Any]
) -> None:
    ada = await visit(**device)
    await ada.be((await api.get_user(post["userId"])).body)
    # The page that does not exist.
    ada.expected.append("404 (Not Found)")

    for path in pages_about(post):
        await ada.open(path)

        assert await violations(ada.page) == [], path
    await ada.choose("Switch user")
    assert await violations(ada.page) == []


@pytest.mark.nightly
@pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])
async def test_pages_do_not_shift_for_someone_signed_in(
    visit: Visit, api: Api, post: Json, device: dict[str, Any]
) -> None:
    ada = await visit(**device)
    await ada.be((await api.get_user(post["userId"])).body)
    await ada.page.add_init_script(OBSERVE)

    async def delay(route: Route) -> None:
        await ada.evaluate(PAINTED)
        await route.continue_()

    await ada.page.route("**/identity.js", delay)
    for path in pages_about(post)[:5]:
        await ada.open(path)

        assert await ada.evaluate("window.shifts") < 0.01, path


async def test_readers_without_javascript_see_everything_and_no_dead_controls(visit: Visit, post: Json) -> None:
    reader = await visit(f"/posts/{post['id']}", java_script_enabled=False)

    await expect(reader.page.get_by_role("heading", name="A heading")).to_be_visible()
    await expect(reader.comments).to_contain_text(["Well put."])
    await expect(reader.page.locator("noscript .count")).to_have_text("Likes: 1")
    await expect(reader.page.get_by_role("button")).to_have_count(0)
    await reader.open("/write")
    await expect(reader.page.locator("noscript .notice")).to_be_visible()
    await expect(reader.page.get_by_role("textbox")).to_have_count(0)
    await expect(reader.page.get_by_role("heading", name="Preview")).to_be_hidden()


async def test_hostile_text_in_every_field_runs_nothing(visit: Visit, stored: Blog) -> None:
    author = a_user() | {"username": HOSTILE}
    post = a_post(author, title=HOSTILE, content=HOSTILE)
    for item in (post, a_comment(post, author, content=HOSTILE), a_like(post, author)):
        await stored.posts.proxy.upsert_item(item)
    for item in (author, post):
        await stored.users.proxy.upsert_item(item)
    ada = await visit(f"/posts/{post['id']}")
    alerts: list[str] = []
    ada.page.on("dialog", lambda dialog: alerts.append(dialog.message))

    await ada.page.get_by_role("button", name="Sign in").click()
    await ada.dialog.get_by_role("button", name=HOSTILE).click()
    await ada.comment(HOSTILE)
    await expect(ada.comments.locator("[data-content]")).to_have_text([HOSTILE, HOSTILE])
    await expect(ada.status).to_have_text("Your comment is published.")
    for path in pages_about(post)[:5]:
        await ada.open(path)
        assert await ada.page.locator("img[src=x]").count() == 0
    await ada.page.get_by_label("Text").fill(f"Preview {HOSTILE}")
    await expect(ada.page.locator("[data-preview]")).to_contain_text("Preview")

    await expect(ada.corner).to_contain_text(HOSTILE)
    assert alerts == []


async def test_every_link_and_control_is_reached_by_the_keyboard(visit: Visit, post: Json) -> None:
    ada = await visit(f"/posts/{post['id']}")
    unreached = (
        "[...document.querySelectorAll('a, button, textarea')].filter(one => one.checkVisibility() && !one.reached)"
    )
    count = await ada.evaluate(f"{unreached}.length")

    await ada.page.keyboard.press("Tab")
    await expect(ada.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(count):
        await ada.evaluate("document.activeElement.reached = true")
        await ada.page.keyboard.press("Tab")

    assert count > 10
    assert await ada.evaluate(f"{unreached}.map(one => one.outerHTML)") == []


async def test_only_code_and_tables_that_scroll_are_tab_stops(visit: Visit, api: Api) -> None:
    wide = f"```\n{'code ' * 60}\n```\n\n| {'cell | ' * 40}\n|{'---|' * 40}\n"
    post = await api.new_post(await api.new_user(), content=f"```\ncode\n```\n\n| a |\n|---|\n\n{wide}")
    ada = await visit(f"/posts/{post['id']}", **DESKTOP)
    stops = ada.page.locator(".prose [tabindex='0']")

    await expect(stops).to_have_count(2)
    assert await violations(ada.page) == []
    await ada.evaluate("document.querySelector('.prose').style.width = '7000px'")
    await expect(stops).to_have_count(0)
    await ada.evaluate("document.querySelector('.prose').style.width = ''")
    await expect(stops).to_have_count(2)


async def test_the_preview_has_the_same_tab_stops(visit: Visit) -> None:
    ada = await visit("/write")

    await ada.page.get_by_label("Text").fill(f"    {'code ' * 200}\n\n| a |\n|---|\n")

    await expect(ada.page.locator("[data-preview] pre[tabindex='0']")).to_have_count(1)
    await expect(ada.page.locator("[data-preview] [tabindex]")).to_have_count(1)


async def test_right_to_left_posts_have_bullets_bars_and_columns_on_the_right(visit: Visit, api: Api) -> None:
    text = "- עולם\n- English, too.\n\n> עולם\n\n| עולם | שני |\n|---|---|\n| א | ב |\n\n# x\n\n- left\n"
    post = await api.new_post(await api.new_user(), content=text)
    ada = await visit(f"/posts/{post['id']}")

    for selector, direction in (("ul", "rtl"), ("li:nth-child(2)", "rtl"), ("blockquote", "rtl"), ("h2 + ul", "ltr")):
        element = ada.page.locator(f".prose {selector}").first
        assert await element.evaluate("one => getComputedStyle(one).direction") == direction, selector
    bar = ada.page.locator(".prose blockquote")
    assert await bar.evaluate("one => getComputedStyle(one).borderRightWidth") == "3px"
    # The second item is English in a Hebrew list: next to the bullet.
    item = ada.page.locator(".prose li:nth-child(2)")
    assert await item.evaluate("one => getComputedStyle(one).textAlign") == "right"
    first, second = [await ada.page.locator("th").nth(n).bounding_box() for n in (0, 1)]
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]


async def test_no_line_of_a_byline_ends_with_a_dot(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.edit_post(post["id"], "A title", "Edited")
    await api.new_comment(post, author)
    ada = await visit(f"/posts/{post['id']}", viewport={"width": 320, "height": 800})

    # The last element on each line of each byline
    last = """bylines => bylines.flatMap(({children}) => [...children].filter(({nextElementSibling: next}, n) =>
      !next || next.getBoundingClientRect().top >= children[n].getBoundingClientRect().bottom))
      .map(one => one.textContent)"""
    shown = await ada.page.locator(".byline").evaluate_all(last)

    assert len(shown) > 2
    assert "" not in shown
    dot = "byline => getComputedStyle(byline.children[1], '::before').width"
    assert await ada.page.locator(".byline").first.evaluate(dot) == "3px"


@pytest.mark.parametrize("text", ["- " * 30 + "the text", "> " * 30 + "the text"])
async def test_deeply_nested_text_stays_on_the_page(visit: Visit, api: Api, text: str) -> None:
    post = await api.new_post(await api.new_user(), content=text)
    ada = await visit(f"/posts/{post['id']}", viewport={"width": 320, "height": 800})

    box = await ada.page.get_by_text("the text", exact=True).bounding_box()

    assert box is not None
    assert box["x"] + box["width"] <= 320
    assert box["width"] > 100


async def test_the_dialog_opens_by_the_keyboard_and_has_the_focus(visit: Visit) -> None:
    ada = await visit()

    await ada.page.get_by_role("button", name="Sign in").focus()
    await ada.page.keyboard.press("Enter")

    await expect(ada.dialog).to_be_visible()
    assert await ada.evaluate("document.querySelector('[data-identity-dialog]').contains(document.activeElement)")


async def test_times_are_refreshed(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    await api.edit_post(post["id"], "A title", "Edited")
    ada = await visit()
    await ada.page.clock.install()
    await ada.open(f"/posts/{post['id']}")

    await ada.page.clock.fast_forward("02:30:00")

    await expect(ada.page.get_by_text("Edited").locator("time")).to_have_text("2 hours ago")


@pytest.mark.parametrize("separator", ["T", " "])
async def test_a_date_without_an_offset_is_in_utc(visit: Visit, stored: Blog, separator: str) -> None:
    author = a_user()
    post = a_post(author) | {"editedDate": datetime.now(UTC).replace(tzinfo=None).isoformat(separator)}
    await stored.users.proxy.upsert_item(author)
    await stored.posts.proxy.upsert_item(post)
    ada = await visit(timezone_id="America/New_York")
    await ada.page.clock.install()
    await ada.open(f"/posts/{post['id']}")

    await ada.page.clock.fast_forward("02:30:00")

    await expect(ada.page.get_by_text("Edited").locator("time")).to_have_text("2 hours ago")


async def test_a_time_becomes_a_date_after_a_month(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    comment = await api.new_comment(post, await api.new_user())
    ada = await visit()
    await ada.page.clock.install()
    await ada.open(f"/posts/{post['id']}")

    await ada.page.clock.fast_forward(31 * 24 * 3600 * 1000)

    posted = datetime.fromisoformat(comment["creationDate"])
    await expect(ada.page.locator("ol.comments time")).to_have_text(f"{posted.day} {posted:%B %Y}")


async def test_times_are_absolute_in_print(visit: Visit, post: Json) -> None:
    reader = await visit(f"/posts/{post['id']}", java_script_enabled=False)
    time = reader.page.locator("article.post header time")

    await reader.page.emulate_media(media="print")

    printed = await time.evaluate("time => getComputedStyle(time, '::after').content")
    assert printed == f'"{exact_time(post["creationDate"])}"'
    await expect(time).to_have_css("font-size", "0px")


async def test_print_shows_addresses_that_the_text_does_not_have(visit: Visit, api: Api) -> None:
    text = "https://e.com [shop](https://e.com/shop) [nowhere]() [part](#part) note[^1]\n\n[^1]: The note."
    post = await api.new_post(await api.new_user(), content=text)
    reader = await visit(f"/posts/{post['id']}", java_script_enabled=False)

    await reader.page.emulate_media(media="print")

    printed = await reader.page.locator(".prose a").evaluate_all(
        "links => links.map(one => getComputedStyle(one, '::after').content)"
    )
    assert printed == ["none", '" (https://e.com/shop)"', "none", "none", "none", "none"]


async def test_cells_are_aligned(visit: Visit, api: Api) -> None:
    text = "| a | b | c | d |\n|---|:--|:-:|--:|\n| 1 | 2 | 3 | 4 |\n\n| א | ב |\n|---|:--|\n"
    post = await api.new_post(await api.new_user(), content=text)
    ada = await visit(f"/posts/{post['id']}")

    aligned = "cells => cells.map(one => getComputedStyle(one).textAlign)"
    assert await ada.page.locator("td").evaluate_all(aligned) == ["left", "left", "center", "right"]
    assert await ada.page.locator("th").evaluate_all(aligned) == ["left", "left", "center", "right", "right", "left"]


async def test_messages_have_a_border_in_forced_colors(visit: Visit) -> None:
    ada = await visit(forced_colors="active")
    await expect(ada.status).to_have_css("border-top-width", "0px")

    await ada.evaluate("document.getElementById('status').textContent = 'Done.'")

    await expect(ada.status).to_have_css("border-top-width", "1px")
    ink = await ada.evaluate("getComputedStyle(document.body).color")
    await expect(ada.status).to_have_css("border-top-color", ink)


async def test_code_can_be_copied(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user(), content="Run it:\n\n    make run\n")
    reader = await visit(f"/posts/{post['id']}", permissions=["clipboard-read", "clipboard-write"])

    await reader.page.locator(".code").hover()
    await reader.page.get_by_role("button", name="Copy").click()

    await expect(reader.status).to_have_text("Copied.")
    assert await reader.evaluate("navigator.clipboard.readText()") == "make run\n"


async def test_code_of_a_known_language_has_colors(visit: Visit, api: Api) -> None:
    code = 'def greet():\n    return "<b>"'
    post = await api.new_post(await api.new_user(), content=f"```py\n{code}\n```\n\n```unknown\n{code}\n```\n")
    reader = await visit(f"/posts/{post['id']}")
    known, unknown = reader.page.locator(".prose code").nth(0), reader.page.locator(".prose code").nth(1)

    await expect(known.locator(".hljs-keyword").first).to_have_text("def")

    colors = await known.locator("span").evaluate_all("spans => spans.map(one => [one.className, one.textContent])")
    assert (await known.inner_text()).strip() == code
    assert await unknown.locator("span").count() == 0
    assert await violations(reader.page) == []
    await reader.open("/write")
    await reader.page.get_by_label("Text").fill(f"```py\n{code}\n```")
    await expect(reader.page.locator("[data-preview] .hljs-keyword").first).to_have_text("def")
    preview = reader.page.locator("[data-preview] span")
    assert await preview.evaluate_all("spans => spans.map(one => [one.className, one.textContent])") == colors


async def test_footnotes_have_their_numbers(visit: Visit, api: Api) -> None:
    post = await api.new_post(await api.new_user(), content="One[^a] two[^b]\n\n[^a]: First.\n\n[^b]: Second.\n")
    reader = await visit(f"/posts/{post['id']}")
    notes = reader.page.locator(".prose ol.notes")

    assert [await note.get_attribute("start") for note in await notes.all()] == ["1", "2"]
    for note in await notes.all():
        await expect(note).to_have_css("list-style-type", "decimal")
