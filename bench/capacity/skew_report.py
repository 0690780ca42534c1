"""Tables of docs/scale.md about skew: one post, one author, one rename."""

from __future__ import annotations

from collections.abc import Sequence

from bench.capacity.costs import standard
from bench.capacity.demand import Basis, demand
from bench.capacity.formatting import duration, number, people, table
from bench.capacity.hot_post_measurement import LikesTaken
from bench.capacity.hot_post_simulation import HotPost, likes_before_refusal, simulate
from bench.capacity.load import SIZES
from bench.capacity.prices_and_limits import PARTITION_RU
from bench.capacity.skew import (
    RECENT_DAYS,
    RENAMED_ITEMS,
    VIRAL_LIKES,
    LikeCost,
    filled,
    hot_partition,
    hot_posts_of_an_author,
    rename,
    takes,
    viral,
)
from bench.capacity.timings import LATENCY_MS
from shared.propagation.pace import TRANSACTIONS_AT_ONCE

Section = list[str]
_PROCESSES = (1, 8, 64, 512)
_SHARDS = (1, 8, 16)


def hot_tables(basis: Basis, taken: Sequence[LikesTaken]) -> list[Section]:
    return [
        _partition(basis),
        _shares(basis),
        _viral(basis),
        _run(taken),
        _simulated(basis),
        _renames(basis),
        _room(basis),
    ]


def _partition(basis: Basis) -> Section:
    most = takes(PARTITION_RU.value, basis)
    like = LikeCost.of(basis)
    rows = [
        ("likes of one post, one per batch", number(most.likes_single), f"{like.single_ru:.2f} + {like.feed_ru:.2f}"),
        (
            "likes of one post, thirty per batch",
            number(most.likes_batched),
            f"{like.batched_ru:.2f} + {like.feed_ru:.2f}",
        ),
        ("reads of a post (Q2)", number(most.post_reads), ""),
        ("lists of its comments (Q4)", number(most.comment_lists), ""),
        ("lists of an author's posts (Q3)", number(most.author_lists), ""),
        ("posts of one author that are liked continuously", number(hot_posts_of_an_author(basis)), "copies in `users`"),
    ]
    return [
        "### Capacity of one logical partition at 10,000 RU/s (modeled)",
        "",
        "One kind of request at a time. For likes, RU of the like plus RU for reading its change, which the same"
        " partition pays.",
        "",
        *table(["request", "per second", "RU each"], rows),
    ]


def _shares(basis: Basis) -> Section:
    rows = []
    for size in SIZES:
        need = demand(size, basis)
        hot = hot_partition(need, basis)
        rows.append(
            (
                people(size),
                number(hot.share.ru),
                number(hot.share.likes_batched),
                number(hot.share.post_reads),
                duration(hot.burst_s) if hot.burst_s else "none",
                f"{number(hot.even_ru)} (${number(standard(hot.even_ru))} a month)",
                f"{number(hot.recent_share.ru)} on {number(hot.recent_partitions)}",
            )
        )
    head = [
        "users",
        "RU/s of the partition",
        "likes a second in full batches",
        "or reads a second",
        "burst to 3,000 RU/s lasts",
        "throughput for 10,000 RU/s per partition",
        f"RU/s with a container for the last {RECENT_DAYS} days",
    ]
    return [
        "### Throughput of a hot post's physical partition (modeled)",
        "",
        "Throughput is divided evenly among the physical partitions of `posts`, whose number follows from the stored"
        f" data. The last column is an estimate: a separate container for posts of the last {RECENT_DAYS} days receives"
        " 90% of the load. Burst capacity is not guaranteed.",
        "",
        *table(head, rows),
    ]


def _viral(basis: Basis) -> Section:
    found = viral(basis)
    rows = [
        ("logical partition of the post, one like per batch, RU/s", number(found.single_ru)),
        ("… thirty likes per batch, RU/s", number(found.batched_ru)),
        ("… without a counter, RU/s", number(found.items_ru)),
        ("… reads of the post, 100 per like, RU/s", number(found.reads_ru)),
        ("reads of the users who like, across `users`, RU/s", number(found.names_ru)),
        ("the author's partition of `users`, copies, RU/s", number(found.author_ru)),
        ("changes on one lease", number(found.changes)),
        ("… capacity of a lease here", number(basis.timings.hot_changes_per_s)),
        ("logical partitions needed for the likes", number(found.shards)),
    ]
    return [
        f"### A viral post: {VIRAL_LIKES:,} likes a second (modeled)",
        "",
        *table(["demand", "per second"], rows),
    ]


def _run(taken: Sequence[LikesTaken]) -> Section:
    rows = [
        (
            one.method.name,
            number(one.budget_ru),
            f"{one.before_refusal:,}",
            f"{one.in_all:,}",
            f"{one.ru_per_like:.2f}",
            number(one.in_all * one.budget_ru / one.charged_ru),
        )
        for one in taken
    ]
    head = [
        "case",
        "RU/s available",
        "likes before the first 429",
        "likes in one second",
        "RU each",
        "likes in exactly the budget",
    ]
    return [
        "### One hot post within one second (measured on the emulator with `--throttle`, charges modeled)",
        "",
        "The emulator's clock is stopped, so a run takes one second regardless of the machine. The likes use the app's"
        " own transactions, from 256 clients per physical partition, or four without group commit. The shards are"
        " distributed by hash over eight physical partitions of 10,000 RU/s. Each shard has its own counter, and the"
        " post is not written.",
        "",
        *table(head, rows),
    ]


def _simulated(basis: Basis) -> Section:
    commit = basis.measured.commit
    rows = []
    for shards in _SHARDS:
        for processes in _PROCESSES:
            case = HotPost(VIRAL_LIKES, processes, commit.fixed.posts, commit.each.posts, shards=shards)
            outcome = simulate(case)
            rows.append(
                (
                    str(shards),
                    number(processes),
                    number(likes_before_refusal(case)),
                    number(outcome.written_per_s),
                    number(outcome.likes_per_batch, 2),
                    duration(outcome.longest_wait_s),
                )
            )
    head = [
        "shards",
        "processes",
        "likes a second before the first 429",
        "written of 10,000",
        "likes per batch",
        "longest wait",
    ]
    return [
        f"### One hot post at {VIRAL_LIKES:,} likes a second (simulated: bench/capacity/hot_post_simulation.py)",
        "",
        "Eight seconds of evenly arriving likes. A commit takes 10 ms (assumption). Each shard has its own physical"
        " partition of 10,000 RU/s. The first result column is the highest rate without a refusal. Change feed reads"
        " and readers of the post are omitted. Requests in progress when a second's throughput is used up still"
        " complete, so a second may exceed 10,000 RU.",
        "",
        *table(head, rows),
    ]


def _renames(basis: Basis) -> Section:
    rows = []
    for size in SIZES:
        found = rename(demand(size, basis), basis, LATENCY_MS / 1000)
        rows.append(
            (
                people(size),
                number(found.items_ru),
                number(found.scan_ru),
                duration(found.waiting_s),
                duration(found.cpu_s),
            )
        )
    head = ["users", "RU of the items", "RU of the query", "waiting time", "CPU time"]
    return [
        f"### Rename of a user with {RENAMED_ITEMS:,} items on as many posts (modeled; times are estimates)",
        "",
        f"{TRANSACTIONS_AT_ONCE} transactions at a time, {LATENCY_MS} ms each, one core.",
        "",
        *table(head, rows),
    ]


def _room(basis: Basis) -> Section:
    rows = [(one.what, number(one.items), one.rate, duration(one.years * 365 * 86_400)) for one in filled(basis)]
    return [
        "### 20 GB in a logical partition (modeled)",
        "",
        "The feed's partition holds 100 copies and never fills up.",
        "",
        *table(["partition", "items", "rate", "full after"], rows),
    ]
