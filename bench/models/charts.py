"""Charts of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench.models.burst import Burst
from bench.models.fan_out import FanOut
from bench.models.growth import GrowthStep
from bench.models.request_costs import Cost, Costs
from bench.models.svg import COLORS, Drawing, LogScale, short_number

MODELS: Final = ("V1", "V2", "V3", "this")
_WIDTH: Final = 960


def charges(costs: Costs, requests: Mapping[str, str], subtitle: str) -> Drawing:
    """Draw each request's charge as one bar per model, on a logarithmic axis."""
    drawing = Drawing(_WIDTH, 430, "Request charge of the article's ten requests, by data model")
    drawing.text(24, 30, "Request units per request, by data model", size=17, bold=True)
    drawing.text(24, 50, subtitle, faint=True)
    drawing.legend(24, 74, MODELS)
    left, right, top, bottom = 56.0, _WIDTH - 16.0, 112.0, 360.0
    values = [costs[name][model].charge_ru for name in requests for model in MODELS]
    scale = replace(LogScale.around(values, bottom, top), low=0.5)
    _horizontal_rules(drawing, scale, left, right)
    group = (right - left) / len(requests)
    width = group * 0.8 / len(MODELS)
    for number, (name, words) in enumerate(requests.items()):
        start = left + number * group + group * 0.1
        for place, model in enumerate(MODELS):
            charge = costs[name][model].charge_ru
            x, y = start + place * width, scale.at(charge)
            drawing.bar(x, y, width - 2, bottom - y, COLORS[model], f"{name} {model}: {charge:.2f} RU")
            drawing.text(x + width / 2 + 2, y - 5, short_number(charge), size=10, turned=True)
        drawing.text(start + group * 0.4, bottom + 18, name, size=13, anchor="middle", bold=True)
        _two_lines(drawing, start + group * 0.4, bottom + 34, words)
    return drawing


def growth(stages: Sequence[GrowthStep], requests: Sequence[str], along: str, title: str, subtitle: str) -> Drawing:
    """Draw each request's charge and median time against users or partitions (`along`)."""
    drawing = _titled(520, title, subtitle)
    drawing.legend(24, 74, MODELS)
    _row_of_panels(drawing, stages, requests, along, lambda cost: cost.charge_ru, "request units", 118.0)
    _row_of_panels(drawing, stages, requests, along, lambda cost: cost.p50_ms, "median ms", 325.0)
    return drawing


def fan_outs(found: Sequence[FanOut], title: str, subtitle: str) -> Drawing:
    drawing = _titled(96 + 34 * len(found), title, subtitle)
    most = max(one.per_second for one in found)
    for number, one in enumerate(found):
        y = 74.0 + number * 34
        words = f"{one.what}, P = {one.partitions}, {'this project' if one.model == 'this' else 'sequential'}"
        drawing.text(290, y + 16, words, anchor="end")
        length = 560 * one.per_second / most
        tooltip = f"{one.count:,} in {one.seconds:.1f} s"
        drawing.bar(300, y, length, 22, COLORS[one.model], tooltip)
        drawing.text(306 + length, y + 16, f"{one.per_second:,.0f}/s", bold=True)
    return drawing


def bursts(found: Sequence[Burst], title: str, subtitle: str) -> Drawing:
    """Draw the charge of a command and of its propagation."""
    drawing = _titled(96 + 34 * len(found), title, subtitle)
    most = max(one.total_ru for one in found)
    for number, one in enumerate(found):
        y = 74.0 + number * 34
        name = "this project" if one.model == "this" else f"the article's {one.model}"
        drawing.text(290, y + 16, f"{one.command}, {name}, feed polled every {one.poll_s:g} s", anchor="end", size=11)
        own, propagation = 540 * one.command_ru / most, 540 * one.propagation_ru / most
        drawing.bar(300, y, own, 22, COLORS[one.model], f"the command: {one.command_ru:.2f} RU")
        tooltip = f"change feeds: {one.propagation_ru:.2f} RU"
        drawing.bar(300 + own, y, propagation, 22, COLORS[one.model], tooltip, opacity=0.5)
        drawing.text(306 + own + propagation, y + 16, f"{one.total_ru:.1f} RU", bold=True)
    return drawing


def _titled(height: int, title: str, subtitle: str) -> Drawing:
    drawing = Drawing(_WIDTH, height, title)
    drawing.text(24, 30, title, size=17, bold=True)
    drawing.text(24, 50, subtitle, faint=True)
    return drawing


def _horizontal_rules(drawing: Drawing, scale: LogScale, left: float, right: float) -> None:
    for tick in scale.ticks():
        drawing.rule(left, scale.at(tick), right, scale.at(tick))
        drawing.text(left - 6, scale.at(tick) + 4, f"{tick:,g}", size=11, anchor="end", faint=True)


def _two_lines(drawing: Drawing, x: float, y: float, words: str) -> None:
    half = words.find(" ", len(words) // 2 - 3)
    lines = (words,) if half < 0 else (words[:half], words[half + 1 :])
    for number, line in enumerate(lines):
        drawing.text(x, y + number * 13, line, size=10, anchor="middle", faint=True)


def _row_of_panels(
    drawing: Drawing,
    stages: Sequence[GrowthStep],
    requests: Sequence[str],
    along: str,
    value: Callable[[Cost], float],
    unit: str,
    top: float,
) -> None:
    left, gap, bottom = 52.0, 30.0, top + 150
    width = (_WIDTH - left - 16 - gap * (len(requests) - 1)) / len(requests)
    values = [value(step.costs[name][model]) for step in stages for name in requests for model in MODELS]
    scale = LogScale.around(values, bottom, top)
    places = [float(getattr(step, along)) for step in stages]
    drawing.text(left, top - 14, f"{unit}, by {along}", size=11, faint=True)
    for number, name in enumerate(requests):
        start = left + number * (width + gap)
        across = LogScale(min(places), max(places), start + 8, start + width - 8)
        for tick in scale.ticks():
            drawing.rule(start, scale.at(tick), start + width, scale.at(tick))
            if number == 0:
                drawing.text(start - 6, scale.at(tick) + 4, f"{tick:,g}", size=11, anchor="end", faint=True)
        drawing.text(start + width, top - 14, name, size=13, anchor="end", bold=True)
        for place in places:
            drawing.text(across.at(place), bottom + 15, f"{place:,.0f}", size=10, anchor="middle", faint=True)
        for model in MODELS:
            points = [
                (across.at(place), scale.at(value(step.costs[name][model])))
                for place, step in zip(places, stages, strict=True)
            ]
            drawing.path(points, COLORS[model], dashed=model == "this")
