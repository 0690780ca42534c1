"""What one post, one author and one rename can ask for: skew, which no number of partitions carries off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.capacity.demand import BATCH_MOST, POLL_S, Basis, Demand
from bench.capacity.load import COMMENTS, DAY_S, GET_POST, LIKE, USER_POSTS, YEAR_DAYS
from bench.capacity.measuring import LIKE_AGAIN
from bench.capacity.published import BURST_RU, BURST_S, LOGICAL_GB, PARTITION_RU, PHYSICAL_GB

TOGETHER: Final = 30  # shared/transactions/batches.py
VIRAL_LIKES: Final = 10_000
RENAMED_ITEMS: Final = 1_000_000
RENAMES_AT_ONCE: Final = 32  # shared/propagation/rename_fanout.py
RECENT_DAYS: Final = 90
RECENT_SHARE: Final = 0.9


@dataclass(frozen=True)
class LikeCost:
    """RU of one like in the post's logical partition: alone, in a full batch, and without any counter beside it.
    `feed_ru` is the reading of its change, which the same partition pays."""

    alone_ru: float
    together_ru: float
    item_ru: float
    feed_ru: float

    @classmethod
    def of(cls, basis: Basis) -> LikeCost:
        commit = basis.measured.commit
        return cls(
            alone_ru=commit.of(1).posts,
            together_ru=commit.of(TOGETHER).posts / TOGETHER,
            item_ru=commit.each.posts,
            feed_ru=basis.measured.reactions[LIKE_AGAIN].each.posts,
        )


@dataclass(frozen=True)
class Partition:
    """What a partition of `ru` takes a second, of one kind at a time."""

    ru: float
    likes_alone: float
    likes_together: float
    post_reads: float
    comment_lists: float
    author_lists: float


def takes(ru: float, basis: Basis) -> Partition:
    """Likes with the reading of their changes."""
    like, requests = LikeCost.of(basis), basis.measured.requests
    return Partition(
        ru,
        ru / (like.alone_ru + like.feed_ru),
        ru / (like.together_ru + like.feed_ru),
        ru / requests[GET_POST].posts,
        ru / requests[COMMENTS].posts,
        ru / requests[USER_POSTS].users,
    )


@dataclass(frozen=True)
class HotPartition:
    """The physical partition of a hot post at one size: its share of the throughput, how long burst capacity lasts
    after some idle minutes, what `posts` would need for 10,000 RU/s on each partition, and the share where the posts of
    the last 90 days are in a container of their own."""

    share: Partition
    burst_s: float
    even_ru: float
    recent_partitions: int
    recent_share: Partition


def hot_partition(need: Demand, basis: Basis) -> HotPartition:
    """At this size."""
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
    """`VIRAL_LIKES` a second on one post, in RU/s of its logical partition and of others; and what follows."""

    alone_ru: float
    together_ru: float
    items_ru: float
    names_ru: float
    author_ru: float
    shards: float
    reads_ru: float
    changes: float


def viral(basis: Basis) -> Viral:
    """With as many reads of the post as the load has for each command."""
    like, again = LikeCost.of(basis), basis.measured.reactions[LIKE_AGAIN]
    batches = VIRAL_LIKES / BATCH_MOST
    together = VIRAL_LIKES * (like.together_ru + like.feed_ru)
    return Viral(
        alone_ru=VIRAL_LIKES * (like.alone_ru + like.feed_ru),
        together_ru=together,
        items_ru=VIRAL_LIKES * (like.item_ru + like.feed_ru),
        names_ru=VIRAL_LIKES * again.each.users,
        author_ru=batches * again.fixed.users,
        shards=together / PARTITION_RU.value,
        reads_ru=VIRAL_LIKES * basis.load.reads_per_command * basis.measured.requests[GET_POST].posts,
        changes=VIRAL_LIKES + batches,
    )


def hot_posts_of_an_author(basis: Basis) -> float:
    """How many of an author's posts can be liked all the time before his partition of `users` is spent: each is copied
    there once for each batch, at most as often as the feed is read."""
    copy_ru = basis.measured.reactions[LIKE].each.users - basis.measured.reactions[LIKE_AGAIN].each.users
    return PARTITION_RU.value * (POLL_S + basis.pace.spread_s / 10) / copy_ru


@dataclass(frozen=True)
class Rename:
    """A rename of `RENAMED_ITEMS` on as many posts, at a size: RU in `posts`, those of the query through all partitions
    among them; seconds by waiting alone (`RENAMES_AT_ONCE`, one round trip each) and by processor time alone."""

    items_ru: float
    scan_ru: float
    waiting_s: float
    cpu_s: float


def rename(need: Demand, basis: Basis, round_trip_s: float) -> Rename:
    """At this size."""
    measured = basis.measured
    return Rename(
        items_ru=RENAMED_ITEMS * measured.rename.each.posts,
        scan_ru=measured.scanned_ru * need.containers["posts"].partitions,
        waiting_s=RENAMED_ITEMS / RENAMES_AT_ONCE * round_trip_s,
        cpu_s=RENAMED_ITEMS * basis.pace.change_cpu_s * basis.assumed.platform,
    )


@dataclass(frozen=True)
class Filled:
    """What fills a logical partition of 20 GB: so many items, and how long that takes at a rate."""

    what: str
    items: float
    rate: str
    years: float


def filled(basis: Basis) -> list[Filled]:
    """For posts by their likes and comments, for authors by their posts."""
    kb, index = basis.measured.sizes_kb, 1 + basis.assumed.index_share
    room = LOGICAL_GB.value * 1e9 / 1024 / index
    most = takes(PARTITION_RU.value, basis).likes_together
    year_s = YEAR_DAYS * DAY_S
    likes, comments, copies = room / kb["like"], room / kb["comment"], room / kb["copy"]
    return [
        Filled("a post, by likes", likes, f"{most:,.0f} likes a second, all that it takes", likes / most / year_s),
        Filled("a post, by comments", comments, "100 comments a second", comments / 100 / year_s),
        Filled("an author in `users`, by posts", copies, "a post a second", copies / year_s),
    ]
