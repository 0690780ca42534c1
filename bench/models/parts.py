"""The parts of the benchmark, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench.models.burst import measure_bursts
from bench.models.fan_out import measure_posts, measure_rename
from bench.models.growth import ARTICLE_PARTITIONS, PARTITIONS, USERS, measure_growth, partitions_of, plan_of
from bench.models.interface import Model
from bench.models.loading import emulated, import_models
from bench.models.popular_post import LIKES, measure_popular_post
from bench.models.project_model import ProjectModel
from bench.models.request_costs import measure_requests
from bench.models.results import (
    BurstResults,
    FanOutResults,
    GrowthResults,
    PartConditions,
    PopularPostResults,
    Profile,
    RequestResults,
)
from bench.models.v1 import V1
from bench.models.v2 import V2
from bench.models.v3 import V3
from bench.models.v4 import V4

KINDS: Final[tuple[type[Model], ...]] = (V1, V2, V3, V4, ProjectModel)
# The models whose change feeds write copies of posts.
_COPYING: Final[tuple[type[Model], ...]] = (V3, ProjectModel)


@dataclass(frozen=True)
class Options:
    """`sizes` are users, `burst` the commands of each kind, `posts` those copied.

    `renamed_posts` have four items each of the renamed user; `likes` are the popular post's.
    """

    users: int
    repetitions: int
    sizes: Sequence[int] = USERS
    burst: int = 1_000
    posts: int = 500
    renamed_posts: int = 5_000
    likes: Sequence[int] = LIKES


Part = Callable[[Options, Path], Awaitable[Callable[[PartConditions], Any]]]


async def _requests(profile: Profile, options: Options, directory: Path) -> partial[RequestResults]:
    plan = plan_of(options.users)
    models: list[Model] = []
    async with AsyncExitStack() as stack:
        for kind in KINDS:  # each in an emulator of its own, so that V4's indexes do not delay the writes of others
            await import_models([kind], plan, directory / kind.NAME, ARTICLE_PARTITIONS)
            models += await stack.enter_async_context(emulated([kind], directory / kind.NAME, "--profile", profile))
        costs, partitions = await measure_requests(models, plan, options.repetitions)
    return partial(RequestResults, profile, str(plan), partitions, costs)


async def _bursts(options: Options, _: Path) -> partial[BurstResults]:
    return partial(BurstResults, await measure_bursts(_COPYING, options.burst))


async def _sizes(options: Options, directory: Path) -> partial[GrowthResults]:
    settings = [(plan_of(users), partitions_of(users)) for users in options.sizes]
    return partial(GrowthResults, await measure_growth(KINDS, directory, options.repetitions, settings))


async def _partitions(options: Options, directory: Path) -> partial[GrowthResults]:
    plan = plan_of(options.users)
    settings = [(plan, partitions) for partitions in PARTITIONS]
    return partial(GrowthResults, await measure_growth(KINDS, directory, options.repetitions, settings))


async def _popular(options: Options, _: Path) -> partial[PopularPostResults]:
    return partial(PopularPostResults, await measure_popular_post(options.repetitions, options.likes))


async def _posts(options: Options, _: Path) -> partial[FanOutResults]:
    found = []
    for partitions in (1, 4):  # V3 benefits from several, each with its own reader
        found += await measure_posts(_COPYING, options.posts, partitions)
    return partial(FanOutResults, found)


async def _renames(options: Options, _: Path) -> partial[FanOutResults]:
    return partial(FanOutResults, await measure_rename(_COPYING, options.renamed_posts, partitions=4))


PARTS: Final[dict[str, Part]] = {
    "requests": partial(_requests, "service-2026"),
    "article": partial(_requests, "article-2019"),
    "bursts": _bursts,
    "sizes": _sizes,
    "partitions": _partitions,
    "popular": _popular,
    "posts": _posts,
    "renames": _renames,
}
