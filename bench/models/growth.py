"""Measure reads as the data grows, and on more physical partitions.

The ratio of partitions to users is the article's, 68 for 100,000 users, to which its figures were fitted. All sizes
share one user with 29 posts and one post with 10 comments and 10 likes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.generated.plan import Range
from bench.models.interface import Model
from bench.models.loading import emulated, import_models
from bench.models.plan import ArticlePlan
from bench.models.request_costs import Costs, measure
from bench.models.requests import Exhibits, reads
from bench.timing import Action

ARTICLE_USERS: Final = 100_000
ARTICLE_PARTITIONS: Final = 68
USERS: Final = (10, 100, 1_000, 10_000)
PARTITIONS: Final = (1, 4, 16, ARTICLE_PARTITIONS)
REQUESTS: Final = ("Q2", "Q3", "Q4", "Q5", "Q6")
_CROWDED: Final = 100  # users whose posts always have the article's comments and likes
_FEW: Final = {1_000: Range(0, 5), 10_000: Range(0, 1)}
_EXHIBIT: Final = 1
# Models whose costs must stay flat are timed more often.
_FLAT: Final = ("V3", "this")
_OFTENER: Final = 5


@dataclass(frozen=True)
class GrowthStep:
    """The costs at one size, on this many physical partitions of `posts`."""

    users: int
    data: str
    partitions: int
    costs: Costs


def plan_of(users: int) -> ArticlePlan:
    """Return the article's data, with fewer comments and likes in the largest sizes."""
    if users not in _FEW:
        return ArticlePlan(users=users)
    return ArticlePlan(users=users, crowded_users=_CROWDED, few=_FEW[users])


def partitions_of(users: int) -> int:
    return max(1, math.ceil(users * ARTICLE_PARTITIONS / ARTICLE_USERS))


async def measure_growth(
    kinds: Sequence[type[Model]], directory: Path, repetitions: int, settings: Sequence[tuple[ArticlePlan, int]]
) -> list[GrowthStep]:
    """Measure Q2 to Q6 on each plan and number of partitions, in turn, so that other load affects all alike."""
    actions: dict[str, dict[str, dict[str, Action]]] = {}
    async with AsyncExitStack() as stack:
        for number, (plan, partitions) in enumerate(settings):
            data_dir = directory / str(number)
            await import_models(kinds, plan, data_dir, partitions)
            models = await stack.enter_async_context(emulated(kinds, data_dir))
            exhibits = Exhibits.of(plan, post=_EXHIBIT)
            for model in models:
                actions.setdefault(model.NAME, {})[str(number)] = reads(model, exhibits)
        # Model by model: a slow model would leave a fast one few rounds.
        costs = {
            model: await measure(of_model, repetitions * (_OFTENER if model in _FLAT else 1), names=REQUESTS)
            for model, of_model in actions.items()
        }
    return [
        GrowthStep(plan.users, str(plan), partitions, _costs_of(costs, str(number)))
        for number, (plan, partitions) in enumerate(settings)
    ]


def _costs_of(costs: Mapping[str, Costs], step: str) -> Costs:
    return {name: {model: of_model[name][step] for model, of_model in costs.items()} for name in REQUESTS}
