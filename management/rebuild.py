"""Rebuild all derived data from users, posts, comments and likes.

Works for a database filled without the change-feed functions (such as the article's), or after they lost changes:
1. Repair the findings of a census: missing user fields, wrong counts and versions, stale usernames, orphaned or stale
   copies, missing reservations, and abandoned ones.
2. Replay the change feed of `users`, which finishes renames.
3. Replay the change feed of `posts`, which fixes usernames and updates all copies and the feed.

Every write is conditional on the state read, so the app can keep running, and an interrupted rebuild can be repeated.
Does not repair responses to missing posts, malformed items, or failed changes; `verify` reports them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from management.addons import OpenAddon
from management.item_count import ItemCount, number_of_items
from management.repairs import Repairs
from management.replay import replay
from management.verification.census import take_census
from shared.data.blog import Blog
from shared.platform.deliveries.concurrency import for_each
from shared.propagation.copies import Copies, FrontPageIndex, trim
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users

T = TypeVar("T")


async def rebuild(
    blog: Blog,
    say: Callable[[str], None],
    count: ItemCount | None = None,
    addons: Sequence[OpenAddon] = (),
    *,
    restores_texts: bool = False,
) -> None:
    """Rebuild; report each step through `say`, and count the items read. Raises DatabaseUnavailable, AzureError.

    `restores_texts` removes the prefix of an earlier version, of which each rebuild would remove another one.
    """

    repairs = Repairs(blog)

    async def run(step: str, suspects: Iterable[T], repair: Callable[[T], Awaitable[None]]) -> None:
        before = repairs.changed
        await for_each(suspects, repair)
        say(f"{step}: {repairs.changed - before:,}")

    count = count or ItemCount()
    count.expect(await number_of_items(blog.users, blog.posts, blog.feed, blog.failures))
    count.expect(await number_of_items(blog.users, blog.posts))  # read again as change feeds
    census = await take_census(blog, count)
    if restores_texts:
        await run("Texts restored", census.prefixed, repairs.restore_texts)
    await run("Users completed", census.incomplete_users, repairs.complete_user)
    await run("Tombstones that expire", census.tombstones, repairs.expire_tombstone)
    await run("Items that no longer expire", census.expiring, repairs.remove_ttl)
    await run("Posts recounted", census.counts, repairs.recount_post)
    await run("Posts with usernames updated", _by_post(census.names), repairs.update_usernames)
    await run("Copies in users repaired or deleted", census.copies, repairs.repair_user_copy)
    await run("Copies in feed repaired or deleted", census.feed, repairs.repair_feed_copy)
    await run("Reservations released", census.reservations, repairs.release_reservation)
    await run("Usernames reserved", dict.fromkeys(census.users), repairs.reserve_username)
    say(f"Users checked: {await replay(blog.users, partial(handle_changed_users, blog), count):,}")
    say(f"Posts checked: {await replay(blog.posts, partial(handle_changed_posts, blog), count):,}")
    for each in addons:
        say(f"Items of {each.addon.container} repaired or deleted: {await each.rebuild(blog):,}")
    await trim(Copies(blog.feed, blog.posts, partition_key="type"), await FrontPageIndex.read(blog.feed))


def _by_post(places: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Group items by post: concurrent writes to one logical partition conflict."""
    items: defaultdict[str, list[str]] = defaultdict(list)
    for post_id, item_id in places:
        items[post_id].append(item_id)
    return items.items()
