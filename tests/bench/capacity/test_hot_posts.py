"""Simulation of one hot post, and its measurement on the emulator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.capacity.hot_post_measurement import LikeMethod, take
from bench.capacity.hot_post_simulation import DURATION_S, HotPost, likes_before_refusal, simulate

_QUIET = HotPost(likes_per_s=50, processes=1, batch_ru=15, like_ru=5)
_VIRAL = replace(_QUIET, likes_per_s=10_000)


def test_likes_that_arrive_slowly_are_written_one_by_one() -> None:
    outcome = simulate(_QUIET)

    assert outcome.likes_per_batch == 1
    assert outcome.written_per_s == pytest.approx(50, rel=0.01)
    assert outcome.longest_wait_s == pytest.approx(_QUIET.commit_s)
    assert outcome.refused_per_s == 0


def test_likes_that_arrive_during_a_batch_share_the_next_one() -> None:
    outcome = simulate(replace(_QUIET, likes_per_s=1_000))

    assert outcome.likes_per_batch == pytest.approx(10, rel=0.05)


def test_more_processes_make_smaller_batches() -> None:
    free = replace(_QUIET, likes_per_s=1_000, partition_ru=1e9)

    batches = [simulate(replace(free, processes=count)).likes_per_batch for count in (1, 4, 64)]

    assert batches == [pytest.approx(10, rel=0.05), pytest.approx(2.5, rel=0.05), 1]


def test_a_partition_accepts_only_its_throughput() -> None:
    outcome = simulate(_VIRAL)

    # The last batch of a second may exceed its throughput.
    assert outcome.written_per_s == pytest.approx(_VIRAL.most_per_s, rel=0.02)
    assert outcome.refused_per_s > 0
    assert outcome.waiting == _VIRAL.likes_per_s * DURATION_S - outcome.written_per_s * DURATION_S


def test_throughput_grows_with_the_shards() -> None:
    assert simulate(replace(_VIRAL, shards=8)).written_per_s > 5 * simulate(_VIRAL).written_per_s


def test_no_like_is_refused_at_the_reported_rate() -> None:
    rate = likes_before_refusal(_VIRAL)

    assert simulate(replace(_VIRAL, likes_per_s=rate)).refused_per_s == 0
    assert simulate(replace(_VIRAL, likes_per_s=int(rate * 1.1))).refused_per_s > 0


def test_every_process_uses_all_shards_evenly() -> None:
    single = likes_before_refusal(replace(_VIRAL, processes=512))

    assert likes_before_refusal(replace(_VIRAL, processes=512, shards=8)) == pytest.approx(8 * single, rel=0.1)


async def test_group_commit_writes_more_likes_per_second_than_single_batches() -> None:
    single = await take(LikeMethod("single", 1, grouped=False), partition_ru=1_000)
    grouped_likes = await take(LikeMethod("grouped", 1), partition_ru=1_000)

    assert single.charged_ru == pytest.approx(1_000, rel=0.2)
    assert single.before_refusal <= single.in_all
    assert single.ru_per_like == pytest.approx(20, rel=0.1)
    assert grouped_likes.ru_per_like < single.ru_per_like / 2


async def test_shards_use_several_physical_partitions() -> None:
    single = await take(LikeMethod("one", 2), partition_ru=1_000)
    shards = await take(LikeMethod("shards", 2, shards=16, partitions=4), partition_ru=1_000)

    assert shards.budget_ru == 4_000
    assert shards.in_all > 2 * single.in_all
