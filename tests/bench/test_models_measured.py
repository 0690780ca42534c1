"""Measurement of the models: generated data, import, observation and report."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.generated.plan import Range
from bench.models.__main__ import main
from bench.models.article import ARTICLE, REQUESTS
from bench.models.change_feeds import ChangeFeedFollower
from bench.models.interface import Model
from bench.models.loading import database_of, emulated, import_models, running_models
from bench.models.observation import observed, observed_client
from bench.models.parts import KINDS
from bench.models.plan import EXHIBIT_POSTS, EXHIBITS, TEXT_LENGTH, ArticlePlan
from bench.models.popular_post import measure_popular_post
from bench.models.project_model import ProjectModel
from bench.models.report import publish
from bench.models.request_costs import Costs, measure_requests
from bench.models.results import (
    RESULTS,
    PartConditions,
    PopularPostResults,
    RequestResults,
    Results,
    read_results,
    write_results,
)
from bench.models.v3 import V3
from bench.models.v4 import V4
from bench.servers import REPOSITORY
from management.verify import verify
from shared.data.blog import Blog as ManagedBlog
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import EmulatorThread

_FEW = Range(0, 2)
_SMALL = ArticlePlan(users=4, posts_per_user=Range(1, 3), comments_per_post=_FEW, likes_per_post=_FEW)


def test_the_plan_matches_the_articles_sizes() -> None:
    plan = ArticlePlan(users=60)
    posts = [post for index in range(plan.users) for post in plan.posts(index, plan.user(index))]
    numbers = Counter(post["userId"] for post in posts)

    assert all(5 <= number <= 50 for number in numbers.values())
    assert all(post["commentCount"] <= 25 and post["likeCount"] <= 60 for post in posts)
    assert 10 < sum(post["commentCount"] for post in posts) / len(posts) < 15
    assert {len(post["content"]) for post in posts} == {TEXT_LENGTH}
    responses = [response for _, response in plan.responses(0, posts[0])]
    assert Counter(response["type"] for response in responses) == {"comment": EXHIBITS[0][0], "like": EXHIBITS[0][1]}


def test_the_exhibits_are_the_same_in_every_size() -> None:
    sizes = [ArticlePlan(users=100), ArticlePlan(users=300, crowded_users=100, few=Range(0, 1))]

    for plan in sizes:
        assert plan.post_count(0) == EXHIBIT_POSTS
        assert [(plan.exhibit(n)["commentCount"], plan.exhibit(n)["likeCount"]) for n in (0, 1)] == [*EXHIBITS]
    few = [post for index in range(100, 300) for post in sizes[1].posts(index, sizes[1].user(index))]
    assert max(post["likeCount"] for post in few) == 1


async def test_imported_data_is_consistent_and_triggers_no_change_feed_writes(tmp_path: Path) -> None:
    await import_models([V3, V4, ProjectModel], _SMALL, tmp_path / "data", partitions=2)

    async with (
        CosmosEmulator(EmulatorSettings(data_dir=tmp_path / "data")) as emulator,
        running_models(
            [V3, V4, ProjectModel], Settings(account=Account(emulator.endpoint, emulator.key), database="none")
        ) as (v3, v4, this),
    ):
        assert isinstance(this, ProjectModel)
        assert await verify(ManagedBlog(this.users, this.posts, this.feed_container, this.failures)) == []
        assert await this.feed() == await v3.feed() == await v4.feed()
        before = await _etags(this)
        await (await ChangeFeedFollower.start(this)).settle()
        assert await _etags(this) == before


@pytest.fixture(scope="module")
async def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Costs, int]:
    """The costs of all requests on all models, and the number of partitions."""
    data = tmp_path_factory.mktemp("models") / "data"
    await import_models(KINDS, _SMALL, data, partitions=4)
    async with emulated(KINDS, data) as models:
        return await measure_requests(models, _SMALL, 2)


@pytest.mark.nightly
def test_all_requests_are_measured_on_all_models(measured: tuple[Costs, int]) -> None:
    costs, partitions = measured

    assert {name[:2] for name in costs} == set(REQUESTS)
    assert costs["Q2"]["V1"].calls == 4
    assert costs["Q2"]["this"].calls == costs["Q2"]["this"].items_read == 1
    assert costs["Q3"]["V2"].partitions == partitions == 4
    assert costs["Q3"]["V4"].partitions == costs["Q6"]["V4"].partitions == 1
    assert costs["C4"]["V3"].rounds >= 2
    assert costs["C4"]["this, procedures"].charge_ru > costs["C4"]["this"].charge_ru
    assert all(cost.charge_ru > 10 for cost in costs["C2 edit"].values())  # each edit changes the post


async def test_only_responses_inside_the_block_are_observed(emulator: EmulatorThread) -> None:
    async with running_models([V3], Settings(account=Account(emulator.endpoint, emulator.key), database="none")) as (
        model,
    ):
        try:
            user = await model.create_user("observed")
            with observed() as nothing:
                pass
            with observed() as observation:
                await model.get_user(user.id)
                await model.list_user_posts(user.id)
            await model.get_user(user.id)

            assert (nothing.calls, observation.calls, observation.items_read) == (0, 2, 1)
            assert observation.request_units == pytest.approx(1 + 2.82, abs=0.01)
            assert len(observation.partitions) == 1
        finally:
            async with observed_client(
                Settings(account=Account(emulator.endpoint, emulator.key), database="none")
            ) as client:
                await client.delete_database(database_of(V3))


@pytest.mark.nightly
def test_results_are_stored_reported_and_drawn(tmp_path: Path, measured: tuple[Costs, int]) -> None:
    costs, partitions = measured
    conditions = PartConditions("a command", datetime(2026, 1, 1, tzinfo=UTC), 1.5, ["a machine"])
    part = RequestResults("service-2026", str(_SMALL), partitions, costs, conditions)
    results = Results(requests=part, article=part)

    text = publish(results, tmp_path)

    assert read_results(tmp_path / "models.json") == results
    for words in ("modeled", "P = 4", "a command", "a machine", "cannot be explained"):
        assert words in text
    rows = text.partition("## The charge model against the article")[2].splitlines()
    assert sum(line.startswith(("| C", "| Q")) for line in rows) == len(ARTICLE)
    drawing = ET.parse(tmp_path / "models-charges.svg").getroot()
    assert len(drawing.findall(".//{*}rect/{*}title")) == len(KINDS) * len(REQUESTS)
    write_results(tmp_path / "models.json", Results())
    assert read_results(tmp_path / "models.json") == Results()


def test_the_published_files_are_those_of_the_stored_results(tmp_path: Path) -> None:
    published = REPOSITORY / "docs" / "benchmarks"

    publish(read_results(published / RESULTS), tmp_path)

    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == {
        file.name: file.read_text(encoding="utf-8") for file in published.glob("models*")
    }


async def test_listing_comments_costs_the_same_beneath_newer_likes() -> None:
    stages = await measure_popular_post(0, (0, 200))
    conditions = PartConditions("a command", datetime(2026, 1, 1, tzinfo=UTC), 1.5, ["a machine"])

    text = publish(Results(popular=PopularPostResults(stages, conditions)), None)

    assert [(step.likes, step.cost.items_read) for step in stages] == [(0, 20), (200, 20)]
    assert stages[0].cost.charge_ru == stages[1].cost.charge_ru
    assert "| charge of Q4 beneath 200 newer likes | the same as without likes | +0.0 % | met |" in text


def test_the_command_line_rejects_an_unknown_part(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])

    assert "invalid choice" in capsys.readouterr().err


async def _etags(model: Model) -> list[str]:
    etags = []
    for container in model.CONTAINERS:
        rows = model.database.get_container_client(container.name).query_items("SELECT VALUE c._etag FROM c")
        etags += [str(row) async for row in rows]
    return sorted(etags)
