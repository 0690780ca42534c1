"""Markdown report of bench.local_stack, and the description of the machine."""

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
class TargetResult:
    """`met` is None without a target; `detail` gives the underlying figures."""

    measure: str
    target: str
    figure: str
    met: bool | None
    detail: str

    @classmethod
    def at_most(cls, measure: str, limit: float, value: float, unit: str, detail: str) -> TargetResult:
        """`value` must not exceed `limit`."""
        return cls(measure, f"at most {limit:g}{unit}", f"{value:.2f}{unit}", value <= limit, detail)

    def row(self) -> str:
        verdict = {True: "met", False: "**missed**", None: ""}[self.met]
        return f"| {self.measure} | {self.target} | {self.figure} | {verdict} | {self.detail} |"


@dataclass(frozen=True)
class Conditions:
    command: str
    started: datetime
    load_before: float
    load_after: float


def markdown(findings: Sequence[TargetResult], conditions: Conditions) -> str:
    missed = sum(finding.met is False for finding in findings)
    lines = [
        "# Speed of the local stack",
        "",
        "Each ratio comes from one run on one machine, with the two sides taking turns. A client in a separate process"
        " sends one request at a time and measures its time.",
        "",
        f"    {conditions.command}",
        "",
        *_circumstances(conditions),
        "",
        f"{len([f for f in findings if f.met])} targets met, {missed} missed.",
        "",
        "| measure | target | figure | result | details |",
        "|---|---|---|---|---|",
        *(finding.row() for finding in findings),
    ]
    return "\n".join(lines) + "\n"


def _circumstances(conditions: Conditions) -> list[str]:
    load = f"before {conditions.load_before:.1f}, after {conditions.load_after:.1f}"
    first, *others = circumstances(conditions.started)
    return [f"{first}; load average (1 minute) {load}", *others]


def circumstances(started: datetime) -> list[str]:
    """Describe a run's time and machine as Markdown list items."""
    minutes = (datetime.now(UTC) - started).total_seconds() / 60
    return [
        f"- {started:%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes",
        *(f"- {line}" for line in machine()),
    ]


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
