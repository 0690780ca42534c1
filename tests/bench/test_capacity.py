"""Computation of RU/s, partitions, instances and costs from charges of round numbers, and the tables."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bench.capacity.__main__ import tables
from bench.capacity.charges import LIKE_IN_FEED, Charges, DeliveryCost, MeasuredCharges
from bench.capacity.demand import (
    ACQUIRE_S,
    COMMANDS,
    DELIVERY_DEADLINE_S,
    DELIVERY_MAX,
    HOURS_A_MONTH,
    LIMITS,
    PEAK,
    POLL_S,
    QUERIES_PER_COMMAND,
    QUERY_MIX,
    RENEW_S,
    YEARS,
    ContainerDemand,
    deliveries_per_s,
    demand,
)
from bench.capacity.hot_post import LIKE_METHODS, LikesTaken, take
from bench.servers import REPOSITORY
from function_app import app
from shared.settings import Settings

_COPY = Charges(users=10, posts=2)
_LOOK = Charges(feed=4)
_MEASURED = MeasuredCharges(
    requests={
        "C1 create a user": Charges(users=12),
        "C1 edit a user": Charges(users=18),
        "Q1 retrieve a user": Charges(users=1),
        "C2 create a post": Charges(users=1, posts=8),
        "C2 edit a post": Charges(posts=13),
        "Q2 retrieve a post": Charges(posts=1),
        "Q3 list a user's posts": Charges(users=3),
        "C3 create a comment": Charges(users=1, posts=21),
        "Q4 list a post's comments": Charges(posts=4),
        "C4 like a post": Charges(users=1, posts=20),
        "Q5 list a post's likes": Charges(posts=3),
        "Q6 list the most recent posts": Charges(feed=4),
    },
    propagation={
        "C1 create a user": DeliveryCost(Charges(), Charges(users=14)),
        "C2 create a post": DeliveryCost(Charges(feed=8), Charges(users=9, posts=3, feed=12)),
        "C2 edit a post": DeliveryCost(_LOOK, _COPY),
        "C3 create a comment": DeliveryCost(_LOOK, _COPY),
        "C4 like a post": DeliveryCost(_LOOK, _COPY),
        LIKE_IN_FEED: DeliveryCost(_LOOK, _COPY + Charges(feed=10)),
    },
    rename=DeliveryCost(Charges(users=33, posts=48), Charges(posts=12)),
    scanned_ru=3.0,
    sizes_kb={"user": 0.5, "reservation": 0.5, "copy": 1.0, "post": 2.0, "like": 0.5, "comment": 2.0},
)


def test_the_load_is_one_command_per_user_and_day() -> None:
    assert sum(COMMANDS.values()) == pytest.approx(YEARS * 365, rel=0.05)
    assert sum(QUERY_MIX.values()) == pytest.approx(1)


def test_charges_add_up_per_container() -> None:
    charges = Charges(users=1, posts=2) + Charges(posts=3, feed=4) * 2 - Charges(users=1)

    assert charges == Charges(users=0, posts=8, feed=8)


def test_delivery_charges_follow_the_line_through_two_measurements() -> None:
    cost = DeliveryCost.through((1, Charges(users=14, feed=4)), (11, Charges(users=114, feed=4)))

    assert cost == DeliveryCost(Charges(users=4, feed=4), Charges(users=10))


def test_each_command_on_a_quiet_feed_is_one_delivery() -> None:
    deliveries, idle = deliveries_per_s(commands=0.001, delivery_s=0.02, changes=0.002)

    assert deliveries == pytest.approx(0.001, rel=0.01)
    assert idle == pytest.approx(1 / POLL_S, rel=0.01)


def test_a_busy_feed_collects_changes_while_a_delivery_runs() -> None:
    assert deliveries_per_s(commands=1_000, delivery_s=0.02, changes=2_000) == (50, 0)


def test_a_delivery_has_at_most_100_changes() -> None:
    deliveries, _ = deliveries_per_s(commands=100_000, delivery_s=0.02, changes=200_000)

    assert deliveries == 200_000 / DELIVERY_MAX


@pytest.mark.parametrize("commands", [0.5, 3.0, 20.0])
def test_the_formula_agrees_with_a_simulation(commands: float) -> None:
    delivery_s, rng, seconds = 0.02, random.Random(7), 4_000.0
    now, deliveries, idle = 0.0, 0, 0
    arrival = rng.expovariate(commands)
    while now < seconds:
        if arrival <= now:
            while arrival <= now:
                arrival += rng.expovariate(commands)
            now += delivery_s
            deliveries += 1
        else:
            now += POLL_S
            idle += 1

    assert deliveries_per_s(commands, delivery_s, 2 * commands) == pytest.approx(
        (deliveries / now, idle / now), rel=0.05
    )


def test_a_container_has_partitions_for_its_data_and_throughput() -> None:
    full = ContainerDemand(request_ru=700, propagation_ru=0, gb=501)
    busy = ContainerDemand(request_ru=20_000, propagation_ru=500, idle_ru=100, gb=10)

    assert (full.partitions, full.provisioned_ru) == (11, pytest.approx(1_000))
    assert (busy.partitions, busy.provisioned_ru) == (3, pytest.approx(20_600 / 0.7))


def test_a_container_has_at_least_the_minimum_throughput() -> None:
    assert ContainerDemand(request_ru=1, propagation_ru=0, gb=1).provisioned_ru == 400
    assert ContainerDemand(request_ru=1, propagation_ru=0, gb=5_000).provisioned_ru == 5_000


def test_requests_and_storage_grow_with_the_users() -> None:
    small, large = demand(1_000_000, _MEASURED), demand(10_000_000, _MEASURED)

    for name in ("users", "posts"):
        assert large.containers[name].request_ru == pytest.approx(10 * small.containers[name].request_ru)
        assert large.containers[name].gb == pytest.approx(10 * small.containers[name].gb)
    assert large.http_requests == pytest.approx(10 * small.http_requests)
    commands = 1e6 * sum(COMMANDS.values()) / (YEARS * 365 * 86_400)
    assert small.http_requests == pytest.approx(commands * (1 + QUERIES_PER_COMMAND) * PEAK)


def test_storage_is_the_size_of_all_items() -> None:
    # A post of 2 KB with 12.5 comments of 2 KB and 50 likes of 0.5 KB: 52 KB; a user: 1 KB and 27.5 copies of 1 KB.
    need = demand(1_000_000, _MEASURED)

    assert need.containers["posts"].gb == pytest.approx(1e6 * 27.5 * 52 * 1.2 * 1024 / 1e9)
    assert need.containers["users"].gb == pytest.approx(1e6 * 28.5 * 1.2 * 1024 / 1e9)
    assert need.storage == pytest.approx(0.25 * 1e6 * (27.5 * 52 + 28.5) * 1.2 * 1024 / 1e9)


def test_the_feed_is_read_by_processes_and_deliveries_and_written_for_new_posts() -> None:
    need = demand(1_000_000_000, _MEASURED)

    assert need.containers["feed"].request_ru == pytest.approx(need.http_instances * 4)
    assert need.containers["feed"].propagation_ru > need.posts_feed.deliveries * 4


def test_throughput_costs_what_it_is_priced() -> None:
    steady = ContainerDemand(request_ru=700, propagation_ru=0)

    assert steady.standard == pytest.approx(1_000 / 100 * 0.008 * HOURS_A_MONTH)
    # The mean is a third of the busiest second; the busiest second of the hour is 1.25 times the hour's mean.
    assert steady.autoscale == pytest.approx(steady.standard / 3 * 1.25 * 1.5)


def test_shares_of_limits_grow_with_the_users() -> None:
    small, large = demand(100_000, _MEASURED), demand(100_000_000, _MEASURED)

    assert all(used(small) < used(large) for used, _ in LIMITS.values())


def test_constants_match_the_app() -> None:
    triggers = {function.get_function_name(): function.get_trigger() for function in app.get_functions()}

    for name in ("on_posts_changed", "on_users_changed"):
        options = triggers[name].get_dict_repr()
        assert options["feedPollDelay"] == POLL_S * 1000
        assert options["leaseRenewInterval"] == RENEW_S * 1000
        assert options["leaseAcquireInterval"] == ACQUIRE_S * 1000
        assert options["maxItemsPerInvocation"] == DELIVERY_MAX
    assert Settings.model_fields["delivery_deadline_s"].default == DELIVERY_DEADLINE_S


async def test_a_second_of_likes_by_single_batches_uses_the_budget() -> None:
    single = await take(LIKE_METHODS[1], partition_ru=1_000)

    assert single.charged_ru == pytest.approx(1_000, rel=0.2)
    assert single.ru_per_like == pytest.approx(20, rel=0.1)


def test_all_rows_of_a_table_have_equally_many_cells() -> None:
    taken = [replace(LikesTaken(method, 1_000), likes=120, charged_ru=1_010.0) for method in LIKE_METHODS]

    sections = "\n".join(tables(_MEASURED, taken)).split("## ")[1:]

    assert len(sections) == 7
    for section in sections:
        assert len({line.count("|") for line in section.splitlines() if line.startswith("|")}) == 1, section


def test_the_page_has_the_tables_that_the_benchmark_writes() -> None:
    page = (REPOSITORY / "docs" / "benchmarks" / "capacity.md").read_text(encoding="utf-8")
    written = tables(_MEASURED, [replace(LikesTaken(LIKE_METHODS[0], 1_000), likes=120, charged_ru=1_010.0)])

    headings = [
        line for line in written if line.startswith(("## ", "| limit", "| users", "| item", "| case", "| after"))
    ]
    assert [line for line in headings if line not in page.splitlines()] == []
