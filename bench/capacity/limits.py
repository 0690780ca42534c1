"""Which limit is met first: each as the share of it that is used, and the number of users at which that is all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.capacity.demand import BATCH_MOST, Basis, Demand, demand
from bench.capacity.pace import LATENCY_MS
from bench.capacity.published import APP_INSTANCES, CONTAINER_RU, PARTITION_RU, REGION_CORES

FUNCTION_TIMEOUT_S: Final = 300.0  # host.json
_LEAST: Final = 1_000
_MOST: Final = 10**11
_STEPS: Final = 40


@dataclass(frozen=True)
class Limit:
    """`used` of the limit, 1 when it is reached; `remedy` in a few words."""

    name: str
    remedy: str
    used: Callable[[Demand, Basis], float]


def _feed_partition(need: Demand, _: Basis) -> float:
    return need.feed_partition_ru / PARTITION_RU.value


def _looks(need: Demand, _: Basis) -> float:
    return need.look_ru / PARTITION_RU.value


def _front_pages(need: Demand, _: Basis) -> float:
    return need.front_page_ru / PARTITION_RU.value


def _feed_writes(need: Demand, _: Basis) -> float:
    return need.feed_write_ru / PARTITION_RU.value


def _posts_ru(need: Demand, _: Basis) -> float:
    return need.containers["posts"].provisioned_ru / CONTAINER_RU.value


def _users_ru(need: Demand, _: Basis) -> float:
    return need.containers["users"].provisioned_ru / CONTAINER_RU.value


def _leases_ru(need: Demand, _: Basis) -> float:
    return need.containers["leases"].provisioned_ru / CONTAINER_RU.value


def _rename_scan(need: Demand, _: Basis) -> float:
    posts = need.containers["posts"]
    return need.rename_scan_ru / (posts.ru - need.rename_scan_ru)


def _rename_time(need: Demand, _: Basis) -> float:
    return need.containers["posts"].partitions * LATENCY_MS / 1000 / FUNCTION_TIMEOUT_S


def _instances(need: Demand, _: Basis) -> float:
    return need.instances / APP_INSTANCES.value


def _quota(need: Demand, _: Basis) -> float:
    return need.instances / REGION_CORES.value


def _change_feed(need: Demand, basis: Basis) -> float:
    per_partition = need.posts_feed.changes / need.containers["posts"].partitions
    return per_partition / (BATCH_MOST / basis.pace.spread_s)


LIMITS: Final = (
    Limit("`feed`, its one logical partition: all of it", "the three below", _feed_partition),
    Limit(
        "… the reactions' looks at the feed, one for each batch",
        "remember the oldest date of the feed in the process; look only for posts that may belong to it",
        _looks,
    ),
    Limit(
        "… the processes' front pages, one a second each",
        "replicas of the feed (`post-0` … `post-n`), or a CDN with the `Cache-Control` that is there",
        _front_pages,
    ),
    Limit(
        "… new posts and counts of those in it", "write the feed once a second, not once for each post", _feed_writes
    ),
    Limit(
        "`posts`: 1,000,000 RU/s of a container",
        "a ticket; then cells, an account for each part of the users",
        _posts_ru,
    ),
    Limit("`users`: 1,000,000 RU/s of a container", "the same", _users_ru),
    Limit("`leases`: 1,000,000 RU/s of a container", "longer lease intervals; cells", _leases_ru),
    Limit(
        "renames: their query through every partition of `posts` costs as much as all the rest there",
        "an index by user of where he commented and liked, fed by the posts feed",
        _rename_scan,
    ),
    Limit(
        f"renames: that query, {LATENCY_MS} ms a partition, takes the function's 5 minutes",
        "the same; or partitions in parallel",
        _rename_time,
    ),
    Limit("Functions: 250 instances of 2 GB in a subscription and region", "a ticket; a CDN", _quota),
    Limit("Functions: 1,000 instances of an app", "an app per cell", _instances),
    Limit(
        "change feed of `posts`: changes of one physical partition",
        "none needed: partitions grow with the data",
        _change_feed,
    ),
)


@dataclass(frozen=True)
class Reached:
    """The share used at each size, and the users at which all of it is; None where that is beyond 100 billion."""

    limit: Limit
    used: tuple[float, ...]
    users: float | None


def reached(basis: Basis, sizes: Sequence[int]) -> list[Reached]:
    """Every limit, the one that is reached first at the top."""
    needs = [demand(size, basis) for size in sizes]
    found = [
        Reached(limit, tuple(limit.used(need, basis) for need in needs), users_at(limit, basis)) for limit in LIMITS
    ]
    return sorted(found, key=lambda one: one.users or float("inf"))


def users_at(limit: Limit, basis: Basis) -> float | None:
    """The fewest users at which it is reached, within a few percent; of a limit that more users only come nearer to."""
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
