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

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from management.addons import OpenAddon
from management.item_count import ItemCount, number_of_items
from management.repairs import Repairs
from management.replay import replay
from management.verification.census import take_census
from management.verification.examination import examine
from management.verification.findings import REBUILD, Finding, Kind
from shared.data.blog import Blog
from shared.platform.deliveries.concurrency import for_each
from shared.propagation.copies import Copies, FrontPageIndex, trim
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users


async def rebuild(
    blog: Blog,
    say: Callable[[str], None],
    count: ItemCount | None = None,
    addons: Sequence[OpenAddon] = (),
    *,
    restores_texts: bool = False,
) -> None:
    """Rebuild; `say` what is repaired, and count the items read. Raises DatabaseUnavailable, AzureError.

    `restores_texts` normalizes texts and removes the prefix of an earlier version, one with each rebuild.
    """
    count = count or ItemCount()
    count.expect(await number_of_items(blog.users, blog.posts, blog.feed, blog.failures))
    count.expect(await number_of_items(blog.users, blog.posts))  # read again as change feeds
    census = await take_census(blog, count)
    findings = await examine(blog, census)
    for addon in addons:
        findings += await addon.verify(blog, count)
    _say_repairs(findings, say, restores_texts=restores_texts)
    repairs = Repairs(blog)
    if restores_texts:
        await for_each(census.prefixed, repairs.restore_texts)
    await for_each(census.incomplete_users, repairs.complete_user)
    await for_each(census.tombstones, repairs.repair_tombstone)
    await for_each(census.expiring, repairs.remove_ttl)
    await for_each(census.counts, repairs.recount_post)
    await for_each(_by_post(census.names), repairs.update_usernames)
    await for_each(census.copies, repairs.repair_user_copy)
    await for_each(census.feed, repairs.repair_feed_copy)
    await for_each(census.reservations, repairs.release_reservation)
    await for_each(dict.fromkeys(census.users), repairs.reserve_username)
    say(f"Users checked: {await replay(blog.users, partial(handle_changed_users, blog), count):,}")
    say(f"Posts checked: {await replay(blog.posts, partial(handle_changed_posts, blog), count):,}")
    for addon in addons:
        await addon.rebuild(blog)
    await trim(Copies(blog.feed, blog.posts, partition_key="type"), await FrontPageIndex.read(blog.feed))


def _say_repairs(findings: Iterable[Finding], say: Callable[[str], None], *, restores_texts: bool) -> None:
    """Say how many findings of each kind this run repairs: those that leave the operator nothing else to do."""
    numbers = Counter(
        finding.kind
        for finding in findings
        if finding.advice in ("", REBUILD) and (restores_texts or finding.kind is not Kind.PREFIXED)
    )
    for kind in Kind:
        if numbers[kind]:
            say(f"Repairing: {kind.value}: {numbers[kind]:,}")


def _by_post(places: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Group items by post: concurrent writes to one logical partition conflict."""
    items: defaultdict[str, list[str]] = defaultdict(list)
    for post_id, item_id in places:
        items[post_id].append(item_id)
    return items.items()
