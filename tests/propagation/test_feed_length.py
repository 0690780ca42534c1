"""The trigger, the change handler, and the readers share one feed length."""

from __future__ import annotations

import pytest

from management.definitions import script_text
from shared.data.feed import FEED_LENGTH, list_recent_posts
from shared.data.posts import delete_post
from shared.propagation import feed
from tests.blog import Blog
from tests.items import a_post, a_user

LENGTH = 5


async def test_changing_the_feed_length_changes_trigger_and_handler(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "FEED_LENGTH", LENGTH)
    script = script_text("truncateFeed").replace(f"FEED_LENGTH = {FEED_LENGTH};", f"FEED_LENGTH = {LENGTH};")
    trigger = {"id": "truncateFeed", "body": script, "triggerType": "Post", "triggerOperation": "All"}
    await blog.feed.proxy.scripts.replace_trigger("truncateFeed", trigger)
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(LENGTH + 4)]

    await blog.posts_handler.on_changed(posts)
    filled = await list_recent_posts(blog.feed, limit=FEED_LENGTH)
    for post in posts[-3:]:
        await delete_post(blog.posts, post["id"], etag=None)
    await blog.drain()
    refilled = await list_recent_posts(blog.feed, limit=FEED_LENGTH)

    assert [copy["id"] for copy in filled] == [post["id"] for post in posts[: -LENGTH - 1 : -1]]
    assert [copy["id"] for copy in refilled] == [post["id"] for post in posts[-4 : -LENGTH - 4 : -1]]
