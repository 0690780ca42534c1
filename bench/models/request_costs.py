"""Measure the charge and time of each request on each model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.models.interface import Model
from bench.models.observation import Observation, observed
from bench.models.plan import ArticlePlan
from bench.models.requests import Exhibits, Writers, reads, writes
from bench.timing import Action, in_turn

# Charges rarely vary, but on a busy machine a page can end early and cost one more call.
_OBSERVED: Final = 5
_WARM_UP: Final = 2
_BLOCK: Final = 2


@dataclass(frozen=True)
class Cost:
    """Costs of one request on one model: median charge and counts, quantiles of the time.

    `rounds` is the number of timed samples; if 0, so are the times. `partitions` are physical.
    """

    charge_ru: float
    calls: float
    partitions: float
    items_read: float
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    rounds: int = 0


Costs = dict[str, dict[str, Cost]]
"""By request, then by model name."""


async def measure_reads(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> Costs:
    """Measure Q1 to Q6 on the first exhibit."""
    exhibits = Exhibits.of(plan)
    return await measure({model.NAME: reads(model, exhibits) for model in models}, repetitions)


async def measure_writes(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> Costs:
    """Measure C1 to C4 and the edits, without the change feeds."""
    commands = repetitions + _OBSERVED + _WARM_UP + 2 * _BLOCK
    writers = {model.NAME: await Writers.prepare(model, plan, commands) for model in models}
    # New instances, because the project caches recent users.
    unknowing = [type(model)(model.database) for model in models]
    return await measure({model.NAME: writes(model, writers[model.NAME]) for model in unknowing}, repetitions)


async def measure(actions: Mapping[str, Mapping[str, Action]], repetitions: int, *, names: Sequence[str] = ()) -> Costs:
    """Measure the requests in `names`, or all, with models taking turns."""
    requests = names or [*next(iter(actions.values()))]
    return await _measure(
        {name: {model: of_model[name] for model, of_model in actions.items()} for name in requests}, repetitions
    )


async def _measure(actions: Mapping[str, Mapping[str, Action]], repetitions: int) -> Costs:
    costs: Costs = {}
    for name, by_model in actions.items():
        seen = {model: await _observe(action) for model, action in by_model.items()}
        later = {model: _later(action) for model, action in by_model.items()}
        times = {}
        if repetitions:
            times = await in_turn(later, repetitions, warm_up=_WARM_UP, block=_BLOCK)
        costs[name] = {}
        for model, observations in seen.items():
            timed = times.get(model)
            costs[name][model] = Cost(
                statistics.median(one.request_units for one in observations),
                statistics.median(one.calls for one in observations),
                statistics.median(len(one.partitions) for one in observations),
                statistics.median(one.items_read for one in observations),
                *((timed.p50_ms, timed.p95_ms, timed.rounds) if timed else ()),
            )
    return costs


def _later(action: Action) -> Action:
    return lambda number: action(_OBSERVED + 1 + number)


async def _observe(action: Action) -> list[Observation]:
    """Observe the action after an unobserved run, which reads metadata."""
    await action(0)
    observations = []
    for number in range(1, _OBSERVED + 1):
        with observed() as observation:
            await action(number)
        observations.append(observation)
    return observations
