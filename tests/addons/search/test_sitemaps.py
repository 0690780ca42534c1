"""The sitemaps of all posts."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from tests.addons.web.pages import Site
from tests.api import Api
from tests.instances import rewritten
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture
async def pages(searched: Api, searched_app: RunningApp) -> Site:
    return Site(searched.session, searched_app.url)


async def listed(pages: Site, url: str) -> list[str]:
    shown = await pages.get(url.removeprefix(pages.url))
    assert shown.status == 200
    assert shown.headers["content-type"].startswith("application/xml")
    return [str(entry.text) for entry in ElementTree.fromstring(shown.text).iter(f"{NAMESPACE}loc")]


async def test_crawlers_find_each_post_in_the_sitemap_of_its_day(searched: Api, pages: Site) -> None:
    post = await searched.new_post(await searched.new_user())
    robots = await pages.get("/robots.txt")
    addresses = [line.removeprefix("Sitemap: ") for line in robots.text.splitlines() if line.startswith("Sitemap: ")]
    assert addresses == [f"{pages.url}/sitemap.xml", f"{pages.url}/sitemaps.xml"]

    async def is_listed() -> bool:
        (of_today, *_) = await listed(pages, addresses[1])
        assert of_today == f"{pages.url}/sitemap-of-day.xml?day={post['creationDate'][:10]}"
        return f"{pages.url}/posts/{post['id']}" in await listed(pages, of_today)

    await eventually(is_listed)


async def test_an_edit_changes_the_date_of_the_last_change(searched: Api, pages: Site) -> None:
    post = await searched.new_post(await searched.new_user())
    edited = (await searched.edit_post(post["id"], "Another title", "Some content.")).body

    async def shows_the_edit() -> bool:
        shown = await pages.get(f"/sitemap-of-day.xml?day={post['creationDate'][:10]}")
        return f"/posts/{post['id']}</loc><lastmod>{edited['editedDate']}</lastmod>" in shown.text

    await eventually(shows_the_edit)


async def test_a_forged_session_token_does_not_fail_the_sitemap_of_a_day(searched: Api, pages: Site) -> None:
    forged = rewritten(await searched.create_user(unique("ada")), r"#\d+", "#999999999999999999")

    assert (await pages.get("/sitemap-of-day.xml?day=2001-02-03", forged)).status == 200


async def test_a_day_without_posts_has_only_the_front_page(pages: Site) -> None:
    assert await listed(pages, "/sitemap-of-day.xml?day=2001-02-03") == [f"{pages.url}/"]


@pytest.mark.parametrize(
    "day", ["", "1999-12-31", "2026-02-30", "today", "2026-1-1T00:00", "2026-1-6", "٢٠٢٦-01-06", "9999-12-31"]
)
async def test_an_invalid_day_is_refused(pages: Site, day: str) -> None:
    assert (await pages.get(f"/sitemap-of-day.xml?day={day}")).status == 400


async def test_the_sitemap_of_a_day_does_not_read_whole_posts(searched: Api, pages: Site) -> None:
    today, author = datetime.now(UTC).date(), await searched.new_user()
    last = [await searched.new_post(author, content="x" * 100_000) for _ in range(20)][-1]

    async def is_listed() -> bool:
        return f"/posts/{last['id']}<" in (await pages.get(f"/sitemap-of-day.xml?day={today}")).text

    await eventually(is_listed)
    shown = await pages.get(f"/sitemap-of-day.xml?day={today}")
    assert 0 < float(shown.headers["x-ms-request-charge"]) < 10
