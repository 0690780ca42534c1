"""Compute docs/benchmarks/capacity.md: `python -m bench.capacity`. `--write` replaces the page. Takes a minute."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from bench.capacity.charges import MeasuredCharges, measure
from bench.capacity.demand import LIMITS, Demand, demand
from bench.capacity.hot_post import LIKE_METHODS, LikeMethod, LikesTaken, take
from bench.report import machine
from bench.servers import REPOSITORY
from bench.tables import number, people, percent, table
from shared.platform.errors import DatabaseUnavailable

_PAGE: Final = REPOSITORY / "docs" / "benchmarks" / "capacity.md"
_INTRODUCTION: Final = """# Capacity and cost, in tables

For whoever plans a larger blog: the figures behind [scaling limits](../scale.md), which has their inputs. RU/s are
from the busiest second, GB after five years. Idle polls are excluded.

"""
_ATTEMPTS: Final = 3
_USERS: Final = (100_000, 10_000_000, 1_000_000_000)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write the tables to {_PAGE.relative_to(REPOSITORY)}")
    given = parser.parse_args()
    started = datetime.now(UTC)
    measured, taken = asyncio.run(_measure())
    command = "python -m bench.capacity" + (" --write" if given.write else "")
    head = [f"    {command}", "", *(f"- {line}" for line in (f"{started:%Y-%m-%d %H:%M} UTC", *machine()))]
    text = "\n".join([*head, "", *tables(measured, taken)])
    if given.write:
        _PAGE.write_text(f"{_INTRODUCTION}{text}\n", encoding="utf-8")
    else:
        sys.stdout.write(f"{text}\n")


async def _measure() -> tuple[MeasuredCharges, list[LikesTaken]]:
    return await measure(), [await _take(method) for method in LIKE_METHODS]


async def _take(method: LikeMethod) -> LikesTaken:
    """Measure one case; retry, because a batch can exceed its deadline on a busy machine."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return await take(method)
        except DatabaseUnavailable as error:
            sys.stderr.write(f"{method.name}: retrying: {error.reason}\n")
    return await take(method)


def tables(measured: MeasuredCharges, taken: Sequence[LikesTaken]) -> list[str]:
    """Return the lines of the tables."""
    needs = [demand(users, measured) for users in _USERS]
    sizes = [f"{people(users)} users" for users in _USERS]

    def row(name: str, value: Callable[[Demand], float], shown: Callable[[float], str] = number) -> tuple[str, ...]:
        return (name, *(shown(value(need)) for need in needs))

    functions = [
        row("HTTP requests per second", lambda need: need.http_requests),
        row("instances for HTTP", lambda need: need.http_instances),
        row("instances for the change feeds", lambda need: need.trigger_instances),
        row("changes of `posts` per second", lambda need: need.posts_feed.changes),
        row("deliveries of `posts` per second", lambda need: need.posts_feed.deliveries),
    ]
    costs = [
        row("throughput, standard or autoscale", lambda need: need.throughput),
        row("storage", lambda need: need.storage),
        row("functions", lambda need: need.functions),
        row("total", _total),
        row("per thousand users", lambda need: _total(need) / need.users * 1000),
    ]
    limits = [(*row(name, used, percent), remedy) for name, (used, remedy) in LIMITS.items()]
    columns = ("requests", "change feeds", "idle polls", "provisioned", "GB", "partitions", "per partition")
    names = ("`users`", "`posts`", "`feed`")
    charges = [(name, *_decimals(charge.parts())) for name, charge in measured.requests.items()]
    propagation = [
        (name, *_decimals((*cost.fixed.parts(), *cost.each.parts())))
        for name, cost in (measured.propagation | {"rename, per item": measured.rename}).items()
    ]
    items = ", ".join(f"{kind} {size:.2f}" for kind, size in measured.sizes_kb.items())
    written = ("likes in one second", "RU each", "likes in exactly the budget")
    return [
        *("## Limits: share used in the busiest second (modeled)", ""),
        *(*table(["limit", *sizes, "remedy"], limits), ""),
        *("## Containers: RU/s in the busiest second (modeled)", ""),
        *(*table(["users", "container", *columns], _containers(needs)), ""),
        *("## Functions and change feeds in the busiest second (modeled; instances are estimates)", ""),
        *(*table(["", *sizes], functions), ""),
        *("## Cost in dollars per month (modeled, at published list prices)", ""),
        *(*table(["item", *sizes], costs), ""),
        *("## One hot post within one second (measured on the emulator with `--throttle`, charges modeled)", ""),
        *(*table(["case", "RU/s available", *written], (_taken(case) for case in taken)), ""),
        *("## Requests, RU (charges modeled by the emulator, profile service-2026)", ""),
        *(*table(["request", *names], charges), ""),
        *("## Change feeds, RU (charges modeled by the emulator)", ""),
        *table(
            ["after", *(f"{per}, {name}" for per in ("per delivery", "per command") for name in names)], propagation
        ),
        *("", f"Items, KB of JSON (measured): {items}."),
    ]


def _total(need: Demand) -> float:
    return need.throughput + need.storage + need.functions


def _containers(needs: Sequence[Demand]) -> Iterator[tuple[str, ...]]:
    for need in needs:
        for name, container in need.containers.items():
            partitions, share = number(container.partitions), number(container.provisioned_ru / container.partitions)
            if name == "feed":
                partitions, share = "1 (cannot be split)", ""
            cells = (
                container.request_ru,
                container.propagation_ru,
                container.idle_ru,
                container.provisioned_ru,
                container.gb,
            )
            yield (people(need.users), f"`{name}`", *map(number, cells), partitions, share)


def _taken(case: LikesTaken) -> tuple[str, ...]:
    in_budget = number(case.likes * case.budget_ru / case.charged_ru)
    return (case.method.name, number(case.budget_ru), f"{case.likes:,}", f"{case.ru_per_like:.2f}", in_budget)


def _decimals(values: Sequence[float]) -> Iterator[str]:
    return (f"{abs(value):.2f}" for value in values)


if __name__ == "__main__":
    main()
