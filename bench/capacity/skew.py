"""Estimates for skew: one hot post, one busy author, one large rename."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.capacity.charge_measurement import LIKE_AGAIN
from bench.capacity.demand import BATCH_MAX, POLL_S, Basis, Demand
from bench.capacity.load import COMMENTS, DAY_S, GET_POST, LIKE, USER_POSTS, YEAR_DAYS
from bench.capacity.prices_and_limits import BURST_RU, BURST_S, LOGICAL_GB, PARTITION_RU, PHYSICAL_GB
from shared.propagation.pace import TRANSACTIONS_AT_ONCE

LIKES_PER_BATCH: Final = 30  # shared/transactions/batches.py
VIRAL_LIKES: Final = 10_000
RENAMED_ITEMS: Final = 1_000_000
RECENT_DAYS: Final = 90
RECENT_SHARE: Final = 0.9


@dataclass(frozen=True)
class LikeCost:
    """RU of one like in the post's logical partition: alone, in a full batch, and without the counter.

    `feed_ru` is the charge for reading its change.
    """

    single_ru: float
    batched_ru: float
    item_ru: float
    feed_ru: float

    @classmethod
    def of(cls, basis: Basis) -> LikeCost:
        commit = basis.measured.commit
        return cls(
            single_ru=commit.of(1).posts,
            batched_ru=commit.of(LIKES_PER_BATCH).posts / LIKES_PER_BATCH,
            item_ru=commit.each.posts,
            feed_ru=basis.measured.propagation[LIKE_AGAIN].each.posts,
        )


@dataclass(frozen=True)
class Partition:
    """What a partition with `ru` RU/s handles per second, of one kind of request at a time."""

    ru: float
    likes_single: float
    likes_batched: float
    post_reads: float
    comment_lists: float
    author_lists: float


def takes(ru: float, basis: Basis) -> Partition:
    """Divide a partition's throughput by the charges; likes include reading their changes."""
    like, requests = LikeCost.of(basis), basis.measured.requests
    return Partition(
        ru,
        ru / (like.single_ru + like.feed_ru),
        ru / (like.batched_ru + like.feed_ru),
        ru / requests[GET_POST].posts,
        ru / requests[COMMENTS].posts,
        ru / requests[USER_POSTS].users,
    )


@dataclass(frozen=True)
class HotPartition:
    """The physical partition of a hot post, and how long its burst capacity lasts.

    `even_ru` is the throughput of `posts` that gives each partition 10,000 RU/s. `recent_share` applies if posts of the
    last 90 days had their own container.
    """

    share: Partition
    burst_s: float
    even_ru: float
    recent_partitions: int
    recent_share: Partition


def hot_partition(need: Demand, basis: Basis) -> HotPartition:
    posts = need.containers["posts"]
    saved = posts.share_ru * BURST_S.value
    recent_ru = (posts.ru - need.rename_scan_ru) * RECENT_SHARE / basis.assumed.used_share
    recent_gb = posts.gb * RECENT_DAYS / YEAR_DAYS / basis.load.years
    count = max(1, -int(-recent_gb // PHYSICAL_GB.value), -int(-recent_ru // PARTITION_RU.value))
    return HotPartition(
        share=takes(posts.share_ru, basis),
        burst_s=saved / (BURST_RU.value - posts.share_ru) if posts.share_ru < BURST_RU.value else 0.0,
        even_ru=posts.partitions * PARTITION_RU.value,
        recent_partitions=count,
        recent_share=takes(recent_ru / count, basis),
    )


@dataclass(frozen=True)
class Viral:
    """RU/s and rates for `VIRAL_LIKES` likes per second on one post."""

    single_ru: float
    batched_ru: float
    items_ru: float
    names_ru: float
    author_ru: float
    shards: float
    reads_ru: float
    changes: float


def viral(basis: Basis) -> Viral:
    like, again = LikeCost.of(basis), basis.measured.propagation[LIKE_AGAIN]
    batches = VIRAL_LIKES / BATCH_MAX
    grouped_likes = VIRAL_LIKES * (like.batched_ru + like.feed_ru)
    return Viral(
        single_ru=VIRAL_LIKES * (like.single_ru + like.feed_ru),
        batched_ru=grouped_likes,
        items_ru=VIRAL_LIKES * (like.item_ru + like.feed_ru),
        names_ru=VIRAL_LIKES * again.each.users,
        author_ru=batches * again.fixed.users,
        shards=grouped_likes / PARTITION_RU.value,
        reads_ru=VIRAL_LIKES * basis.load.reads_per_command * basis.measured.requests[GET_POST].posts,
        changes=VIRAL_LIKES + batches,
    )


def hot_posts_of_an_author(basis: Basis) -> float:
    """Return how many posts of one author can be hot before their partition of `users` is exhausted.

    Each batch writes one copy per post.
    """
    copy_ru = basis.measured.propagation[LIKE].each.users - basis.measured.propagation[LIKE_AGAIN].each.users
    return PARTITION_RU.value * (POLL_S + basis.timings.spread_s / 10) / copy_ru


@dataclass(frozen=True)
class Rename:
    """A rename of `RENAMED_ITEMS` items on as many posts.

    `scan_ru` is the cross-partition query; `waiting_s` the round trips, `TRANSACTIONS_AT_ONCE` at a time.
    """

    items_ru: float
    scan_ru: float
    waiting_s: float
    cpu_s: float


def rename(need: Demand, basis: Basis, round_trip_s: float) -> Rename:
    measured = basis.measured
    return Rename(
        items_ru=RENAMED_ITEMS * measured.rename.each.posts,
        scan_ru=measured.scanned_ru * need.containers["posts"].partitions,
        waiting_s=RENAMED_ITEMS / TRANSACTIONS_AT_ONCE * round_trip_s,
        cpu_s=RENAMED_ITEMS * basis.timings.change_cpu_s * basis.assumed.platform,
    )


@dataclass(frozen=True)
class Filled:
    """What fills a logical partition of 20 GB, and in what time."""

    what: str
    items: float
    rate: str
    years: float


def filled(basis: Basis) -> list[Filled]:
    """Return the figures for a post by likes and comments, and for an author by posts."""
    kb, index = basis.measured.sizes_kb, 1 + basis.assumed.index_share
    room = LOGICAL_GB.value * 1e9 / 1024 / index
    most = takes(PARTITION_RU.value, basis).likes_batched
    year_s = YEAR_DAYS * DAY_S
    likes, comments, copies = room / kb["like"], room / kb["comment"], room / kb["copy"]
    return [
        Filled("a post, by likes", likes, f"{most:,.0f} likes a second (the maximum)", likes / most / year_s),
        Filled("a post, by comments", comments, "100 comments a second", comments / 100 / year_s),
        Filled("an author in `users`, by posts", copies, "1 post a second", copies / year_s),
    ]
