"""Make everything that follows from users, posts, comments and likes again: also in a database that was filled before
there were functions to keep it, or after they lost something.

1. A census shows what is wrong. Users get the fields that the app would have written, posts right counts and a
   `version`, from which their copies tell older from newer states, and items their users' names. Copies without a post,
   and copies that claim to be a state that they do not show, are taken away: no change of a post would ever reach them.
   So are reservations of users who do not have the name.
2. The change feed of `users` from its beginning, through the functions' own reaction, confirms or makes reservations
   and carries names after unfinished renames.
3. The change feed of `posts` from its beginning sets names right and puts all copies and the feed in place.

Every write is conditional on the state that was looked at, so that the app may run meanwhile, with its functions or
without, and the command may be cut off and repeated. It leaves alone what it cannot tell the truth of: comments and
likes of posts that are gone without a mark, malformed items, failures kept; `verify` names them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from management.account import Blog
from management.mending import Mending
from management.replay import replay
from management.verification.census import take_census
from shared.propagation.change_feed import for_each
from shared.propagation.feed import FeedState, trim
from shared.propagation.posts import PostChangeHandler
from shared.propagation.users import UserChangeHandler

T = TypeVar("T")


async def rebuild(blog: Blog, say: Callable[[str], None]) -> None:
    """Rebuild, and say what was done, a line for each step. Raises DatabaseUnavailable, and the SDK's AzureError."""

    mending = Mending(blog)

    async def mended(what: str, suspects: Iterable[T], mend: Callable[[T], Awaitable[None]]) -> None:
        before = mending.changed
        await for_each(suspects, mend)
        say(f"{what}: {mending.changed - before:,}")

    census = await take_census(blog)
    await mended("Users completed", census.incomplete_users, mending.complete_user)
    await mended("Posts recounted", census.counts, mending.recount_post)
    await mended("Names set right in posts", _by_post(census.names), mending.mend_names)
    await mended("Copies in users mended or removed", census.copies, mending.mend_user_copy)
    await mended("Copies in the feed mended or removed", census.feed, mending.mend_feed_copy)
    await mended("Reservations released", census.reservations, mending.release_reservation)
    on_users = UserChangeHandler(blog.users, blog.posts, blog.failures)
    say(f"Changes of users replayed: {await replay(blog.users, on_users.on_changed):,}")
    on_posts = PostChangeHandler(blog.users, blog.posts, blog.feed, blog.failures)
    say(f"Changes of posts replayed: {await replay(blog.posts, on_posts.on_changed):,}")
    await trim(blog.feed, blog.posts, on_posts.feed_copies, await FeedState.read(blog.feed))


def _by_post(places: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Items grouped by their post, for those of one partition are better not written at the same time."""
    items: defaultdict[str, list[str]] = defaultdict(list)
    for post_id, item_id in places:
        items[post_id].append(item_id)
    return items.items()
