"""Computation of RU/s, partitions, instances and costs from the load."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bench.capacity.charges import Charges
from bench.capacity.costs import bill, standard
from bench.capacity.demand import (
    ACQUIRE_S,
    BATCH_MAX,
    POLL_S,
    RENEW_S,
    ContainerDemand,
    batches_per_s,
    demand,
)
from bench.capacity.load import DAY_S, SIZES, Load
from bench.capacity.propagation_charges import BatchCost
from function_app import app
from tests.bench.capacity.example_basis import BASIS


def test_the_load_is_one_command_per_user_and_day_and_100_queries_per_command() -> None:
    load = Load()

    commands = sum(load.commands_per_s(1_000).values())

    assert commands * DAY_S == pytest.approx(1_000, rel=0.05)
    assert sum(load.queries_per_s(1_000).values()) == pytest.approx(100 * commands)
    assert sum(load.read_mix.values()) == pytest.approx(1)


def test_a_post_is_in_the_feed_until_100_newer_ones_exist() -> None:
    load = Load(answered_within_s=1_000)

    assert load.share_in_feed(posts_per_s=1, feed_length=100) == pytest.approx(0.1)
    assert load.share_in_feed(posts_per_s=0.01, feed_length=100) == 1


def test_charges_add_up_per_container() -> None:
    charges = Charges(users=1, posts=2) + Charges(posts=3, feed=4) * 2 - Charges(users=1)

    assert charges == Charges(users=0, posts=8, feed=8)
    assert charges.total == 16


def test_batch_charges_follow_the_line_through_two_measurements() -> None:
    cost = BatchCost.through((1, Charges(users=14, feed=4)), (11, Charges(users=114, feed=4)))

    assert cost == BatchCost(Charges(users=4, feed=4), Charges(users=10))
    assert cost.of(3) == Charges(users=34, feed=4)


def test_each_command_on_a_quiet_feed_is_one_batch() -> None:
    batches, idle = batches_per_s(commands=0.001, batch_s=0.02, changes=0.002)

    assert batches == pytest.approx(0.001, rel=0.01)
    assert idle == pytest.approx(1 / POLL_S, rel=0.01)


def test_a_busy_feed_collects_changes_while_a_batch_runs() -> None:
    batches, idle = batches_per_s(commands=1_000, batch_s=0.02, changes=2_000)

    assert batches == 50
    assert idle == 0


def test_a_batch_has_at_most_100_changes() -> None:
    batches, _ = batches_per_s(commands=100_000, batch_s=0.02, changes=200_000)

    assert batches == 200_000 / BATCH_MAX


@pytest.mark.parametrize("commands", [0.5, 3.0, 20.0])
def test_the_formula_agrees_with_a_simulation(commands: float) -> None:
    batch_s, rng, seconds = 0.02, random.Random(7), 4_000.0
    now, batches, idle = 0.0, 0, 0
    arrival = rng.expovariate(commands)
    while now < seconds:
        if arrival <= now:
            while arrival <= now:
                arrival += rng.expovariate(commands)
            now += batch_s
            batches += 1
        else:
            now += POLL_S
            idle += 1

    assert batches_per_s(commands, batch_s, 2 * commands) == pytest.approx((batches / now, idle / now), rel=0.05)


def test_a_container_has_partitions_for_its_data_and_throughput() -> None:
    full = ContainerDemand(request_ru=700, propagation_ru=0, idle_ru=0, gb=501, used_share=0.7)
    busy = ContainerDemand(request_ru=20_000, propagation_ru=500, idle_ru=100, gb=10, used_share=0.7)

    assert (full.partitions, full.provisioned_ru) == (11, pytest.approx(1_000))
    assert full.share_ru == pytest.approx(1_000 / 11)
    assert (busy.partitions, busy.provisioned_ru) == (3, pytest.approx(20_600 / 0.7))


def test_a_container_has_at_least_the_minimum_throughput() -> None:
    empty = ContainerDemand(request_ru=1, propagation_ru=0, idle_ru=0, gb=1, used_share=0.7)
    archive = ContainerDemand(request_ru=1, propagation_ru=0, idle_ru=0, gb=5_000, used_share=0.7)

    assert empty.provisioned_ru == 400
    assert archive.provisioned_ru == 5_000


def test_requests_and_storage_grow_with_the_users() -> None:
    small, large = demand(1_000_000, BASIS), demand(10_000_000, BASIS)

    for name in ("users", "posts"):
        assert large.containers[name].request_ru == pytest.approx(10 * small.containers[name].request_ru)
        assert large.containers[name].gb == pytest.approx(10 * small.containers[name].gb)
    assert large.http_requests == pytest.approx(10 * small.http_requests)


def test_storage_is_the_size_of_all_items() -> None:
    # A post of 2 KB with 12.5 comments of 2 KB and 50 likes of 0.5 KB: 52 KB; a user: 1 KB and 27.5 copies of 1 KB.
    need = demand(1_000_000, BASIS)

    assert need.containers["posts"].gb == pytest.approx(1e6 * 27.5 * 52 * 1.2 * 1024 / 1e9)
    assert need.containers["users"].gb == pytest.approx(1e6 * 28.5 * 1.2 * 1024 / 1e9)


def test_rename_charges_grow_with_the_partitions() -> None:
    small, large = demand(SIZES[1], BASIS), demand(SIZES[2], BASIS)

    more_partitions = large.containers["posts"].partitions / small.containers["posts"].partitions
    assert large.rename_scan_ru == pytest.approx(small.rename_scan_ru * 100 * more_partitions)


def test_feed_reads_and_writes_share_one_partition() -> None:
    need = demand(SIZES[2], BASIS)

    assert need.look_ru == pytest.approx(need.posts_feed.batches * 4)
    assert need.front_page_ru == pytest.approx(need.http_instances * 4)
    assert need.containers["feed"].ru == pytest.approx(need.feed_partition_ru)


def test_replicas_share_the_feeds_reads_but_not_its_writes() -> None:
    single = demand(SIZES[2], BASIS)
    shared = demand(SIZES[2], replace(BASIS, assumed=replace(BASIS.assumed, feed_replicas=4)))

    assert shared.feed_write_ru == pytest.approx(single.feed_write_ru)
    reads = single.look_ru + single.front_page_ru
    assert shared.feed_partition_ru == pytest.approx(reads / 4 + single.feed_write_ru)
    assert shared.database.containers["feed"].ru == pytest.approx(reads + 4 * single.feed_write_ru)


def test_costs_are_units_times_prices() -> None:
    need = demand(SIZES[0], BASIS)

    cost = bill(need, BASIS)

    assert standard(1_000) == pytest.approx(0.08 * 730)
    assert cost.standard == pytest.approx(sum(standard(one.provisioned_ru) for one in need.containers.values()))
    assert cost.storage == pytest.approx(0.25 * sum(one.gb for one in need.containers.values()))
    assert cost.total == pytest.approx(min(cost.standard, cost.autoscale) + cost.storage + cost.functions)


def test_intervals_match_the_registered_triggers() -> None:
    triggers = {function.get_function_name(): function.get_trigger() for function in app.get_functions()}

    for name in ("on_posts_changed", "on_users_changed"):
        options = triggers[name].get_dict_repr()
        assert options["feedPollDelay"] == POLL_S * 1000
        assert options["leaseRenewInterval"] == RENEW_S * 1000
        assert options["leaseAcquireInterval"] == ACQUIRE_S * 1000
        assert options["maxItemsPerInvocation"] == BATCH_MAX
