"""The trigger, the change handler, and the readers share one length of the front page."""

from __future__ import annotations

import pytest

from management.definitions import script_text
from shared.data.posts import FRONT_PAGE_LENGTH, delete_post, list_recent_posts
from shared.propagation import copies
from tests.blog import Blog
from tests.items import a_post, a_user

LENGTH = 5


async def test_changing_the_length_of_the_front_page_changes_trigger_and_handler(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "FRONT_PAGE_LENGTH", LENGTH)
    script = script_text("truncateFeed").replace(f"FEED_LENGTH = {FRONT_PAGE_LENGTH};", f"FEED_LENGTH = {LENGTH};")
    trigger = {"id": "truncateFeed", "body": script, "triggerType": "Post", "triggerOperation": "All"}
    await blog.feed.proxy.scripts.replace_trigger("truncateFeed", trigger)
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(LENGTH + 4)]

    await blog.handle_posts(posts)
    filled = await list_recent_posts(blog.feed, limit=FRONT_PAGE_LENGTH)
    for post in posts[-3:]:
        await delete_post(blog.posts, post["id"], etag=None)
    await blog.drain()
    refilled = await list_recent_posts(blog.feed, limit=FRONT_PAGE_LENGTH)

    assert [copy["id"] for copy in filled] == [post["id"] for post in posts[: -LENGTH - 1 : -1]]
    assert [copy["id"] for copy in refilled] == [post["id"] for post in posts[-4 : -LENGTH - 4 : -1]]
