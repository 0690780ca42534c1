"""Results stored as JSON, so that parts can be measured again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from bench.models.burst import Burst
from bench.models.fan_out import FanOut
from bench.models.growth import GrowthStep
from bench.models.popular_post import PopularPost
from bench.models.request_costs import Costs

Profile = Literal["service-2026", "article-2019"]


@dataclass(frozen=True)
class PartConditions:
    command: str
    started: datetime
    minutes: float
    circumstances: list[str]


@dataclass(frozen=True)
class RequestResults:
    """Costs of every request on every model; `partitions` are physical, of `posts`."""

    profile: Profile
    data: str
    partitions: int
    costs: Costs
    conditions: PartConditions


@dataclass(frozen=True)
class BurstResults:
    bursts: list[Burst]
    conditions: PartConditions


@dataclass(frozen=True)
class GrowthResults:
    stages: list[GrowthStep]
    conditions: PartConditions


@dataclass(frozen=True)
class FanOutResults:
    fan_outs: list[FanOut]
    conditions: PartConditions


@dataclass(frozen=True)
class PopularPostResults:
    stages: list[PopularPost]
    conditions: PartConditions


@dataclass
class Results:
    """All parts; None if not measured."""

    requests: RequestResults | None = None
    article: RequestResults | None = None
    bursts: BurstResults | None = None
    sizes: GrowthResults | None = None
    partitions: GrowthResults | None = None
    popular: PopularPostResults | None = None
    posts: FanOutResults | None = None
    renames: FanOutResults | None = None


RESULTS: Final = "models.json"
_RESULTS: Final = TypeAdapter(Results)


def read_results(file: Path) -> Results:
    """Return the stored results, or empty results."""
    return _RESULTS.validate_json(file.read_bytes()) if file.is_file() else Results()


def write_results(file: Path, results: Results) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_RESULTS.dump_json(results, indent=1) + b"\n")
