"""Compute the load on the database and the functions for a number of users.

Rates are those of the busiest second, except names with `mean`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, exp
from typing import Final

from cosmos_emulator.charges import PROFILES

from bench.capacity.charge_measurement import LIKE_IN_FEED, MeasuredCharges
from bench.capacity.charges import Charges
from bench.capacity.load import (
    COMMENT,
    CREATE_POST,
    CREATE_USER,
    EDIT_POST,
    FRONT_PAGE,
    LIKE,
    RENAME,
    Load,
)
from bench.capacity.prices_and_limits import INSTANCE_GB, MIN_RU, MIN_RU_PER_GB, PARTITION_RU, PHYSICAL_GB
from bench.capacity.timings import Timings
from shared.data.feed import FEED_LENGTH

# shared/propagation/change_feed.py
POLL_S: Final = 0.3
RENEW_S: Final = 5.0
ACQUIRE_S: Final = 2.0
BATCH_MAX: Final = 100
_ROUNDS: Final = 40
_MODEL: Final = PROFILES["service-2026"]


@dataclass(frozen=True)
class Assumed:
    """Assumptions that are neither measured nor published.

    `index_share`: index size relative to JSON. `used_share`: target utilization of throughput and CPU in the busiest
    second. `platform`: CPU time of a request on Azure, where a separate host runs the worker, relative to the local
    host. `leases_an_instance`: the most leases that one instance can hold.
    """

    index_share: float = 0.2
    used_share: float = 0.7
    platform: float = 2.0
    leases_an_instance: int = 50
    # Remedies that are not implemented: the share of batches that read the feed; CDN edges (0: no CDN), each of which
    # requests the front page once a second; replicas of the feed.
    looking_share: float = 1.0
    cdn_edges: int = 0
    feed_replicas: int = 1


@dataclass(frozen=True)
class Basis:
    measured: MeasuredCharges
    timings: Timings
    load: Load = field(default_factory=Load)
    assumed: Assumed = field(default_factory=Assumed)


@dataclass(frozen=True)
class ContainerDemand:
    """RU/s of requests, change-feed functions and idle polls; GB including the index."""

    request_ru: float
    propagation_ru: float
    idle_ru: float
    gb: float
    used_share: float

    @property
    def ru(self) -> float:
        return self.request_ru + self.propagation_ru + self.idle_ru

    @property
    def provisioned_ru(self) -> float:
        return max(self.ru / self.used_share, self.gb * MIN_RU_PER_GB.value, MIN_RU.value)

    @property
    def partitions(self) -> int:
        return max(1, ceil(self.gb / PHYSICAL_GB.value), ceil(self.provisioned_ru / PARTITION_RU.value))

    @property
    def share_ru(self) -> float:
        """Throughput per physical partition."""
        return self.provisioned_ru / self.partitions


@dataclass(frozen=True)
class FeedDemand:
    """Commands, changes, batches and idle reads of a change feed, per second."""

    commands: float
    changes: float
    batches: float
    idle_reads: float


@dataclass(frozen=True)
class Demand:
    """What this number of users needs."""

    users: int
    containers: Mapping[str, ContainerDemand]
    posts_feed: FeedDemand
    users_feed: FeedDemand
    http_requests: float
    http_instances: int
    trigger_instances: int
    # RU/s of the single partition of `feed`: front pages, reads and writes by change-feed functions.
    front_page_ru: float
    look_ru: float
    feed_write_ru: float
    rename_scan_ru: float
    mean_share: float
    feed_replicas: int

    @property
    def feed_partition_ru(self) -> float:
        """RU/s of the busiest replica: replicas share reads, but each receives all writes."""
        return (self.front_page_ru + self.look_ru) / self.feed_replicas + self.feed_write_ru

    @property
    def instances(self) -> int:
        return self.http_instances + self.trigger_instances

    @property
    def mean_http_requests(self) -> float:
        return self.http_requests * self.mean_share


def batches_per_s(commands: float, batch_s: float, changes: float) -> tuple[float, float]:
    """Return batches and idle reads per second of one physical partition.

    The host reads until there are no changes, then waits `POLL_S`. Changes that arrive (Poisson) during the wait or a
    batch form the next batch, of at most 100.
    """
    if commands * batch_s > 1:
        return max(1 / batch_s, changes / BATCH_MAX), 0.0
    in_a_row = (1 - exp(-commands * POLL_S)) * exp(commands * batch_s)
    cycle_s = POLL_S + in_a_row * batch_s
    return max(in_a_row / cycle_s, changes / BATCH_MAX), 1 / cycle_s


def demand(users: int, basis: Basis) -> Demand:
    """Iterate until stable: partitions determine polling, polling throughput, throughput partitions."""
    partitions = {"users": 1, "posts": 1, "feed": 1, "leases": 1}
    for _ in range(_ROUNDS):
        result = _demand(users, basis, partitions)
        found = {name: container.partitions for name, container in result.containers.items()}
        if found == partitions:
            break
        partitions = {name: max(count, partitions[name]) for name, count in found.items()}
    return result


def _demand(users: int, basis: Basis, partitions: Mapping[str, int]) -> Demand:
    load, measured, assumed = basis.load, basis.measured, basis.assumed
    commands = {name: rate * load.peak for name, rate in load.commands_per_s(users).items()}
    queries = {name: rate * load.peak for name, rate in load.queries_per_s(users).items()}
    if assumed.cdn_edges:
        queries[FRONT_PAGE] = min(queries[FRONT_PAGE], float(assumed.cdn_edges))
    in_feed = load.share_in_feed(commands[CREATE_POST] / load.peak, FEED_LENGTH)

    posts_feed = _posts_feed(commands, basis, partitions["posts"])
    users_feed = _users_feed(commands, basis, partitions["users"])
    propagation = _propagation(commands, in_feed, posts_feed, basis, partitions["posts"])
    http = sum(commands.values()) + sum(queries.values())
    per_instance = assumed.used_share / (basis.timings.request_cpu_s * assumed.platform)
    http_instances = ceil(http / per_instance)
    trigger_instances = _trigger_instances(posts_feed, users_feed, basis, partitions)

    front_pages = min(queries[FRONT_PAGE], float(http_instances))
    front_page_ru = front_pages * measured.requests[FRONT_PAGE].feed
    requests = _weighted(commands | queries, measured.requests)
    leases = _leases(posts_feed, users_feed, trigger_instances, basis, partitions)
    gb = _gb(users, basis)
    look_ru = posts_feed.batches * assumed.looking_share * measured.propagation[LIKE].fixed.feed
    feed_write_ru = propagation.feed - posts_feed.batches * measured.propagation[LIKE].fixed.feed

    def container(name: str, request_ru: float, propagation_ru: float, idle_reads: float = 0.0) -> ContainerDemand:
        idle_ru = idle_reads * measured.poll_ru
        return ContainerDemand(request_ru, propagation_ru, idle_ru, gb.get(name, 0.0), assumed.used_share)

    return Demand(
        users=users,
        containers={
            "users": container("users", requests.users, propagation.users, users_feed.idle_reads),
            "posts": container("posts", requests.posts, propagation.posts, posts_feed.idle_reads),
            "feed": container("feed", front_page_ru, look_ru + feed_write_ru * assumed.feed_replicas),
            "leases": container("leases", 0.0, leases),
        },
        posts_feed=posts_feed,
        users_feed=users_feed,
        http_requests=http,
        http_instances=http_instances,
        trigger_instances=trigger_instances,
        front_page_ru=front_page_ru,
        look_ru=look_ru,
        feed_write_ru=feed_write_ru,
        rename_scan_ru=commands[RENAME] * measured.scanned_ru * partitions["posts"],
        mean_share=1 / load.peak,
        feed_replicas=assumed.feed_replicas,
    )


def _posts_feed(commands: Mapping[str, float], basis: Basis, partitions: int) -> FeedDemand:
    rate = sum(commands[name] for name in (CREATE_POST, EDIT_POST, COMMENT, LIKE))
    changes = rate + commands[COMMENT] + commands[LIKE]  # the comment or like and its post
    return _feed(rate, changes, basis.timings.spread_s / BATCH_MAX, partitions)


def _users_feed(commands: Mapping[str, float], basis: Basis, partitions: int) -> FeedDemand:
    copies = sum(commands[name] for name in (CREATE_POST, EDIT_POST, COMMENT, LIKE))
    people = 2 * commands[CREATE_USER] + 2 * commands[RENAME]
    return _feed(copies + people, copies + people, basis.timings.spread_s / BATCH_MAX, partitions)


def _feed(commands: float, changes: float, change_s: float, partitions: int) -> FeedDemand:
    """`change_s` is the time per change in a full batch; a small batch is assumed to take as long as ten changes."""
    batches, idle = batches_per_s(commands / partitions, 10 * change_s, changes / partitions)
    return FeedDemand(commands, changes, batches * partitions, idle * partitions)


def _propagation(
    commands: Mapping[str, float], in_feed: float, feed: FeedDemand, basis: Basis, partitions: int
) -> Charges:
    """Return the charges of the change-feed functions: per command, batch, and rename."""
    measured = basis.measured
    each = {name: measured.propagation[name].each for name in (CREATE_USER, CREATE_POST, EDIT_POST, COMMENT, LIKE)}
    total = _weighted({name: commands[name] for name in each}, each)
    in_feed_more = measured.propagation[LIKE_IN_FEED].each - measured.propagation[LIKE].each
    total += in_feed_more * ((commands[COMMENT] + commands[LIKE]) * in_feed)
    total += measured.propagation[LIKE].fixed * feed.batches
    # Batches with new posts also truncate the feed.
    trimming = measured.propagation[CREATE_POST].fixed - measured.propagation[LIKE].fixed
    total += trimming * min(feed.batches, commands[CREATE_POST])
    scan = Charges(posts=measured.scanned_ru * partitions)
    names = Charges(users=measured.rename.fixed.users) + scan + measured.rename.each * _items_of_a_user(basis)
    return total + names * commands[RENAME]


def _items_of_a_user(basis: Basis) -> float:
    """Return the number of items with a user's name halfway through the period."""
    load = basis.load
    return load.posts_per_user * (1 + load.comments_per_post + load.likes_per_post) / 2


def _trigger_instances(
    posts_feed: FeedDemand, users_feed: FeedDemand, basis: Basis, partitions: Mapping[str, int]
) -> int:
    """Return the instances needed for the CPU time of the changes and for the leases."""
    assumed = basis.assumed
    cpu_s = (posts_feed.changes + users_feed.changes) * basis.timings.change_cpu_s * assumed.platform
    leases = partitions["posts"] + partitions["users"]
    return max(2, ceil(cpu_s / assumed.used_share), ceil(leases / assumed.leases_an_instance))


def _leases(
    posts_feed: FeedDemand,
    users_feed: FeedDemand,
    instances: int,
    basis: Basis,
    partitions: Mapping[str, int],
) -> float:
    """Return RU/s of `leases`: a write per checkpoint and renewal, and the instances' lease lists."""
    measured = basis.measured
    leases = partitions["posts"] + partitions["users"]
    writes = posts_feed.batches + users_feed.batches + leases / RENEW_S
    listed_ru = partitions["leases"] * _MODEL.query_start + leases / 2 * measured.sizes_kb["lease"] * _MODEL.per_kb
    return writes * measured.lease_write_ru + instances / ACQUIRE_S * listed_ru


def _gb(users: int, basis: Basis) -> dict[str, float]:
    """Return GB per container at the end of the period."""
    load, kb, index = basis.load, basis.measured.sizes_kb, 1 + basis.assumed.index_share
    posts = users * load.posts_per_user
    post_kb = kb["post"] + load.comments_per_post * kb["comment"] + load.likes_per_post * kb["like"]
    user_kb = kb["user"] + kb["reservation"] + load.posts_per_user * kb["copy"]
    gb = index * 1024 / 1e9
    return {"posts": posts * post_kb * gb, "users": users * user_kb * gb, "feed": FEED_LENGTH * kb["copy"] * gb}


def _weighted(rates: Mapping[str, float], charges: Mapping[str, Charges]) -> Charges:
    """Sum all requests except the front page, which each process caches."""
    total = Charges()
    for name, rate in rates.items():
        if name != FRONT_PAGE:
            total += charges[name] * rate
    return total


def functions_gb_seconds(need: Demand, basis: Basis, seconds: float) -> float:
    """Return memory times time of the active instances at the mean load."""
    per_instance = basis.assumed.used_share / (basis.timings.request_cpu_s * basis.assumed.platform)
    active = need.mean_http_requests / per_instance + need.trigger_instances
    return active * INSTANCE_GB * seconds
