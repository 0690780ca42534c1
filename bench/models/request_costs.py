"""Measure the charge and time of each request on each model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from functions_host.cosmos_trigger.partitions import read_partitions

from bench.models.interface import Model
from bench.models.observation import Observation, observed
from bench.models.plan import ArticlePlan
from bench.models.project_model import ProjectModel, ProjectModelWithProcedures
from bench.models.requests import Exhibits, Writers, reads, writes
from bench.timing import Action, Times, in_turn
from shared.containers import POSTS

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


async def measure_requests(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> tuple[Costs, int]:
    """Measure all requests, reads first, because writes change the data; and count the partitions of `posts`."""
    exhibits = Exhibits.of(plan)
    costs = await measure({model.NAME: reads(model, exhibits) for model in models}, repetitions)
    by_procedures = [ProjectModelWithProcedures(model.database) for model in models if isinstance(model, ProjectModel)]
    costs |= await _measure_writes([*models, *by_procedures], plan, repetitions)
    return costs, len(await read_partitions(models[0].database.get_container_client(POSTS)))


async def _measure_writes(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> Costs:
    """Measure C1 to C4 and the edits, without the change feeds."""
    commands = repetitions + _OBSERVED + _WARM_UP + 2 * _BLOCK
    writers = {model.NAME: await Writers.prepare(model, plan, commands) for model in models}
    # New instances, which know no user yet.
    unknowing = [type(model)(model.database) for model in models]
    return await measure({model.NAME: writes(model, writers[model.NAME]) for model in unknowing}, repetitions)


async def measure(actions: Mapping[str, Mapping[str, Action]], repetitions: int, *, names: Sequence[str] = ()) -> Costs:
    """Measure the requests in `names`, or all, with models taking turns."""
    costs: Costs = {}
    for name in names or [*next(iter(actions.values()))]:
        by_model = {model: of_model[name] for model, of_model in actions.items()}
        seen = {model: await _observe(action) for model, action in by_model.items()}
        later = {model: _later(action) for model, action in by_model.items()}
        times = await in_turn(later, repetitions, warm_up=_WARM_UP, block=_BLOCK) if repetitions else {}
        costs[name] = {model: _cost(observations, times.get(model)) for model, observations in seen.items()}
    return costs


def _cost(observations: Sequence[Observation], times: Times | None) -> Cost:
    return Cost(
        statistics.median(observation.request_units for observation in observations),
        statistics.median(observation.calls for observation in observations),
        statistics.median(len(observation.partitions) for observation in observations),
        statistics.median(observation.items_read for observation in observations),
        *((times.p50_ms, times.p95_ms, times.rounds) if times else ()),
    )


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
