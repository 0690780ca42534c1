"""The simulation of one hot post, and the run against the emulator that it stands beside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.capacity.hot_partition import Way, take
from bench.capacity.hot_post import DURATION_S, HotPost, likes_before_refusal, simulate

_QUIET = HotPost(likes_per_s=50, processes=1, batch_ru=15, like_ru=5)
_VIRAL = replace(_QUIET, likes_per_s=10_000)


def test_likes_that_come_one_by_one_go_one_by_one() -> None:
    outcome = simulate(_QUIET)

    assert outcome.likes_per_batch == 1
    assert outcome.written_per_s == pytest.approx(50, rel=0.01)
    assert outcome.longest_wait_s == pytest.approx(_QUIET.commit_s)
    assert outcome.refused_per_s == 0


def test_likes_that_come_while_a_batch_is_under_way_go_together() -> None:
    outcome = simulate(replace(_QUIET, likes_per_s=1_000))

    assert outcome.likes_per_batch == pytest.approx(10, rel=0.05)


def test_more_processes_group_less() -> None:
    free = replace(_QUIET, likes_per_s=1_000, partition_ru=1e9)

    batches = [simulate(replace(free, processes=count)).likes_per_batch for count in (1, 4, 64)]

    assert batches == [pytest.approx(10, rel=0.05), pytest.approx(2.5, rel=0.05), 1]


def test_a_partition_takes_no_more_than_its_throughput() -> None:
    outcome = simulate(_VIRAL)

    # The batch that is admitted last goes beyond the second's end of throughput.
    assert outcome.written_per_s == pytest.approx(_VIRAL.most_per_s, rel=0.02)
    assert outcome.refused_per_s > 0
    assert outcome.waiting == _VIRAL.likes_per_s * DURATION_S - outcome.written_per_s * DURATION_S


def test_shards_take_as_much_more_as_there_are() -> None:
    assert simulate(replace(_VIRAL, shards=8)).written_per_s > 5 * simulate(_VIRAL).written_per_s


def test_no_like_is_refused_at_the_rate_that_is_told() -> None:
    rate = likes_before_refusal(_VIRAL)

    assert simulate(replace(_VIRAL, likes_per_s=rate)).refused_per_s == 0
    assert simulate(replace(_VIRAL, likes_per_s=int(rate * 1.1))).refused_per_s > 0


def test_shards_are_reached_evenly_by_every_process() -> None:
    alone = likes_before_refusal(replace(_VIRAL, processes=512))

    assert likes_before_refusal(replace(_VIRAL, processes=512, shards=8)) == pytest.approx(8 * alone, rel=0.1)


async def test_group_commit_gets_more_likes_into_a_second_than_a_batch_each() -> None:
    alone = await take(Way("alone", 1, grouped=False), partition_ru=1_000)
    together = await take(Way("together", 1), partition_ru=1_000)

    assert alone.charged_ru == pytest.approx(1_000, rel=0.2)
    assert alone.before_refusal <= alone.in_all
    assert alone.ru_per_like == pytest.approx(20, rel=0.1)
    assert together.ru_per_like < alone.ru_per_like / 2


async def test_shards_use_what_lies_on_several_physical_partitions() -> None:
    alone = await take(Way("one", 2), partition_ru=1_000)
    shards = await take(Way("shards", 2, shards=16, partitions=4), partition_ru=1_000)

    assert shards.budget_ru == 4_000
    assert shards.in_all > 2 * alone.in_all
