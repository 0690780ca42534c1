"""Results stored as JSON, so that single parts can be measured again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from bench.models.burst import Burst
from bench.models.fan_out import FanOut
from bench.models.growth import Stage
from bench.models.measuring import Costs

Profile = Literal["service-2026", "article-2019", "charged by the service"]


@dataclass(frozen=True)
class Conditions:
    """Command, time and machine of a part."""

    command: str
    started: datetime
    minutes: float
    circumstances: list[str]


@dataclass(frozen=True)
class Requests:
    """Costs of every request on every model; `partitions` are the physical ones of `posts`."""

    profile: Profile
    data: str
    partitions: int
    costs: Costs
    conditions: Conditions


@dataclass(frozen=True)
class Bursts:
    bursts: list[Burst]
    conditions: Conditions


@dataclass(frozen=True)
class Stages:
    stages: list[Stage]
    conditions: Conditions


@dataclass(frozen=True)
class FanOuts:
    fan_outs: list[FanOut]
    conditions: Conditions


@dataclass
class Results:
    """All parts; None if never measured."""

    requests: Requests | None = None
    article: Requests | None = None
    bursts: Bursts | None = None
    sizes: Stages | None = None
    partitions: Stages | None = None
    posts: FanOuts | None = None
    renames: FanOuts | None = None
    account: Requests | None = None


RESULTS: Final = "models.json"
_RESULTS: Final = TypeAdapter(Results)


def read_results(file: Path) -> Results:
    """Read the stored results; empty if there is no file."""
    return _RESULTS.validate_json(file.read_bytes()) if file.is_file() else Results()


def write_results(file: Path, results: Results) -> None:
    """Write the results."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_RESULTS.dump_json(results, indent=1) + b"\n")


def conditions(command: str, started: datetime, circumstances: Sequence[str]) -> Conditions:
    """Return the conditions of a part that has just ended."""
    minutes = (datetime.now(UTC) - started).total_seconds() / 60
    return Conditions(command, started, round(minutes, 1), [*circumstances])
