"""The trace in items does not change what the app does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider

from management.verify import verify_within
from shared.data.blog import Blog as ManagedBlog
from shared.platform import telemetry
from shared.platform.deliveries.delivery import run_delivery
from shared.propagation.change_feeds import POSTS_CHANGE_FEED
from tests.api import Api
from tests.blog import Blog
from tests.items import a_comment, a_like, a_post, a_user, unique

OLD = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def tracing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Telemetry of this process, without an exporter."""
    monkeypatch.setattr(telemetry, "tracer", TracerProvider(shutdown_on_exit=False).get_tracer("blog"))
    with telemetry.span("a_test"):
        yield


@pytest.mark.usefixtures("tracing")
async def test_change_feed_functions_stop_writing(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)
    renamed = {**author, "username": unique("renamed"), "nameVersion": 1, "formerUsernames": [author["username"]]}
    await blog.users.create({**renamed, "traceparent": OLD})
    for item in (post, a_comment(post, author), a_like(post, author)):
        await blog.posts.create({**item, "traceparent": OLD})

    await blog.drain()  # fails if they write on and on

    items = await blog.items_of(post)
    assert {item["userUsername"] for item in items} == {renamed["username"]}
    assert OLD not in {item["traceparent"] for item in items}
    [copy] = await blog.all_items(blog.feed)
    assert "traceparent" not in copy


@pytest.mark.usefixtures("tracing")
async def test_a_copy_is_current_whatever_trace_its_post_has(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)
    await blog.users.create(author)
    await blog.posts.create({**post, "traceparent": OLD})
    await blog.drain()
    before = {copy["_etag"] for copy in await blog.all_items(blog.feed)}

    patch = [{"op": "set", "path": "/traceparent", "value": OLD.replace("4bf9", "4bf0")}]
    await blog.posts.patch(post["id"], post["id"], patch)
    await blog.drain()

    assert {copy["_etag"] for copy in await blog.all_items(blog.feed)} == before


@pytest.mark.parametrize("malformed", [{"not": "text"}, ["not text"], 1, "not a trace"])
async def test_a_malformed_trace_does_not_stop_a_delivery(blog: Blog, malformed: object) -> None:
    author = a_user()
    post = a_post(author)
    await blog.users.create(author)
    await blog.posts.create({**post, "traceparent": malformed})

    await run_delivery(POSTS_CHANGE_FEED, await blog.changes(blog.posts), blog.handle_posts, deadline_s=30)

    assert [copy["id"] for copy in await blog.all_items(blog.feed)] == [post["id"]]


async def test_retries_and_conditions_work_with_traces(traced_api: Api) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)
    etag = (await traced_api.get_post(post["id"])).etag
    key = {"Idempotency-Key": unique("key")}

    comments = [await traced_api.create_comment(post["id"], author["id"], "Well put.", key) for _ in range(2)]
    likes = [await traced_api.create_like(post["id"], author["id"], key) for _ in range(2)]
    edited = await traced_api.edit_post(post["id"], "Another title", "Other content.", {"If-Match": etag})
    again = await traced_api.edit_post(post["id"], "A third title", "Other content.", {"If-Match": etag})

    assert comments[0].body == comments[1].body
    assert likes[0].body == likes[1].body
    assert (edited.status, again.status) == (200, 412)
    assert (edited.body["commentCount"], edited.body["likeCount"]) == (1, 1)


async def test_verify_accepts_items_with_traces(traced_api: Api, stored: Blog) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)
    comment = await traced_api.new_comment(post, author)
    await traced_api.new_like(post, author)
    await traced_api.delete_comment(post["id"], comment["id"])
    await traced_api.edit_user(author["id"], unique("renamed"))

    findings = await verify_within(ManagedBlog(stored.users, stored.posts, stored.feed, stored.failures), 20)

    assert [finding for finding in findings if post["id"] in str(finding) or author["id"] in str(finding)] == []
