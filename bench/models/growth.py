"""What reads cost as the data grow, and as the container is spread over more physical partitions.

How many physical partitions there are for so many users is the article's own ratio: its figures were fitted with 68 for
100,000 users. One user, his 29 posts and one post with 10 comments and 10 likes are the same in every size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.models.interface import Model
from bench.models.loading import import_models, remove
from bench.models.measuring import Costs, measure_reads
from bench.models.plan import ArticlePlan
from bench.models.stage import emulated
from management.seeding.plan import Span

ARTICLE_USERS: Final = 100_000
ARTICLE_PARTITIONS: Final = 68
USERS: Final = (10, 100, 1_000, 10_000)
PARTITIONS: Final = (1, 4, 16, ARTICLE_PARTITIONS)
REQUESTS: Final = ("Q2", "Q3", "Q4", "Q5", "Q6")
_CROWDED: Final = 100  # users whose posts have the article's comments and likes, whatever the size
_FEW: Final = {1_000: Span(0, 5), 10_000: Span(0, 1)}
_EXHIBIT: Final = 1


@dataclass(frozen=True)
class Stage:
    """The costs at one size of the data, which `data` describes, on so many physical partitions of `posts`."""

    users: int
    data: str
    partitions: int
    costs: Costs


def plan_of(users: int, seed: int) -> ArticlePlan:
    """The article's data for so many users, with fewer comments and likes where there are very many."""
    if users not in _FEW:
        return ArticlePlan(users=users, seed=seed)
    return ArticlePlan(users=users, seed=seed, crowded_users=_CROWDED, few=_FEW[users])


def partitions_of(users: int) -> int:
    return max(1, math.ceil(users * ARTICLE_PARTITIONS / ARTICLE_USERS))


async def measure_sizes(
    kinds: Sequence[type[Model]], directory: Path, repetitions: int, *, sizes: Sequence[int], seed: int
) -> list[Stage]:
    """Q2 to Q6 on each size, with as many partitions as it has by the article's ratio."""
    return [await _stage(kinds, directory, repetitions, plan_of(users, seed), partitions_of(users)) for users in sizes]


async def measure_partitions(
    kinds: Sequence[type[Model]], directory: Path, repetitions: int, *, users: int, seed: int
) -> list[Stage]:
    """Q2 to Q6 on the same data, on more and more partitions."""
    plan = plan_of(users, seed)
    return [await _stage(kinds, directory, repetitions, plan, partitions) for partitions in PARTITIONS]


async def _stage(
    kinds: Sequence[type[Model]], directory: Path, repetitions: int, plan: ArticlePlan, partitions: int
) -> Stage:
    data_dir = directory / f"{plan.users}-users-{partitions}-partitions"
    await import_models(kinds, plan, data_dir, partitions)
    try:
        async with emulated(kinds, data_dir) as models:
            costs = await measure_reads(models, plan, repetitions, post=_EXHIBIT, names=REQUESTS)
        return Stage(plan.users, str(plan), partitions, costs)
    finally:
        remove(data_dir)
