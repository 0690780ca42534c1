"""The front page of an app with the search."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, expect

from shared.data.front_page import FRONT_PAGE_LENGTH
from tests.addons.web.browser.person import Person
from tests.addons.web.deliveries import feed_has
from tests.addons.web.pages import Site
from tests.api import Api
from tests.polling import eventually
from tests.running_app import RunningApp

NOTE = "Find older posts with the search."


@pytest.mark.nightly
async def test_the_front_page_mentions_older_posts_at_its_end_and_only_if_it_is_full(
    browser: Browser, searched: Api, searched_app: RunningApp
) -> None:
    site = Site(searched.session, searched_app.url)
    author = await searched.new_user()
    assert NOTE not in (await site.get("/")).text
    await asyncio.gather(*(searched.new_post(author) for _ in range(FRONT_PAGE_LENGTH)))
    await eventually(lambda: feed_has(searched, FRONT_PAGE_LENGTH))
    ada = Person(await browser.new_page(), searched_app.url)
    await ada.open("/?limit=80")
    note = ada.page.get_by_text(NOTE)
    await expect(note).to_have_count(0)

    await ada.page.get_by_role("link", name="Load more posts").click()

    await expect(ada.page.locator("ol.posts > li")).to_have_count(FRONT_PAGE_LENGTH)
    await expect(note).to_be_visible()
    await note.get_by_role("link").click()
    await expect(ada.page.get_by_role("searchbox")).to_be_visible()
    ada.assert_no_errors()
