"""Hostile text in every field that users write."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user
from tests.site.pages import Site

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>'",
    "</textarea></title></style></script><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}{# #}",
    "&lt;b&gt;&amp;#60;",
    "]]><!--<x>-->",
    "a\x00b\x0bc\ufffe\u202edef",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_in_every_field_is_shown_as_text(stored: Blog, site: Site, text: str) -> None:
    # The API rejects most of these usernames and IDs. Items of other writers can have them.
    author = a_user() | {"username": text}
    post = a_post(author, title=text, content=text)
    for item in (post, a_comment(post, author, content=text), a_like(post, author)):
        await stored.posts.upsert(item)
    for item in (author, post | {"content": text}):
        await stored.users.upsert(item)
    visible = re.sub("[\x00\x0b\ufffe]", "", text)

    for path in (f"/posts/{post['id']}", f"/users/{author['id']}", f"/posts/{post['id']}/edit"):
        shown = await site.get(path)

        assert shown.status == 200
        assert visible in shown.page.one("html").text
        assert [script["src"] for script in shown.page.all("script") if script.text] == []
        assert shown.page.all("img", src="x") == []
        assert [name for element in shown.page.elements for name in element if name.startswith("on")] == []
        assert all(element.get("style") is None for element in shown.page.elements)

    atom = ElementTree.fromstring((await site.get(f"/users/{author['id']}/feed.atom")).content)
    assert atom.findtext("{http://www.w3.org/2005/Atom}title") == visible


@pytest.mark.parametrize("user_id", ["<b>", "'\"&", "a b", "%2e", "{x}", "ünï"])
async def test_hostile_ids_are_encoded_in_links(stored: Blog, site: Site, user_id: str) -> None:
    author = a_user(user_id=user_id)
    post = a_post(author)
    for item in (author, post):
        await stored.users.upsert(item)
    await stored.posts.upsert(post)

    authors = (await site.get(f"/posts/{post['id']}")).page.all("a", rel="author")
    (link,) = {author_link["href"] for author_link in authors if author["username"] in author_link.text}
    user = await site.get(link)

    assert user.status == 200
    assert user.page.one("h1", data_username="").text == author["username"]
    avatar = await site.get(link.replace("/users/", "/avatars/") + ".svg")
    assert (avatar.status, avatar.headers["content-type"]) == (200, "image/svg+xml")


async def test_a_hostile_host_header_is_escaped(site: Site) -> None:
    shown = await site.get("/write", {"Host": 'a"><script>alert(1)</script>'})

    assert [script for script in shown.page.all("script") if script.text] == []
