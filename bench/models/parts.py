"""The parts of the benchmark, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.models.account import measure_account, measure_here
from bench.models.burst import measure_bursts
from bench.models.fan_out import measure_posts, measure_rename
from bench.models.growth import ARTICLE_PARTITIONS, USERS, measure_partitions, measure_sizes, plan_of
from bench.models.interface import Model
from bench.models.loading import import_models
from bench.models.popular_post import LIKES, measure_popular_post
from bench.models.project_model import ProjectModel
from bench.models.results import (
    BurstResults,
    FanOutResults,
    GrowthResults,
    PartConditions,
    PopularPostResults,
    Profile,
    RequestResults,
)
from bench.models.running_models import emulated
from bench.models.v1 import V1
from bench.models.v2 import V2
from bench.models.v3 import V3
from shared.settings import Account, Settings

KINDS: Final[tuple[type[Model], ...]] = (V1, V2, V3, ProjectModel)
# The models whose change feeds write copies of posts.
_COPYING: Final[tuple[type[Model], ...]] = (V3, ProjectModel)
# V3 benefits from several partitions, each with its own reader.
_FAN_OUT_PARTITIONS: Final = (1, 4)
_RENAME_PARTITIONS: Final = 4


@dataclass(frozen=True)
class Options:
    """Parsed command line. `sizes` are users, `burst` the commands of each kind, `posts` those copied.

    `renamed_posts` have four items each of the renamed user; `likes` are those of the popular post.
    """

    parts: Sequence[str]
    users: int
    seed: int
    repetitions: int
    write: Path | None
    directory: Path | None
    endpoint: str | None
    key: str | None
    throughput: int | None
    kinds: Sequence[type[Model]]
    sizes: Sequence[int] = USERS
    burst: int = 1_000
    posts: int = 500
    renamed_posts: int = 5_000
    likes: Sequence[int] = LIKES


Told = Callable[[PartConditions], Any]
Part = Callable[[Options, Path], Awaitable[Told]]


async def _requests(options: Options, directory: Path, profile: Profile) -> Told:
    plan = plan_of(options.users, options.seed)
    await import_models(options.kinds, plan, directory / "data", ARTICLE_PARTITIONS)
    async with emulated(options.kinds, directory / "data", "--profile", profile) as models:
        measured = await measure_here(models, plan, options.repetitions)
    return lambda conditions: RequestResults(profile, str(plan), measured.partitions, measured.costs, conditions)


async def _requests_2026(options: Options, directory: Path) -> Told:
    return await _requests(options, directory, "service-2026")


async def _requests_2019(options: Options, directory: Path) -> Told:
    return await _requests(options, directory, "article-2019")


async def _bursts(options: Options, _: Path) -> Told:
    found = await measure_bursts(_COPYING, options.burst)
    return lambda conditions: BurstResults(found, conditions)


async def _sizes(options: Options, directory: Path) -> Told:
    stages = await measure_sizes(options.kinds, directory, options.repetitions, sizes=options.sizes, seed=options.seed)
    return lambda conditions: GrowthResults(stages, conditions)


async def _partitions(options: Options, directory: Path) -> Told:
    stages = await measure_partitions(
        options.kinds, directory, options.repetitions, users=options.users, seed=options.seed
    )
    return lambda conditions: GrowthResults(stages, conditions)


async def _popular(options: Options, _: Path) -> Told:
    stages = await measure_popular_post(options.repetitions, options.likes)
    return lambda conditions: PopularPostResults(stages, conditions)


async def _posts(options: Options, _: Path) -> Told:
    found = [
        one for partitions in _FAN_OUT_PARTITIONS for one in await measure_posts(_COPYING, options.posts, partitions)
    ]
    return lambda conditions: FanOutResults(found, conditions)


async def _renames(options: Options, _: Path) -> Told:
    found = await measure_rename(_COPYING, options.renamed_posts, _RENAME_PARTITIONS)
    return lambda conditions: FanOutResults(found, conditions)


async def measure_account_part(options: Options, _: Path) -> Told:
    plan = plan_of(options.users, options.seed)
    configuration = Settings(account=Account(options.endpoint or "", options.key), database="none")
    measured = await measure_account(options.kinds, configuration, plan, options.repetitions, options.throughput)
    return lambda conditions: RequestResults(
        "charged by the service", str(plan), measured.partitions, measured.costs, conditions
    )


PARTS: Final[dict[str, Part]] = {
    "requests": _requests_2026,
    "article": _requests_2019,
    "bursts": _bursts,
    "sizes": _sizes,
    "partitions": _partitions,
    "popular": _popular,
    "posts": _posts,
    "renames": _renames,
}
