"""Charts of the data models as SVG, with colors for light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal

# Okabe and Ito's palette, distinguishable with any color vision.
COLORS: Final = {"V1": "#8c8c8c", "V2": "#e69f00", "V3": "#4c9fd8", "V4": "#cc79a7", "this": "#009e73"}
_NAMES: Final = {"V4": "V4, with indexes", "this": "this project"}
_WIDTH: Final = 960
_STYLE: Final = """
  .paper { fill: #ffffff } .ink { fill: #24292f } .faint { fill: #57606a }
  .rule { stroke: #d0d7de; stroke-width: 1 }
  text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #161b22 } .ink { fill: #e6edf3 } .faint { fill: #9ea7b3 } .rule { stroke: #3d444d }
  }
"""
Values = Mapping[str, Mapping[str, float]]
"""By request, then by model name."""


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: its parts have a length and a tooltip; later parts are paler."""

    label: str
    model: str
    parts: Sequence[tuple[float, str]]
    total: str


def bars_by_request(title: str, subtitle: str, charges: Values, words: Mapping[str, str]) -> str:
    """Draw one bar per request and model, on a logarithmic axis. `words` describe each request."""
    models = models_in(charges)
    drawing = _Drawing(title, subtitle, 430, models)
    left, right, top, bottom = 56.0, _WIDTH - 16.0, 112.0, 360.0
    largest = max(max(by_model.values()) for by_model in charges.values())
    scale = _LogScale(0.5, _power_of_ten(largest, math.ceil), bottom, top)
    drawing.rules(scale, left, right)
    group = (right - left) / len(words)
    width = group * 0.8 / len(models)
    for number, (name, description) in enumerate(words.items()):
        start = left + number * group + group * 0.1
        for place, model in enumerate(models):
            charge = charges[name][model]
            x, y = start + place * width, scale.at(charge)
            drawing.bar(x, y, width - 2, bottom - y, COLORS[model], f"{name} {model}: {charge:.2f} RU")
            drawing.text(x + width / 2 + 2, y - 5, _short(charge), size=10, turned=True)
        middle = start + group * 0.4
        drawing.text(middle, bottom + 18, name, size=13, anchor="middle", bold=True)
        half = description.find(" ", len(description) // 2 - 3)
        lines = (description,) if half < 0 else (description[:half], description[half + 1 :])
        for line_number, line in enumerate(lines):
            drawing.text(middle, bottom + 34 + line_number * 13, line, size=10, anchor="middle", faint=True)
    return str(drawing)


def rows_of_bars(title: str, subtitle: str, bars: Sequence[Bar]) -> str:
    drawing = _Drawing(title, subtitle, 96 + 34 * len(bars))
    most = max(sum(length for length, _ in bar.parts) for bar in bars)
    for number, bar in enumerate(bars):
        x, y = 300.0, 74.0 + number * 34
        drawing.text(290, y + 16, bar.label, anchor="end", size=11)
        for place, (length, tooltip) in enumerate(bar.parts):
            drawing.bar(x, y, 540 * length / most, 22, COLORS[bar.model], tooltip, opacity=0.5 if place else 1)
            x += 540 * length / most
        drawing.text(x + 6, y + 16, bar.total, bold=True)
    return str(drawing)


def panels(title: str, subtitle: str, along: Sequence[float], rows: Mapping[str, Sequence[Values]]) -> str:
    """Draw each request's values in a panel of its own. `rows` are measures, each with the values at every place."""
    models = models_in(next(iter(rows.values()))[0])
    drawing = _Drawing(title, subtitle, 520, models)
    left, gap = 52.0, 30.0
    for row, (words, steps) in enumerate(rows.items()):
        top, bottom = 118.0 + row * 207, 268.0 + row * 207
        width = (_WIDTH - left - 16 - gap * (len(steps[0]) - 1)) / len(steps[0])
        values = [value for step in steps for by_model in step.values() for value in by_model.values()]
        low, high = _power_of_ten(min(values), math.floor), _power_of_ten(max(values), math.ceil)
        scale = _LogScale(low, high if high > low else low * 10, bottom, top)
        drawing.text(left, top - 14, words, size=11, faint=True)
        for number, name in enumerate(steps[0]):
            start = left + number * (width + gap)
            drawing.rules(scale, start, start + width, labels=number == 0)
            drawing.text(start + width, top - 14, name, size=13, anchor="end", bold=True)
            across = _LogScale(min(along), max(along), start + 8, start + width - 8)
            for place in along:
                drawing.text(across.at(place), bottom + 15, f"{place:,.0f}", size=10, anchor="middle", faint=True)
            for model in models:
                points = [
                    (across.at(place), scale.at(step[name][model])) for place, step in zip(along, steps, strict=True)
                ]
                drawing.path(points, COLORS[model], dashed=model == "this")
    return str(drawing)


def models_in(by_request: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Return the measured models in order; results from before V4 lack it."""
    measured = next(iter(by_request.values()))
    return [model for model in COLORS if model in measured]


@dataclass
class _Drawing:
    title: str
    subtitle: str
    height: int
    legend: Sequence[str] = ()
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text(24, 30, self.title, size=17, bold=True)
        self.text(24, 50, self.subtitle, faint=True)
        for number, model in enumerate(self.legend):
            left = 24 + number * 128
            self._parts.append(f'<rect x="{left}" y="64" width="12" height="12" fill="{COLORS[model]}"/>')
            self.text(left + 18, 74, _NAMES.get(model, f"the article's {model}"))

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 12,
        anchor: Literal["start", "middle", "end"] = "start",
        faint: bool = False,
        turned: bool = False,
        bold: bool = False,
    ) -> None:
        """Draw text with its baseline at y; `turned` text reads upward."""
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text class="{"faint" if faint else "ink"}" x="{x:.1f}" y="{y:.1f}" font-size="{size}"'
            f' text-anchor="{anchor}"{weight}{turn}>{escape(words)}</text>'
        )

    def bar(
        self, x: float, y: float, width: float, height: float, color: str, tooltip: str, opacity: float = 1
    ) -> None:
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" fill="{color}"'
            f' fill-opacity="{opacity}"><title>{escape(tooltip)}</title></rect>'
        )

    def rules(self, scale: _LogScale, left: float, right: float, *, labels: bool = True) -> None:
        """Draw a horizontal line at each power of ten."""
        for tick in scale.ticks():
            y = scale.at(tick)
            self._parts.append(f'<line class="rule" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>')
            if labels:
                self.text(left - 6, y + 4, f"{tick:,g}", size=11, anchor="end", faint=True)

    def path(self, points: Sequence[tuple[float, float]], color: str, *, dashed: bool) -> None:
        """Draw a line with markers."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
        self._parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points)

    def __str__(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self.height}" role="img"'
            f' width="{_WIDTH}" height="{self.height}" aria-label="{escape(self.title)}">\n'
            f"<title>{escape(self.title)}</title>\n<style>{_STYLE}</style>\n"
            f'<rect class="paper" width="{_WIDTH}" height="{self.height}" rx="6"/>\n'
        )
        return head + "\n".join([*self._parts, "</svg>", ""])


@dataclass(frozen=True)
class _LogScale:
    """A logarithmic scale from `low`..`high` to `start`..`end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        value = _power_of_ten(self.low, math.ceil)
        while value <= self.high * 1.0001:
            yield value
            value *= 10


def _power_of_ten(value: float, rounded: Callable[[float], int]) -> float:
    return 10.0 ** rounded(math.log10(value))


def _short(value: float) -> str:
    """Format as 0.53, 8.4, 27, 2,064."""
    if value >= 99.95:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")
