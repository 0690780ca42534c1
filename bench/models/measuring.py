"""Each request on each model: what it is charged and how long it takes."""

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

# How often a request is observed. A charge hardly varies; but where the machine is busy a page may end before its time,
# and the next one is charged by itself.
_OBSERVED: Final = 5
_WARM_UP: Final = 2
_BLOCK: Final = 2


@dataclass(frozen=True)
class Cost:
    """One request on one model: medians of the observed ones, quantiles of the timed ones. `rounds` were timed; without
    any the times are 0. `partitions` are physical."""

    charge_ru: float
    calls: float
    partitions: float
    items_read: float
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    rounds: int = 0


Costs = dict[str, dict[str, Cost]]
"""By request, then by model."""


async def measure_reads(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> Costs:
    """Q1 to Q6, on the first of the plan's exhibits."""
    exhibits = Exhibits.of(plan)
    return await measure({model.NAME: reads(model, exhibits) for model in models}, repetitions)


async def measure_writes(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> Costs:
    """C1 to C4 and the edits. What the change feeds do afterwards is not among them."""
    commands = repetitions + _OBSERVED + _WARM_UP + 2 * _BLOCK
    writers = {model.NAME: await Writers.prepare(model, plan, commands) for model in models}
    # Anew, for the project remembers whom it has seen lately: those who are registered just now must be unknown.
    unknowing = [type(model)(model.database) for model in models]
    return await measure({model.NAME: writes(model, writers[model.NAME]) for model in unknowing}, repetitions)


async def measure(actions: Mapping[str, Mapping[str, Action]], repetitions: int, *, names: Sequence[str] = ()) -> Costs:
    """The requests in `names`, else all, of each model or whatever else the outer names stand for, which take turns."""
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
    """The action with numbers that were not used yet."""
    return lambda number: action(_OBSERVED + 1 + number)


async def _observe(action: Action) -> list[Observation]:
    """Once unobserved: a first request asks for metadata."""
    await action(0)
    observations = []
    for number in range(1, _OBSERVED + 1):
        with observed() as observation:
            await action(number)
        observations.append(observation)
    return observations
