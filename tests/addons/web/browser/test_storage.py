"""The site works if the browser's storage is full or blocked, in Chromium."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.addons.web.browser.conftest import Visit
from tests.addons.web.browser.person import Person
from tests.api import Api
from tests.items import unique

pytestmark = pytest.mark.nightly

# Fills what is left, down to the last character.
FILL = """
for (const storage of [sessionStorage, localStorage]) {
  for (let length = 5 * 2 ** 20, count = 0; length >= 1; ) {
    try {
      storage.setItem(`full-${count}`, "x".repeat(length));
      count++;
    } catch {
      length /= 2;
    }
  }
}
"""
# As specified: https://html.spec.whatwg.org/#dom-localstorage, https://w3c.github.io/web-locks/#dom-lockmanager-request.
BLOCK = """
const refuse = () => { throw new DOMException("Access is denied.", "SecurityError"); };
for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get: refuse });
navigator.locks.query = navigator.locks.request = async () => refuse();
"""


@pytest.fixture(params=["full", "blocked"])
async def ada(visit: Visit, request: pytest.FixtureRequest) -> Person:
    """Someone whose browser stores nothing."""
    ada = await visit()
    if request.param == "full":
        await ada.evaluate(FILL)
    else:
        await ada.page.add_init_script(BLOCK)
    return ada


async def test_someone_without_storage_comments_and_likes(ada: Person, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    await ada.open(f"/posts/{post['id']}")
    await ada.sign_up()

    await ada.comment("Well put.")
    await expect(ada.status).to_have_text("Your comment is published.")
    await ada.like.click()
    await expect(ada.status).to_have_text("You like this post.")

    counts = (await api.get_post(post["id"])).body
    assert (counts["commentCount"], counts["likeCount"]) == (1, 1)


async def test_a_command_without_an_answer_is_sent_again_with_its_key(ada: Person, api: Api) -> None:
    post = await api.new_post(await api.new_user())
    await ada.open(f"/posts/{post['id']}")
    await ada.sign_up()
    keys: list[str | None] = []
    ada.page.on("request", lambda sent: sent.method == "POST" and keys.append(sent.headers.get("idempotency-key")))
    await ada.fail("POST", "**/comments")
    await ada.comment("Well put.")
    await expect(ada.alert).not_to_be_empty()
    await ada.page.unroute("**/comments")

    await ada.page.get_by_role("button", name="Comment", exact=True).click()
    await expect(ada.status).to_have_text("Your comment is published.")

    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_someone_without_storage_publishes_and_deletes_a_post(ada: Person, api: Api) -> None:
    author = await api.new_user()
    await ada.open("/write")
    await ada.be(author)
    title = unique("Engines")
    await ada.page.get_by_label("Title").fill(title)
    await ada.page.get_by_label("Text", exact=True).fill("Some text.")
    await expect(ada.page.locator("[data-kept]")).to_contain_text("cannot be kept")

    await ada.page.get_by_role("button", name="Publish").click()

    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(title)
    post_id = await ada.page.locator("article.post").get_attribute("data-post-id")
    await ada.be(author)
    await ada.page.get_by_role("button", name="Delete", exact=True).click()
    await ada.confirm()
    await expect(ada.page).to_have_url(f"{ada.url}/")
    assert (await api.get_post(post_id or "")).status == 404
