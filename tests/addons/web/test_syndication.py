"""Atom feeds, the sitemap, and robots.txt."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote
from uuid import UUID
from xml.etree import ElementTree

import feedparser
import pytest

from addons.web.slugs import post_path
from tests.addons.web.pages import Shown, Site
from tests.api import Api, Json
from tests.blog import Blog
from tests.items import a_post, a_user, unique
from tests.polling import eventually

ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


async def listed(api: Api) -> Json:
    """A post that the front page and its author's list show."""
    post = await api.new_post(await api.new_user(), unique("Looms & <engines>"), "They *weave* & “spin”.")

    async def shown() -> bool:
        feed, own = await api.get_feed(limit=100), await api.list_user_posts(post["userId"])
        return all(post["id"] in [item["id"] for item in answer.body["items"]] for answer in (feed, own))

    await eventually(shown)
    return post


def assert_valid_atom(shown: Shown, path: str, site: Site) -> list[ElementTree.Element]:
    """Check what RFC 4287 requires, and return the entries."""
    assert shown.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(shown.content)
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    for element in (feed, *entries):
        assert element.findtext(f"{ATOM}title")
        assert UUID(str(element.findtext(f"{ATOM}id"))).urn == element.findtext(f"{ATOM}id")
        assert datetime.fromisoformat(str(element.findtext(f"{ATOM}updated"))).tzinfo is not None
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links["self"] == site.url + path
    assert all(entry.find(f"{ATOM}author/{ATOM}name") is not None for entry in entries)
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)
    return entries


async def test_the_front_page_and_each_user_have_an_atom_feed(api: Api, site: Site) -> None:
    post = await listed(api)

    for path in ("/feed.atom", f"/users/{post['userId']}/feed.atom"):
        entries = assert_valid_atom(await site.get(path), path, site)
        (entry,) = (entry for entry in entries if entry.findtext(f"{ATOM}title") == post["title"])
        assert entry.findtext(f"{ATOM}summary") == "They weave & “spin”."
        assert entry.findtext(f"{ATOM}published") == post["creationDate"]
        assert entry.findtext(f"{ATOM}id") == f"urn:uuid:{post['id']}"


async def test_a_feed_reader_finds_everything_of_each_entry(api: Api, site: Site) -> None:
    post = await listed(api)

    for path in ("/feed.atom", f"/users/{post['userId']}/feed.atom"):
        shown = await site.get(path)
        read = feedparser.parse(shown.content, response_headers={"content-type": shown.headers["content-type"]})
        assert (read.bozo, read.version, read.encoding) == (False, "atom10", "utf-8")
        assert read.feed.title
        assert read.feed.link.startswith(f"{site.url}/")
        (entry,) = (entry for entry in read.entries if entry.id == f"urn:uuid:{post['id']}")
        assert entry.link == f"{site.url}{post_path(post)}"
        assert entry.author == post["userUsername"]
        assert entry.author_detail.href == f"{site.url}/users/{post['userId']}"
        assert entry.title_detail == entry.title_detail | {"type": "text/plain", "value": post["title"]}
        assert entry.summary_detail == entry.summary_detail | {"type": "text/plain", "value": "They weave & “spin”."}
        created = datetime.fromisoformat(post["creationDate"]).utctimetuple()
        assert entry.published_parsed == entry.updated_parsed == created
        for one in read.entries:
            assert all((one.id, one.link, one.author, one.title, one.summary, one.published_parsed, one.updated_parsed))


async def test_the_feed_of_all_posts_has_their_texts_up_to_a_size(api: Api, site: Site) -> None:
    post = await listed(api)
    longer = await api.new_post(await api.new_user(), content="word " * 14_000)
    versions = []

    async def contents() -> dict[str, list[str]]:
        read = feedparser.parse((await site.get("/feed.atom")).content)
        return {
            entry.id.removeprefix("urn:uuid:"): [one.value for one in entry.get("content", [])]
            for entry in read.entries
        }

    async def shows(text: str) -> bool:
        versions.append(await contents())
        return text in "".join(versions[-1].get(post["id"], [])) and longer["id"] in versions[-1]

    await eventually(lambda: shows("<em>weave</em> &amp; “spin”.</p>"))
    assert versions[-1][longer["id"]] == []
    await api.edit_post(post["id"], post["title"], "A *new* text.")
    await eventually(lambda: shows("<em>new</em>"))


async def test_ids_do_not_depend_on_the_host_of_the_request(api: Api, site: Site) -> None:
    post = await listed(api)

    for path in ("/feed.atom", f"/users/{post['userId']}/feed.atom"):
        feeds = [
            await site.get(path, {"Host": host}) for host in ("localhost:7071", "127.0.0.1:7071", "blog.example.com")
        ]
        ids = [[one.text for one in ElementTree.fromstring(feed.content).iter(f"{ATOM}id")] for feed in feeds]
        assert ids[0] == ids[1] == ids[2]
        assert len(set(ids[0])) == len(ids[0]) > 1


async def test_an_item_of_another_writer_has_a_valid_id(stored: Blog, site: Site) -> None:
    author = a_user(user_id="ada/é".replace("/", "-"))
    post = a_post(author) | {"id": "first-post", "postId": "first-post"}
    for item in (author, post):
        await stored.users.proxy.upsert_item(item)

    path = f"/users/{quote(author['id'])}/feed.atom"
    assert len(assert_valid_atom(await site.get(path), path, site)) == 1


async def test_an_edit_updates_the_entry_and_its_feed(api: Api, site: Site) -> None:
    post = await listed(api)
    newer = await api.create_post(post["userId"], "A newer post", "Some content.")
    edited = (await api.edit_post(post["id"], post["title"], "Other content.")).body
    path = f"/users/{post['userId']}/feed.atom"

    async def updates() -> dict[str | None, str | None]:
        feed = ElementTree.fromstring((await site.get(path)).content)
        elements = (feed, *feed.iter(f"{ATOM}entry"))
        return {element.findtext(f"{ATOM}title"): element.findtext(f"{ATOM}updated") for element in elements}

    # The two posts are in different partitions, so their changes arrive in any order.
    async def shows_both() -> bool:
        shown = await updates()
        return "A newer post" in shown and shown.get(post["title"]) == edited["editedDate"]

    await eventually(shows_both)
    assert await updates() == {
        post["userUsername"]: edited["editedDate"],
        post["title"]: edited["editedDate"],
        "A newer post": newer.body["creationDate"],
    }


async def test_a_user_without_posts_has_a_valid_feed(api: Api, site: Site) -> None:
    path = f"/users/{(await api.new_user())['id']}/feed.atom"

    assert assert_valid_atom(await site.get(path), path, site) == []


async def test_the_sitemap_lists_recent_posts_and_their_authors_once(api: Api, site: Site) -> None:
    post = await listed(api)

    shown = await site.get("/sitemap.xml")

    addresses = [element.text for element in ElementTree.fromstring(shown.content).iter(f"{SITEMAP}loc")]
    assert len(addresses) == len(set(addresses))
    assert {f"{site.url}/", f"{site.url}{post_path(post)}", f"{site.url}/users/{post['userId']}"} <= set(addresses)
    assert (await site.get(post_path(post))).status == 200


async def test_robots_txt_names_the_sitemap_and_excludes_the_api(site: Site) -> None:
    shown = await site.get("/robots.txt")

    assert shown.headers["content-type"] == "text/plain; charset=utf-8"
    assert f"Sitemap: {site.url}/sitemap.xml" in shown.text.splitlines()
    assert "Disallow: /api/" in shown.text.splitlines()


@pytest.mark.parametrize("path", ["/feed.xml", "/rss"])
async def test_addresses_that_readers_try_lead_to_the_feed(site: Site, path: str) -> None:
    shown = await site.get(path)

    assert (shown.status, shown.headers["location"]) == (308, "/feed.atom")
