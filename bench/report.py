"""What a run found, as Markdown: each measure with its target and whether that was met, and the machine it ran on."""

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


@dataclass(frozen=True)
class Finding:
    """A figure against its target; `met` is None for one that is told without having a target. `detail` gives the
    figures behind it."""

    measure: str
    target: str
    figure: str
    met: bool | None
    detail: str

    @classmethod
    def at_most(cls, measure: str, limit: float, value: float, unit: str, detail: str) -> Finding:
        """A value that must not be above `limit`."""
        return cls(measure, f"at most {limit:g}{unit}", f"{value:.2f}{unit}", value <= limit, detail)

    def row(self) -> str:
        """A line of the table."""
        verdict = {True: "met", False: "**missed**", None: ""}[self.met]
        return f"| {self.measure} | {self.target} | {self.figure} | {verdict} | {self.detail} |"


@dataclass(frozen=True)
class Conditions:
    """What a reader must know to judge a run."""

    command: str
    started: datetime
    load_before: float
    load_after: float


def markdown(findings: Sequence[Finding], conditions: Conditions) -> str:
    """The document, ready for docs/benchmarks."""
    missed = sum(finding.met is False for finding in findings)
    lines = [
        "# Speed of the local stack",
        "",
        "Every ratio comes from one run on one machine, the two sides taking turns. Times are those of a client in a"
        " process of its own, one request after another.",
        "",
        f"    {conditions.command}",
        "",
        *_circumstances(conditions),
        "",
        f"{len([f for f in findings if f.met])} targets met, {missed} missed.",
        "",
        "| measure | target | figure | | behind it |",
        "|---|---|---|---|---|",
        *(finding.row() for finding in findings),
    ]
    return "\n".join(lines) + "\n"


def _circumstances(conditions: Conditions) -> list[str]:
    load = f"before {conditions.load_before:.1f}, at the end {conditions.load_after:.1f}"
    first, *others = circumstances(conditions.started)
    return [f"{first}; load average (1 minute) {load}", *others]


def circumstances(started: datetime) -> list[str]:
    """When and on what a run was made, a line of a list for each."""
    minutes = (datetime.now(UTC) - started).total_seconds() / 60
    return [
        f"- {started:%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes",
        *(f"- {line}" for line in machine()),
    ]


def machine() -> list[str]:
    """What a run was made on: hardware, versions, commit."""
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
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - commands of ours
