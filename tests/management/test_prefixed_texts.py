"""Texts in the form of earlier versions: `verify` names them, and `rebuild` can restore them in every copy."""

from __future__ import annotations

import pytest

from management.rebuild import rebuild
from management.verification.findings import Kind
from management.verification.prefixed_texts import restored_texts
from management.verify import any_broken, verify
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user

DATE, NUMBER = "2026-01-01T00:00:00+02:00", "/Date(99999999999999999)/"


async def test_rebuild_restores_texts_of_earlier_versions(blog: Blog) -> None:
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author, title=f"text:{DATE}", content=f"text:{NUMBER}"))
    comment = await blog.posts.create(a_comment(post, author, content=f"text:{NUMBER}"))
    decomposed = await blog.posts.create(a_comment(post, author) | {"content": "cre\u0300me"})
    untouched = await blog.posts.create(a_comment(post, author, content="text: a note"))
    await blog.posts.patch(post["id"], post["id"], [{"op": "set", "path": "/commentCount", "value": 3}])
    await blog.drain()

    found = {finding.subject for finding in await verify(blog.stored) if finding.kind is Kind.PREFIXED}
    await rebuild(blog.stored, lambda _: None)
    kept = await blog.posts.read(post["id"], post["id"]) or {}
    assert kept["content"] == f"text:{NUMBER}"
    await rebuild(blog.stored, lambda _: None, restores_texts=True)

    assert found == {f"post {post['id']}", f"comment {comment['id']}", f"comment {decomposed['id']}"}
    restored = await blog.posts.read(post["id"], post["id"]) or {}
    assert (restored["title"], restored["content"]) == (DATE, NUMBER)
    for container, key in ((blog.users, author["id"]), (blog.feed, "post")):
        copy = await container.read(post["id"], key) or {}
        assert (copy["title"], copy["content"]) == (DATE, NUMBER)
    contents = [
        (await blog.posts.read(item["id"], post["id"]) or {})["content"] for item in (comment, decomposed, untouched)
    ]
    assert contents == [NUMBER, "cr\u00e8me", "text: a note"]
    assert await verify(blog.stored) == []


async def test_a_copy_whose_summary_alone_had_the_prefix_is_restored(blog: Blog) -> None:
    """The short form of this content is a date, although the content is not."""
    author = await blog.users.create(a_user())
    post = await blog.posts.create(a_post(author, content=f"**{DATE}**"))
    await blog.drain()
    prefixed = [{"op": "set", "path": "/content", "value": f"text:{DATE}"}]
    await blog.users.patch(post["id"], author["id"], prefixed)
    await blog.feed.patch(post["id"], "post", prefixed)

    assert any_broken(await verify(blog.stored))
    await rebuild(blog.stored, lambda _: None)

    assert await verify(blog.stored) == []


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        (f"text:{DATE}", DATE),
        (f"text:text:{NUMBER}", f"text:{NUMBER}"),
        ("text:/Date(\n)/", "/Date(\n)/"),
        ("e\u0301", "é"),
    ],
)
def test_one_prefix_is_removed(stored: str, sent: str) -> None:
    assert restored_texts({"title": stored, "content": 7}) == {"title": sent}


@pytest.mark.parametrize("text", [DATE, NUMBER, "text:", "text: 2026", f"text:{DATE} and more", f"text:{DATE}\n"])
def test_another_text_stays(text: str) -> None:
    assert restored_texts({"content": text}) == {}
