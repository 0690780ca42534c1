"""Minimal SVG drawing, with colors for light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal

# Okabe and Ito's palette, distinguishable with any color vision.
COLORS: Final = {"V1": "#8c8c8c", "V2": "#e69f00", "V3": "#4c9fd8", "this": "#009e73", "": "#8c8c8c"}
Anchor = Literal["start", "middle", "end"]
_STYLE: Final = """
  .paper { fill: #ffffff } .ink { fill: #24292f } .faint { fill: #57606a }
  .rule { stroke: #d0d7de; stroke-width: 1 }
  text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #161b22 } .ink { fill: #e6edf3 } .faint { fill: #9ea7b3 } .rule { stroke: #3d444d }
  }
"""


@dataclass
class Drawing:
    width: int
    height: int
    title: str
    _parts: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 12,
        anchor: Anchor = "start",
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
        """Draw a rectangle with a tooltip."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" fill="{color}"'
            f' fill-opacity="{opacity}"><title>{escape(tooltip)}</title></rect>'
        )

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self._parts.append(f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def path(self, points: Sequence[tuple[float, float]], color: str, *, dashed: bool = False) -> None:
        """Draw a line with markers."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
        self._parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points)

    def legend(self, x: float, y: float, names: Sequence[str]) -> None:
        """Draw the models' names in a row."""
        for number, name in enumerate(names):
            left = x + number * 128
            self._parts.append(f'<rect x="{left}" y="{y - 10}" width="12" height="12" fill="{COLORS[name]}"/>')
            self.text(left + 18, y, "this project" if name == "this" else f"the article's {name}", size=12)

    def __str__(self) -> str:
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img"'
                f' width="{self.width}" height="{self.height}" aria-label="{escape(self.title)}">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{_STYLE}</style>",
                f'<rect class="paper" width="{self.width}" height="{self.height}" rx="6"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale from `low`..`high` (powers of ten) to `start`..`end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> LogScale:
        """Return a scale of the powers of ten around the values."""
        low = 10.0 ** math.floor(math.log10(min(values)))
        high = 10.0 ** math.ceil(math.log10(max(values)))
        return cls(low, high if high > low else low * 10, start, end)

    def at(self, value: float) -> float:
        share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        value = 10.0 ** math.ceil(math.log10(self.low))
        while value <= self.high * 1.0001:
            yield value
            value *= 10


def short_number(value: float) -> str:
    """Format as 0.53, 8.4, 27, 2,064."""
    if value >= 99.95:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")
