"""The trigger, the change handler, and the readers share one length of the front page."""

from __future__ import annotations

from shared.data.front_page import list_recent_posts
from shared.data.posts import delete_post
from shared.platform.http.callers import BackEnd
from tests.blog import Blog
from tests.items import a_post, a_user


async def test_changing_the_length_of_the_front_page_changes_trigger_and_handler(
    blog: Blog, short_front_page: int
) -> None:
    author = await blog.users.create(a_user())
    posts = [await blog.posts.create(a_post(author, second=second)) for second in range(short_front_page + 4)]

    await blog.handle_posts(posts)
    filled = await list_recent_posts(blog.feed)
    for post in posts[-3:]:
        await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.drain()
    refilled = await list_recent_posts(blog.feed)

    assert [copy["id"] for copy in filled] == [post["id"] for post in posts[: -short_front_page - 1 : -1]]
    assert [copy["id"] for copy in refilled] == [post["id"] for post in posts[-4 : -short_front_page - 4 : -1]]
