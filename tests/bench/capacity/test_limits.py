"""Limits by number of users, and skew."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.capacity.demand import Basis, Demand, demand
from bench.capacity.limits import FUNCTION_TIMEOUT_S, LIMITS, Limit, reached, users_at
from bench.capacity.load import SIZES
from bench.capacity.skew import LIKES_PER_BATCH, LikeCost, filled, hot_partition, rename, takes, viral
from shared.transactions.group_commit import GROUP_LIMIT
from tests.bench.capacity.example_basis import BASIS

_REPOSITORY = Path(__file__).parents[3]


def test_users_at_finds_where_the_used_share_is_one() -> None:
    def half_at_a_million(need: Demand, _: Basis) -> float:
        return need.users / 2_000_000

    def always_free(_: Demand, __: Basis) -> float:
        return 0.5

    assert users_at(Limit("", "", half_at_a_million), BASIS) == pytest.approx(2_000_000, rel=0.01)
    assert users_at(Limit("", "", always_free), BASIS) is None


def test_limits_are_sorted_by_the_users_that_reach_them() -> None:
    found = reached(BASIS, SIZES)

    users = [one.users or float("inf") for one in found]
    assert users == sorted(users)
    assert {one.limit.name for one in found} == {limit.name for limit in LIMITS}
    assert all(len(one.used) == len(SIZES) for one in found)


def test_a_cdn_and_replicas_raise_the_limit_of_the_feed() -> None:
    feed = LIMITS[0]
    cached = replace(BASIS, assumed=replace(BASIS.assumed, cdn_edges=200, looking_share=0.01))
    replicated = replace(cached, assumed=replace(cached.assumed, feed_replicas=16))

    as_it_is = users_at(feed, BASIS) or 0
    assert as_it_is < (users_at(feed, cached) or 0) < (users_at(feed, replicated) or 0)


def test_a_partitions_likes_follow_from_its_throughput() -> None:
    # One like costs 20 RU alone or 5.5 RU in a batch of thirty, plus 1 RU to read its change.
    like = LikeCost.of(BASIS)
    assert (like.single_ru, like.batched_ru, like.item_ru, like.feed_ru) == (20, 5.5, 5, 1)

    most = takes(10_000, BASIS)

    assert most.likes_single == pytest.approx(10_000 / 21)
    assert most.likes_batched == pytest.approx(10_000 / 6.5)
    assert (most.post_reads, most.comment_lists) == (10_000, 2_500)


def test_a_viral_post_exceeds_one_partition_even_without_its_counter() -> None:
    found = viral(BASIS)

    assert found.single_ru == 210_000
    assert found.batched_ru == 65_000
    assert found.items_ru == 60_000
    assert found.shards == 6.5
    assert found.reads_ru == 1_000_000


def test_a_hot_post_gets_its_physical_partitions_throughput() -> None:
    need = demand(SIZES[1], BASIS)
    posts = need.containers["posts"]

    hot = hot_partition(need, BASIS)

    assert hot.share.ru == pytest.approx(posts.provisioned_ru / posts.partitions)
    assert hot.burst_s == pytest.approx(300 * posts.share_ru / (3_000 - posts.share_ru))
    assert hot.even_ru == posts.partitions * 10_000
    assert hot.recent_share.ru > 5 * hot.share.ru


def test_a_rename_costs_its_items_and_a_cross_partition_query() -> None:
    need = demand(SIZES[1], BASIS)

    found = rename(need, BASIS, round_trip_s=0.01)

    assert found.items_ru == 12e6
    assert found.scan_ru == 3 * need.containers["posts"].partitions
    assert found.waiting_s == pytest.approx(1250)


def test_items_fill_20_gigabytes() -> None:
    by_likes = filled(BASIS)[0]

    assert by_likes.items * 0.5 * 1024 * 1.2 == pytest.approx(20e9)


def test_constants_match_the_app() -> None:
    host = json.loads((_REPOSITORY / "host.json").read_text(encoding="utf-8"))
    hours, minutes, seconds = map(int, host["functionTimeout"].split(":"))

    assert hours * 3600 + minutes * 60 + seconds == FUNCTION_TIMEOUT_S
    assert GROUP_LIMIT == LIKES_PER_BATCH
