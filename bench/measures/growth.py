"""The blog's requests among very many items against the same requests among few.

The requests are the blog's own functions, so their texts and the containers' policies are those that it runs with. Each
finds equally many items in both databases, in logical partitions all over the container.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.blog_items import GROUP, post_id, user_id
from bench.report import Finding
from bench.servers import connect, emulator
from bench.sizes import Sizes
from bench.timing import Action, BenchmarkError, in_turn
from management.account import Blog, open_blog
from shared.data.comments import list_comments
from shared.data.feed import FEED_LENGTH, list_recent_posts
from shared.data.likes import list_likes
from shared.data.pages import Cursor, Page
from shared.data.posts import get_post, list_posts_of_user

SMALL: Final = "small"
LARGE: Final = "large"
_TARGET: Final = 1.3
_WARM_UP: Final = 30
_PAGE: Final = 20
# A place in the middle of the comments of every post, whose dates are seconds of one hour.
_MIDDLE: Final = Cursor("2020-01-01T00:00:40.000Z", "comment-0000040")
# A prime: as a stride it visits all logical partitions, neighbours far apart.
_STRIDE: Final = 7919
Request = Callable[[Blog, int], Awaitable[object]]


async def measure(sizes: Sizes, data_dir: Path) -> list[Finding]:
    """A finding for each request; a process that has just started on `data_dir` serves both databases."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(data_dir))
        client = await stack.enter_async_context(connect(server))
        blogs = {database: await open_blog(client, database) for database in (SMALL, LARGE)}
        return [await _finding(name, request, blogs, sizes) for name, request in _requests(sizes).items()]


async def _finding(name: str, request: Request, blogs: dict[str, Blog], sizes: Sizes) -> Finding:
    groups = {SMALL: sizes.small // GROUP, LARGE: (sizes.large - sizes.busy) // GROUP}
    actions = {database: _action(request, blog, groups[database]) for database, blog in blogs.items()}
    times = await in_turn(actions, sizes.repetitions, warm_up=_WARM_UP)
    return Finding.at_most(
        f"{name}, p50, with {sizes.large:,} items in the container against {sizes.small:,}",
        _TARGET,
        times[LARGE].p50_ms / times[SMALL].p50_ms,
        "×",
        f"{times[LARGE].p50_ms:.2f} ms against {times[SMALL].p50_ms:.2f} ms",
    )


def _action(request: Request, blog: Blog, groups: int) -> Action:
    # The first post is left out: in the large database it has more comments than the others.
    return lambda number: request(blog, 1 + number * _STRIDE % (groups - 1))


def _requests(sizes: Sizes) -> dict[str, Request]:
    """By name. What each is given is the number of a user or a post."""

    async def q2(blog: Blog, number: int) -> None:
        await get_post(blog.posts, post_id(number))

    async def q3(blog: Blog, number: int) -> None:
        _full(await list_posts_of_user(blog.users, user_id(number), limit=_PAGE, cursor=None))

    async def q4(blog: Blog, number: int) -> None:
        _full(await list_comments(blog.posts, post_id(number), limit=_PAGE, cursor=None))

    async def q4_continued(blog: Blog, number: int) -> None:
        _full(await list_comments(blog.posts, post_id(number), limit=_PAGE, cursor=_MIDDLE))

    async def q4_busy(blog: Blog, _: int) -> None:
        _full(await list_comments(blog.posts, post_id(0), limit=_PAGE, cursor=None))

    async def q5(blog: Blog, number: int) -> None:
        _full(await list_likes(blog.posts, post_id(number), limit=_PAGE, cursor=None))

    async def q6(blog: Blog, _: int) -> None:
        recent = await list_recent_posts(blog.feed, limit=FEED_LENGTH)
        if len(recent) != FEED_LENGTH:
            raise BenchmarkError(f"the feed has {len(recent)} posts")

    return {
        "point read (Q2)": q2,
        "Q3, a user's posts": q3,
        "Q4, a post's comments": q4,
        "Q4, a page further down": q4_continued,
        f"Q4 of a post with {sizes.busy:,} comments": q4_busy,
        "Q5, a post's likes": q5,
        "Q6, the front page, one logical partition": q6,
    }


def _full(page: Page) -> None:
    if len(page.items) != _PAGE:
        raise BenchmarkError(f"a page has {len(page.items)} items instead of {_PAGE}")
