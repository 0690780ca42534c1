"""Find which limit is reached first, and at how many users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.capacity.demand import BATCH_MAX, Basis, Demand, demand
from bench.capacity.prices_and_limits import APP_INSTANCES, CONTAINER_RU, PARTITION_RU, REGION_CORES
from bench.capacity.timings import LATENCY_MS

FUNCTION_TIMEOUT_S: Final = 300.0  # host.json
_LEAST: Final = 1_000
_MOST: Final = 10**11
_STEPS: Final = 40


@dataclass(frozen=True)
class Limit:
    """`used` returns the used share, 1 if the limit is reached."""

    name: str
    remedy: str
    used: Callable[[Demand, Basis], float]


def _rename_scan(need: Demand, _: Basis) -> float:
    posts = need.containers["posts"]
    return need.rename_scan_ru / (posts.ru - need.rename_scan_ru)


def _rename_time(need: Demand, _: Basis) -> float:
    return need.containers["posts"].partitions * LATENCY_MS / 1000 / FUNCTION_TIMEOUT_S


def _change_feed(need: Demand, basis: Basis) -> float:
    per_partition = need.posts_feed.changes / need.containers["posts"].partitions
    return per_partition / (BATCH_MAX / basis.timings.spread_s)


def _container(name: str) -> Callable[[Demand, Basis], float]:
    return lambda need, _: need.containers[name].provisioned_ru / CONTAINER_RU.value


LIMITS: Final = (
    Limit(
        "`feed`: its only logical partition",
        "see the three rows below",
        lambda need, _: need.feed_partition_ru / PARTITION_RU.value,
    ),
    Limit(
        "… reads by the change-feed functions, one per batch",
        "cache the date of the oldest post in the feed; read the feed only for newer posts",
        lambda need, _: need.look_ru / PARTITION_RU.value,
    ),
    Limit(
        "… front pages, one per second and process",
        "replicas of the feed (`post-0` … `post-n`), or a CDN that honors the existing `Cache-Control`",
        lambda need, _: need.front_page_ru / PARTITION_RU.value,
    ),
    Limit(
        "… writes for new posts and counts",
        "write the feed once a second instead of once per post",
        lambda need, _: need.feed_write_ru / PARTITION_RU.value,
    ),
    Limit(
        "`posts`: 1,000,000 RU/s per container",
        "a support ticket, then one account per group of users",
        _container("posts"),
    ),
    Limit("`users`: 1,000,000 RU/s per container", "same as for `posts`", _container("users")),
    Limit("`leases`: 1,000,000 RU/s per container", "longer lease intervals; several accounts", _container("leases")),
    Limit(
        "renames: cross-partition queries cost as much as everything else in `posts`",
        "an index by user of the posts they commented on and liked, fed by the posts change feed",
        _rename_scan,
    ),
    Limit(
        f"renames: the query, {LATENCY_MS} ms per partition, takes the function's 5 minutes",
        "the same index, or querying partitions in parallel",
        _rename_time,
    ),
    Limit(
        "Functions: 250 instances of 2 GB per subscription and region",
        "a support ticket; a CDN",
        lambda need, _: need.instances / REGION_CORES.value,
    ),
    Limit(
        "Functions: 1,000 instances per app",
        "several apps",
        lambda need, _: need.instances / APP_INSTANCES.value,
    ),
    Limit(
        "change feed of `posts`: changes per physical partition",
        "none needed: partitions grow with the data",
        _change_feed,
    ),
)


@dataclass(frozen=True)
class Reached:
    """The share used at each size, and the users that reach the limit (None: over 100 billion)."""

    limit: Limit
    used: tuple[float, ...]
    users: float | None


def reached(basis: Basis, sizes: Sequence[int]) -> list[Reached]:
    """Return all limits, sorted by the users that reach them."""
    needs = [demand(size, basis) for size in sizes]
    found = [
        Reached(limit, tuple(limit.used(need, basis) for need in needs), users_at(limit, basis)) for limit in LIMITS
    ]
    return sorted(found, key=lambda one: one.users or float("inf"))


def users_at(limit: Limit, basis: Basis) -> float | None:
    """Return the users that reach the limit, within a few percent."""
    low, high = float(_LEAST), float(_MOST)
    if limit.used(demand(_MOST, basis), basis) < 1:
        return None
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        if limit.used(demand(int(middle), basis), basis) < 1:
            low = middle
        else:
            high = middle
    return high
