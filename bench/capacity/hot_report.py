"""The tables of docs/scale.md about one post, one author and one rename, and those of the two simulations."""

from __future__ import annotations

from collections.abc import Sequence

from bench.capacity.demand import Basis, demand
from bench.capacity.figures import duration, number, people, table
from bench.capacity.hot import (
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
from bench.capacity.hot_partition import Taken
from bench.capacity.hot_post import HotPost, likes_before_refusal, simulate
from bench.capacity.load import SIZES
from bench.capacity.money import standard
from bench.capacity.pace import LATENCY_MS
from bench.capacity.published import PARTITION_RU

Section = list[str]
_PROCESSES = (1, 8, 64, 512)
_SHARDS = (1, 8, 16)


def hot_tables(basis: Basis, taken: Sequence[Taken]) -> list[Section]:
    """What skew asks for."""
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
        ("likes of a post, a batch each", number(most.likes_alone), f"{like.alone_ru:.2f} + {like.feed_ru:.2f}"),
        (
            "likes of a post, thirty in a batch",
            number(most.likes_together),
            f"{like.together_ru:.2f} + {like.feed_ru:.2f}",
        ),
        ("reads of a post (Q2)", number(most.post_reads), ""),
        ("lists of its comments (Q4)", number(most.comment_lists), ""),
        ("lists of an author's posts (Q3)", number(most.author_lists), ""),
        ("posts of one author that are liked all the time", number(hot_posts_of_an_author(basis)), "copies in `users`"),
    ]
    return [
        "### What one logical partition takes at 10,000 RU/s (modelled)",
        "",
        "Of one kind at a time. For likes: RU of the like and of the reading of its change, which the same"
        " partition pays.",
        "",
        *table(["", "a second", "RU each"], rows),
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
                number(hot.share.likes_together),
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
        "or reads",
        "burst to 3,000 RU/s lasts",
        "10,000 RU/s on every partition takes",
        f"RU/s with the last {RECENT_DAYS} days apart",
    ]
    return [
        "### What a hot post really has: its physical partition's share (modelled)",
        "",
        "Throughput is divided evenly among the physical partitions of `posts`, and their number follows from"
        " the stored data."
        f" The last column is an estimate: posts of the last {RECENT_DAYS} days in a container of their own,"
        " which gets 90% of"
        " the load. Burst capacity is not guaranteed.",
        "",
        *table(head, rows),
    ]


def _viral(basis: Basis) -> Section:
    found = viral(basis)
    rows = [
        ("its logical partition, a batch for each like, RU/s", number(found.alone_ru)),
        ("… thirty likes in a batch, RU/s", number(found.together_ru)),
        ("… without any counter there, RU/s", number(found.items_ru)),
        ("… reads of the post, 100 for each like, RU/s", number(found.reads_ru)),
        ("`users`, names of those who like, all over the container, RU/s", number(found.names_ru)),
        ("the author's partition of `users`, copies, RU/s", number(found.author_ru)),
        ("changes on one lease", number(found.changes)),
        ("… of which a lease carries here", number(basis.pace.hot_changes_per_s)),
        ("logical partitions that the likes need", number(found.shards)),
    ]
    return [
        f"### A viral post: {VIRAL_LIKES:,} likes a second (modelled)",
        "",
        *table(["", "a second"], rows),
    ]


def _run(taken: Sequence[Taken]) -> Section:
    rows = [
        (
            one.way.name,
            number(one.budget_ru),
            f"{one.before_refusal:,}",
            f"{one.in_all:,}",
            f"{one.ru_per_like:.2f}",
            number(one.in_all * one.budget_ru / one.charged_ru),
        )
        for one in taken
    ]
    head = [
        "way",
        "RU/s there are",
        "likes before the first 429",
        "likes in the second",
        "RU each",
        "in exactly the budget",
    ]
    return [
        "### One hot post within one second (measured on the emulator with `--throttle`, charges modelled)",
        "",
        "The emulator's clock stands still, so that a run is one second whatever the machine. 256 clients like for each"
        " physical partition, four where there is no group commit; the likes go through the app's own transactions. The"
        " shards lie on eight physical partitions of 10,000 RU/s where their hashes put them; each has a counter of its"
        " own, and the post is not written.",
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
        "likes in a batch",
        "longest wait",
    ]
    return [
        f"### The same for {VIRAL_LIKES:,} likes a second (simulated: bench/capacity/hot_post.py)",
        "",
        "Likes come evenly, a commit takes 10 ms (assumption), each shard has a physical partition of 10,000 RU/s of"
        " its own, eight seconds. The first column of results is the highest rate at which nothing is refused. The"
        " change feed's reads and readers of the post are left out. What is under way when a second is spent is carried"
        " out, so that more than 10,000 RU may be.",
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
    head = ["users", "RU of the items", "RU of the query", "waiting alone", "processor alone"]
    return [
        f"### A celebrity renamed: {RENAMED_ITEMS:,} items on as many posts (modelled; times are estimates)",
        "",
        f"32 partitions at a time, {LATENCY_MS} ms for each, one processor.",
        "",
        *table(head, rows),
    ]


def _room(basis: Basis) -> Section:
    rows = [(one.what, number(one.items), one.rate, duration(one.years * 365 * 86_400)) for one in filled(basis)]
    return [
        "### 20 GB in a logical partition (modelled)",
        "",
        "The feed's partition holds a hundred copies and never fills.",
        "",
        *table(["", "items", "at", "full after"], rows),
    ]
