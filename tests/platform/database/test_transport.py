"""Telemetry and the inspector call each request of the SDK by what it does."""

from __future__ import annotations

from typing import Any

import pytest

from shared.platform.database.client import has_multiple_write_regions
from shared.platform.database.transport import SessionTransport, container_and_kind
from tests.blog import Blog
from tests.items import a_post, a_user

RANGES = ("posts", "read of partition ranges")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The requests that any client has sent."""
    requests: list[tuple[str, str]] = []
    send = SessionTransport.send

    async def record(transport: SessionTransport, request: Any, **options: Any) -> Any:
        requests.append(container_and_kind(request))
        return await send(transport, request, **options)

    monkeypatch.setattr(SessionTransport, "send", record)
    return requests


async def test_requests_of_items_are_named_by_their_operation(blog: Blog, sent: list[tuple[str, str]]) -> None:
    post = await blog.posts.create(a_post(a_user()))
    key = post["id"]
    sent.clear()

    await blog.posts.read(key, key)
    await blog.posts.proxy.upsert_item(post)
    await blog.posts.query("SELECT * FROM c", {}, partition_key=key, page_size=1)
    await blog.posts.read_latest(key, key)
    changed = await blog.posts.patch(key, key, [{"op": "set", "path": "/title", "value": "Another"}])
    await blog.posts.execute("updateUsernames", key, "unknown", "grace", 1)
    await blog.posts.replace(changed, etag=changed["_etag"])
    await blog.posts.delete(key, key)

    procedure = "stored procedure updateUsernames"
    kinds = ["point read", "upsert", "query", "batch", "patch", procedure, "replace", "delete"]
    assert [one for one in sent if one != RANGES] == [("posts", kind) for kind in kinds]


async def test_requests_of_other_resources_are_not_mistaken_for_each_other(
    blog: Blog, sent: list[tuple[str, str]]
) -> None:
    posts, found = blog.posts.proxy, []
    for read in (
        lambda: has_multiple_write_regions(posts),
        blog.database.read,
        posts.read,
        lambda: anext(posts.scripts.list_stored_procedures()),
        lambda: anext(posts.scripts.list_triggers(), None),
        lambda: anext(posts.read_feed_ranges(force_refresh=True)),
    ):
        sent.clear()
        await read()
        found.append(sent[0])

    assert found == [
        ("", "read of the account"),
        ("", "read of the database"),
        ("posts", "read of the container"),
        ("posts", "list of scripts"),
        ("posts", "list of scripts"),
        RANGES,
    ]
