"""Texts that would draw over others or make a page endless, in Chromium."""

from __future__ import annotations

from playwright.async_api import expect

from tests.addons.web.browser.conftest import Visit
from tests.api import Api
from tests.items import unique
from tests.polling import eventually

# The elements around a text that do not clip what its letters draw. The fonts of a test do not stack accents.
OPEN = """text => [...document.querySelectorAll("main *")]
  .filter(element => [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.includes(text)))
  .filter(element => {
    while (element && getComputedStyle(element).overflowY === "visible") element = element.parentElement;
    return !element;
  })
  .map(element => element.outerHTML)"""


async def test_stacked_accents_do_not_draw_over_other_texts(visit: Visit, api: Api) -> None:
    author, text = await api.new_user(), f"{unique('x')}x" + "\u0301\u0300\u0302\u0303\u0304" * 6
    content = f"{text}\n\n# {text}\n\n- {text}\n\n|{text}|\n|-|\n|{text}|\n\n```\n{text}\n```"
    post = await api.new_post(author, title=text, content=content)
    await api.new_comment(post, author, text)

    async def is_listed() -> bool:
        return bool((await api.list_user_posts(author["id"])).body["items"])

    await eventually(is_listed)
    reader = await visit()
    for path in (f"/posts/{post['id']}", f"/users/{author['id']}"):
        await reader.open(path)
        await expect(reader.page.get_by_text(text).first).to_be_visible()
        assert await reader.page.evaluate(OPEN, text) == []


async def test_a_comment_of_line_breaks_leaves_the_page_readable(visit: Visit, api: Api) -> None:
    author = await api.new_user()
    post = await api.new_post(author)
    await api.new_comment(post, author, "x" + "\n" * 4_990 + "x")

    reader = await visit(f"/posts/{post['id']}")

    assert await reader.page.evaluate("document.documentElement.scrollHeight") < 4_000
