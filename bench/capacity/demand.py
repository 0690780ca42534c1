"""Compute the load on the database and the functions for a number of users, and its cost.

docs/scale.md lists the assumptions, prices and limits, with their sources. Rates are of the busiest second. Money
is in dollars per month at list prices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, exp
from typing import Final

from cosmos_emulator.charges import PROFILES

from bench.capacity.charges import LIKE_IN_FEED, Charges, MeasuredCharges
from shared.data.front_page import FRONT_PAGE_LENGTH

# Names as in bench/request_charges.py.
CREATE_USER, RENAME, CREATE_POST, EDIT_POST = "C1 create a user", "C1 edit a user", "C2 create a post", "C2 edit a post"
COMMENT, LIKE, FRONT_PAGE = "C3 create a comment", "C4 like a post", "Q6 list the most recent posts"

# The load, which follows the article: mean rates over all registered users. Comments and likes arrive within a day.
YEARS: Final = 5.0
POSTS, COMMENTS, LIKES = 27.5, 12.5, 50.0  # posts of a user, comments and likes of a post
COMMANDS: Final = {  # of a user, in all the years
    CREATE_USER: 1.0,
    RENAME: 0.5,
    CREATE_POST: POSTS,
    EDIT_POST: POSTS * 0.1,
    COMMENT: POSTS * COMMENTS,
    LIKE: POSTS * LIKES,
}
QUERIES_PER_COMMAND: Final = 100.0
QUERY_MIX: Final = {
    "Q1 retrieve a user": 0.03,
    "Q2 retrieve a post": 0.40,
    "Q3 list a user's posts": 0.07,
    "Q4 list a post's comments": 0.15,
    "Q5 list a post's likes": 0.05,
    FRONT_PAGE: 0.30,
}
PEAK: Final = 3.0  # busiest second relative to the mean
PEAK_IN_HOUR: Final = 1.25  # autoscale bills each hour's maximum
_DAY_S: Final = 86_400

# Assumptions. The times were measured on the local host.
INDEX_SHARE: Final = 0.2  # index size relative to JSON
_USED_SHARE: Final = 0.7  # utilization of throughput and CPU in the busiest second
_LEASES_AN_INSTANCE: Final = 50
_ON_AZURE: Final = 2.0  # CPU time where a separate host runs the worker, relative to the local host
_REQUEST_CPU_S: Final = 0.00167 * _ON_AZURE
_CHANGE_CPU_S: Final = 0.00094 * _ON_AZURE
_SMALL_DELIVERY_S: Final = 0.0262  # a tenth of a delivery of 100 changes, with responses after 10 ms
_PAGE_S: Final = 0.01
_LEASE_KB: Final = 0.52
_LEASE_WRITE_RU: Final = 10.67
_POLL_RU: Final = 1.0
_MODEL: Final = PROFILES["service-2026"]

# functions/change_feeds.py and host.json
POLL_S: Final = 0.3
RENEW_S: Final = 5.0
ACQUIRE_S: Final = 2.0
DELIVERY_MAX: Final = 100
DELIVERY_DEADLINE_S: Final = 150.0

# Published prices and limits
PARTITION_RU, _CONTAINER_RU, PARTITION_GB, _MIN_RU, _MIN_RU_PER_GB = 10_000, 1_000_000, 50, 400, 1
RU_HOUR, AUTOSCALE, AUTOSCALE_MIN, STORAGE = 0.008 / 100, 1.5, 0.1, 0.25
_GB_SECOND, _EXECUTION, _INSTANCE_GB = 0.000026, 0.40 / 1e6, 2.0
_APP_INSTANCES, _REGION_INSTANCES = 1_000, 250
HOURS_A_MONTH: Final = 730


@dataclass(frozen=True)
class ContainerDemand:
    """RU/s of requests, change-feed functions and idle polls; GB including the index."""

    request_ru: float
    propagation_ru: float
    idle_ru: float = 0.0
    gb: float = 0.0

    @property
    def ru(self) -> float:
        return self.request_ru + self.propagation_ru + self.idle_ru

    @property
    def provisioned_ru(self) -> float:
        return max(self.ru / _USED_SHARE, self.gb * _MIN_RU_PER_GB, _MIN_RU)

    @property
    def partitions(self) -> int:
        return max(1, ceil(self.gb / PARTITION_GB), ceil(self.provisioned_ru / PARTITION_RU))

    @property
    def standard(self) -> float:
        """Cost of the throughput."""
        return self.provisioned_ru * RU_HOUR * HOURS_A_MONTH

    @property
    def autoscale(self) -> float:
        """Cost with autoscale: each hour's maximum, but at least a tenth of the highest."""
        highest = self.ru / PEAK * PEAK_IN_HOUR / _USED_SHARE
        billed = min(max(self.provisioned_ru * AUTOSCALE_MIN, highest), self.provisioned_ru)
        return billed * RU_HOUR * HOURS_A_MONTH * AUTOSCALE


@dataclass(frozen=True)
class FeedDemand:
    """Changes, deliveries and idle reads of a change feed, per second."""

    changes: float
    deliveries: float
    idle_reads: float


@dataclass(frozen=True)
class Demand:
    """The capacity that this number of users needs."""

    users: int
    containers: Mapping[str, ContainerDemand]
    posts_feed: FeedDemand
    users_feed: FeedDemand
    http_requests: float
    http_instances: int
    trigger_instances: int

    @property
    def throughput(self) -> float:
        """Cost of standard throughput or autoscale, whichever is cheaper."""
        containers = self.containers.values()
        return min(
            sum(container.standard for container in containers), sum(container.autoscale for container in containers)
        )

    @property
    def storage(self) -> float:
        return sum(container.gb for container in self.containers.values()) * STORAGE

    @property
    def functions(self) -> float:
        """Cost of the instances that are active at the mean load, and of the executions."""
        requests = self.http_requests / PEAK
        deliveries = (self.posts_feed.deliveries + self.users_feed.deliveries) / PEAK
        instances = requests * _REQUEST_CPU_S / _USED_SHARE + self.trigger_instances
        per_s = instances * _INSTANCE_GB * _GB_SECOND + (requests + deliveries) * _EXECUTION
        return per_s * HOURS_A_MONTH * 3600


# The share used in the busiest second, by limit, and what helps.
LIMITS: Final[Mapping[str, tuple[Callable[[Demand], float], str]]] = {
    "Functions: 250 instances of 2 GB per subscription and region": (
        lambda need: (need.http_instances + need.trigger_instances) / _REGION_INSTANCES,
        "a support ticket; a CDN",
    ),
    "`feed`: its only logical partition": (
        lambda need: need.containers["feed"].ru / PARTITION_RU,
        "cache the date of the oldest post in the feed; a CDN that honors the existing `Cache-Control`",
    ),
    "Functions: 1,000 instances per app": (
        lambda need: (need.http_instances + need.trigger_instances) / _APP_INSTANCES,
        "several apps",
    ),
    "`posts`: 1,000,000 RU/s per container": (
        lambda need: need.containers["posts"].provisioned_ru / _CONTAINER_RU,
        "a support ticket, then one account per group of users",
    ),
    "`users`: 1,000,000 RU/s per container": (
        lambda need: need.containers["users"].provisioned_ru / _CONTAINER_RU,
        "same as for `posts`",
    ),
    "renames: the query, 10 ms per partition, takes a delivery's 150 s": (
        lambda need: need.containers["posts"].partitions * _PAGE_S / DELIVERY_DEADLINE_S,
        "an index by user of the posts they commented on and liked, fed by the posts change feed",
    ),
    "`leases`: 1,000,000 RU/s per container": (
        lambda need: need.containers["leases"].provisioned_ru / _CONTAINER_RU,
        "longer lease intervals; several accounts",
    ),
}


def demand(users: int, measured: MeasuredCharges) -> Demand:
    """Iterate until stable: partitions determine polling, polling throughput, throughput partitions."""
    partitions = {"users": 1, "posts": 1, "feed": 1, "leases": 1}
    while True:
        result = _demand(users, measured, partitions)
        found = {name: max(container.partitions, partitions[name]) for name, container in result.containers.items()}
        if found == partitions:
            return result
        partitions = found


def _demand(users: int, measured: MeasuredCharges, partitions: Mapping[str, int]) -> Demand:
    per_s = users / (YEARS * 365 * _DAY_S) * PEAK
    commands = {name: count * per_s for name, count in COMMANDS.items()}
    queries = {name: share * QUERIES_PER_COMMAND * sum(commands.values()) for name, share in QUERY_MIX.items()}
    on_posts = sum(commands[name] for name in (CREATE_POST, EDIT_POST, COMMENT, LIKE))
    # A comment or like changes itself and its post. Each command on a post changes the copy in `users`.
    posts_feed = _feed(on_posts, on_posts + commands[COMMENT] + commands[LIKE], partitions["posts"])
    on_users = on_posts + 2 * commands[CREATE_USER] + 2 * commands[RENAME]
    users_feed = _feed(on_users, on_users, partitions["users"])

    http = sum(commands.values()) + sum(queries.values())
    http_instances = ceil(http * _REQUEST_CPU_S / _USED_SHARE)
    leases = partitions["posts"] + partitions["users"]
    busy = (posts_feed.changes + users_feed.changes) * _CHANGE_CPU_S / _USED_SHARE
    trigger_instances = max(2, ceil(busy), ceil(leases / _LEASES_AN_INSTANCE))

    # Each process caches the front page for a second.
    front_page_ru = min(queries[FRONT_PAGE], float(http_instances)) * measured.requests[FRONT_PAGE].feed
    requests = _weighted({**commands, **queries, FRONT_PAGE: 0.0}, measured.requests)
    propagation = _propagation(commands, posts_feed, measured, partitions["posts"])
    writes = posts_feed.deliveries + users_feed.deliveries + leases / RENEW_S
    listed_ru = partitions["leases"] * _MODEL.query_start + leases / 2 * _LEASE_KB * _MODEL.per_kb
    leases_ru = writes * _LEASE_WRITE_RU + trigger_instances / ACQUIRE_S * listed_ru
    kb = measured.sizes_kb
    gb = users * (1 + INDEX_SHARE) * 1024 / 1e9
    posts_gb = gb * POSTS * (kb["post"] + COMMENTS * kb["comment"] + LIKES * kb["like"])
    users_gb = gb * (kb["user"] + kb["reservation"] + POSTS * kb["copy"])
    containers = {
        "users": ContainerDemand(requests.users, propagation.users, users_feed.idle_reads * _POLL_RU, users_gb),
        "posts": ContainerDemand(requests.posts, propagation.posts, posts_feed.idle_reads * _POLL_RU, posts_gb),
        "feed": ContainerDemand(front_page_ru, propagation.feed),
        "leases": ContainerDemand(0.0, leases_ru),
    }
    return Demand(users, containers, posts_feed, users_feed, http, http_instances, trigger_instances)


def _feed(commands: float, changes: float, partitions: int) -> FeedDemand:
    deliveries, idle = deliveries_per_s(commands / partitions, _SMALL_DELIVERY_S, changes / partitions)
    return FeedDemand(changes, deliveries * partitions, idle * partitions)


def deliveries_per_s(commands: float, delivery_s: float, changes: float) -> tuple[float, float]:
    """Return deliveries and idle reads per second of one physical partition.

    The host reads until there are no changes, then waits `POLL_S`. Changes that arrive (Poisson) during the wait or a
    delivery form the next delivery, of at most 100.
    """
    if commands * delivery_s > 1:
        return max(1 / delivery_s, changes / DELIVERY_MAX), 0.0
    in_a_row = (1 - exp(-commands * POLL_S)) * exp(commands * delivery_s)
    cycle_s = POLL_S + in_a_row * delivery_s
    return max(in_a_row / cycle_s, changes / DELIVERY_MAX), 1 / cycle_s


def _propagation(
    commands: Mapping[str, float], feed: FeedDemand, measured: MeasuredCharges, partitions: int
) -> Charges:
    """Return the charges of the change-feed functions: per command, delivery, and rename."""
    cost, rename = measured.propagation, measured.rename
    each = {name: cost[name].each for name in (CREATE_USER, CREATE_POST, EDIT_POST, COMMENT, LIKE)}
    total = _weighted({name: commands[name] for name in each}, each)
    # The latest posts are in the feed.
    in_feed = min(1.0, FRONT_PAGE_LENGTH / (commands[CREATE_POST] / PEAK) / _DAY_S)
    total += (cost[LIKE_IN_FEED].each - cost[LIKE].each) * ((commands[COMMENT] + commands[LIKE]) * in_feed)
    total += cost[LIKE].fixed * feed.deliveries
    # Deliveries with new posts also truncate the feed.
    total += (cost[CREATE_POST].fixed - cost[LIKE].fixed) * min(feed.deliveries, commands[CREATE_POST])
    items = POSTS * (1 + COMMENTS + LIKES) / 2  # of a user, halfway through the years
    query = Charges(users=rename.fixed.users, posts=measured.scanned_ru * partitions)
    return total + (query + rename.each * items) * commands[RENAME]


def _weighted(rates: Mapping[str, float], charges: Mapping[str, Charges]) -> Charges:
    return sum((charges[name] * rate for name, rate in rates.items()), Charges())
