"""Compare the results with the project's targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bench.models.article import REQUESTS
from bench.models.burst import Burst
from bench.models.fan_out import FanOut
from bench.models.growth import REQUESTS as READS
from bench.models.growth import GrowthStep
from bench.models.popular_post import PopularPost
from bench.models.request_costs import Cost, Costs
from bench.models.results import Results
from bench.report import TargetResult

_LOWER: Final = {"C2": 15, "C3": 20, "C4": 20}
_REASONS: Final = {"C1": "; it reserves the username, which V3 would give to two users"}
_COPIES_LOWER: Final = 25
_FLAT: Final = 1.2
_FASTER: Final = 5
_HALF: Final = 0.5


def findings(results: Results) -> list[TargetResult]:
    return [
        *(_charges(results.requests.costs) if results.requests else ()),
        *(_copies(results.posts.fan_outs) if results.posts else ()),
        *(_bursts(results.bursts.bursts) if results.bursts else ()),
        *(_flat(results.sizes.stages) if results.sizes else ()),
        *(_popular(results.popular.stages) if results.popular else ()),
        *(_fan_outs(results.posts.fan_outs) if results.posts else ()),
        *(_fan_outs(results.renames.fan_outs) if results.renames else ()),
    ]


def _charges(costs: Costs) -> Iterator[TargetResult]:
    for name, words in REQUESTS.items():
        ours, theirs = costs[name]["this"].charge_ru, costs[name]["V3"].charge_ru
        lower = _LOWER.get(name, 0)
        target = f"at least {lower} % below V3" if lower else "V3's or lower"
        # Reported with two decimals.
        met = round(ours, 2) <= round(theirs * (1 - lower / 100), 2)
        change = (ours / theirs - 1) * 100
        detail = f"{ours:.2f} RU, V3 {theirs:.2f}" + ("" if met else _REASONS.get(name, ""))
        yield TargetResult(f"charge of {name}, {words}", target, f"{change:+.1f} %", met, detail)


def _copies(found: Sequence[FanOut]) -> Iterator[TargetResult]:
    for partitions in sorted({result.partitions for result in found}):
        ours, theirs = (result.request_units / result.count for result in _pair(found, partitions))
        change = (ours / theirs - 1) * 100
        yield TargetResult(
            f"charge of the change feeds' work for a new post, P = {partitions}",
            f"at least {_COPIES_LOWER} % below V3",
            f"{change:+.1f} %",
            change <= -_COPIES_LOWER,
            f"{ours:.2f} RU, V3 {theirs:.2f}",
        )


def _bursts(found: Sequence[Burst]) -> Iterator[TargetResult]:
    for command in ("like", "comment"):
        of_command = [result for result in found if result.command == command]
        for poll_s in sorted({result.poll_s for result in of_command}):
            by_model = {result.model: result.total_ru for result in of_command if result.poll_s == poll_s}
            ours, theirs = by_model["this"], by_model["V3"]
            yield TargetResult(
                f"charge of one {command} in a burst, including propagation, feeds polled every {poll_s:g} s",
                "at most 0.5 of V3",
                f"{ours / theirs:.2f}",
                ours / theirs <= _HALF,
                f"{ours:.2f} RU, V3 {theirs:.2f}",
            )


def _flat(stages: Sequence[GrowthStep]) -> Iterator[TargetResult]:
    measures: tuple[tuple[str, Callable[[Cost], float]], ...] = (
        ("charge", lambda cost: cost.charge_ru),
        ("median time", lambda cost: cost.p50_ms),
    )
    for model in ("V3", "this"):
        for words, value in measures:
            values = {name: [value(step.costs[name][model]) for step in stages] for name in READS}
            spreads = {name: max(of_request) / min(of_request) for name, of_request in values.items()}
            worst = max(spreads, key=lambda name: spreads[name])
            yield TargetResult(
                f"growth of the {words} of Q2 to Q6 from {stages[0].users:,} to {stages[-1].users:,} users, {model}",
                "flat within 20 %",
                f"{(spreads[worst] - 1) * 100:.0f} %",
                spreads[worst] <= _FLAT,
                f"highest over lowest; the worst is {worst}",
            )


def _popular(stages: Sequence[PopularPost]) -> Iterator[TargetResult]:
    alone, beneath = stages[0], stages[-1]
    yield TargetResult(
        f"charge of Q4 beneath {beneath.likes:,} newer likes",
        "the same as without likes",
        f"{(beneath.cost.charge_ru / alone.cost.charge_ru - 1) * 100:+.1f} %",
        beneath.cost.charge_ru <= alone.cost.charge_ru,
        f"{beneath.cost.charge_ru:.2f} RU, without likes {alone.cost.charge_ru:.2f}",
    )


def _fan_outs(found: Sequence[FanOut]) -> Iterator[TargetResult]:
    for partitions in sorted({result.partitions for result in found}):
        ours, theirs = _pair(found, partitions)
        ratio = ours.per_second / theirs.per_second
        yield TargetResult(
            f"{ours.what} per second, responses delayed by 10 ms, P = {partitions}",
            f"at least {_FASTER}× sequential (V3)",
            f"{ratio:.2f}×",
            ratio >= _FASTER,
            f"{ours.per_second:,.0f}/s against {theirs.per_second:,.0f}/s"
            + ("" if ratio >= _FASTER else "; V3 also has one reader per partition"),
        )


def _pair(found: Sequence[FanOut], partitions: int) -> tuple[FanOut, FanOut]:
    by_model = {result.model: result for result in found if result.partitions == partitions}
    return by_model["this"], by_model["V3"]
