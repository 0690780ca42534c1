"""Compare the blog's requests on a large container with a small one.

The requests are the app's own. Each returns equally many items from both databases, from logical partitions across the
container.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.blog_items import GROUP, post_id, user_id
from bench.report import TargetResult
from bench.servers import connect, emulator
from bench.sizes import Sizes
from bench.timing import Action, BenchmarkError, in_turn
from management.account import open_blog
from shared.data.blog import Blog
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
# The middle of every post's comments.
_MIDDLE: Final = Cursor("2020-01-01T00:00:40.000Z", "comment-0000040")
# A prime stride visits all logical partitions in scattered order.
_STRIDE: Final = 7919
Request = Callable[[Blog, int], Awaitable[object]]


async def measure(sizes: Sizes, data_dir: Path) -> list[TargetResult]:
    """Measure each request; one emulator process serves both databases."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(emulator(data_dir))
        client = await stack.enter_async_context(connect(server))
        blogs = {database: await open_blog(client, database) for database in (SMALL, LARGE)}
        return [await _finding(name, request, blogs, sizes) for name, request in _requests(sizes).items()]


async def _finding(name: str, request: Request, blogs: dict[str, Blog], sizes: Sizes) -> TargetResult:
    groups = {SMALL: sizes.small // GROUP, LARGE: (sizes.large - sizes.busy) // GROUP}
    actions = {database: _action(request, blog, groups[database]) for database, blog in blogs.items()}
    times = await in_turn(actions, sizes.repetitions, warm_up=_WARM_UP)
    return TargetResult.at_most(
        f"{name}, p50, {sizes.large:,} items in the container against {sizes.small:,}",
        _TARGET,
        times[LARGE].p50_ms / times[SMALL].p50_ms,
        "×",
        f"{times[LARGE].p50_ms:.2f} ms against {times[SMALL].p50_ms:.2f} ms",
    )


def _action(request: Request, blog: Blog, groups: int) -> Action:
    # Skip the first post, which has more comments in the large database.
    return lambda number: request(blog, 1 + number * _STRIDE % (groups - 1))


def _requests(sizes: Sizes) -> dict[str, Request]:
    """Return the requests by name. Each accepts the number of a user or post."""

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
        "Q2, a post (point read)": q2,
        "Q3, a user's posts": q3,
        "Q4, a post's comments": q4,
        "Q4, a later page": q4_continued,
        f"Q4 of a post with {sizes.busy:,} comments": q4_busy,
        "Q5, a post's likes": q5,
        "Q6, the front page (one logical partition)": q6,
    }


def _full(page: Page) -> None:
    if len(page.items) != _PAGE:
        raise BenchmarkError(f"a page has {len(page.items)} items instead of {_PAGE}")
