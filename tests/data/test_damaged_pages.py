"""A damaged item is left out of its page, and does not hide the items after it."""

from __future__ import annotations

from shared.data.comments import list_comments
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user


async def test_a_page_of_damaged_items_only_leads_to_the_next_page(blog: Blog) -> None:
    author = a_user()
    post = a_post(author)
    await blog.posts.create(post)
    sound = a_comment(post, author, second=1)
    await blog.posts.create(sound)
    for second in (2, 3):
        await blog.posts.create(a_comment(post, author, second=second) | {"content": 7})

    found: list[str] = []
    cursor = None
    while True:
        page = await list_comments(blog.posts, post["id"], limit=1, cursor=cursor)
        found += [item["id"] for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == [sound["id"]]
