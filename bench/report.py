"""Results with targets, and the description of the machine."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.tables import table
from bench.timing import Times


@dataclass(frozen=True)
class TargetResult:
    """`detail` gives the underlying figures."""

    measure: str
    target: str
    figure: str
    met: bool
    detail: str

    @classmethod
    def at_most(cls, measure: str, limit: float, value: float, unit: str, detail: str) -> TargetResult:
        """`value` must not exceed `limit`."""
        return cls(measure, f"at most {limit:g}{unit}", f"{value:.2f}{unit}", value <= limit, detail)

    @classmethod
    def ratio(cls, measure: str, limit: float, ours: Times, theirs: Times, *, below: bool = False) -> TargetResult:
        """The median of `ours` must be at most `limit` times the median of `theirs`, or `below` that."""
        ratio = ours.p50_ms / theirs.p50_ms
        target, met = ("below", ratio < limit) if below else ("at most", ratio <= limit)
        detail = f"{ours.p50_ms:.2f} ms against {theirs.p50_ms:.2f} ms"
        return cls(measure, f"{target} {limit:g}×", f"{ratio:.2f}×", met, detail)


def target_lines(findings: Sequence[TargetResult]) -> list[str]:
    """Return the number of targets met, and a table of all."""
    missed = sum(not finding.met for finding in findings)
    rows = (
        (finding.measure, finding.target, finding.figure, "met" if finding.met else "**missed**", finding.detail)
        for finding in findings
    )
    head = ["measure", "target", "figure", "result", "details"]
    return [f"{len(findings) - missed} targets met, {missed} missed.", "", *table(head, rows)]


def circumstances(started: datetime, load_before: float) -> list[str]:
    """Describe a run's time, load and machine as Markdown list items."""
    minutes = (datetime.now(UTC) - started).total_seconds() / 60
    load = f"load average (1 minute) before {load_before:.1f}, after {os.getloadavg()[0]:.1f}"
    return [f"- {started:%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes; {load}", *(f"- {line}" for line in machine())]


def machine() -> list[str]:
    return [
        f"{_processor()}, {os.cpu_count()} cores, {_memory_gb():.0f} GB; {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, azure-cosmos"
        f" {version('azure-cosmos')}, aiohttp {version('aiohttp')}, Node {_node_version()}",
        f"commit {_commit()}",
    ]


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "processor unknown")


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _node_version() -> str:
    return _output("node", "--version") if shutil.which("node") else "absent"


def _commit() -> str:
    changed = _output("git", "status", "--porcelain", "--untracked-files=no")
    return _output("git", "rev-parse", "--short", "HEAD") + (" with uncommitted changes" if changed else "")


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - fixed commands
