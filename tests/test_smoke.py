"""The smoke test's calls of Azure and azd, which local programs answer. tests/platform/telemetry has its checks."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from azure.core.credentials import AccessToken

from checks.smoke import __main__ as smoke
from checks.smoke.azure import AzureApp

VALUES = {
    "AZURE_SUBSCRIPTION_ID": "sub",
    "AZURE_RESOURCE_GROUP": "rg-test",
    "AZURE_FUNCTION_NAME": "func-test",
    "APPLICATIONINSIGHTS_APP_ID": "app-id",
}
SITE = "/subscriptions/sub/resourceGroups/rg-test/providers/Microsoft.Web/sites/func-test"


class Credential:
    """Tokens that name their audience."""

    async def get_token(self, scope: str) -> AccessToken:
        return AccessToken(scope.removesuffix("/.default"), 0)


class Answers:
    """Answers in the form that Azure documents, and the queries that it got."""

    def __init__(self) -> None:
        self.rows: list[list[object]] = []
        self.instances: list[dict[str, object]] = []
        self.queries: list[str] = []

    async def keys(self, asked: web.Request) -> web.Response:
        assert asked.headers["Authorization"] == "Bearer https://management.azure.com"
        return web.json_response({"masterKey": "m", "functionKeys": {"default": "the-key"}, "systemKeys": {}})

    async def metrics(self, asked: web.Request) -> web.Response:
        assert asked.query["metricnames"] == "InstanceCount"
        return web.json_response({"value": [{"timeseries": [{"data": self.instances}]}]})

    async def query(self, asked: web.Request) -> web.Response:
        assert asked.headers["Authorization"] == "Bearer https://api.applicationinsights.io"
        self.queries.append((await asked.json())["query"])
        return web.json_response({"tables": [{"name": "PrimaryResult", "columns": [], "rows": self.rows}]})


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
async def azure(answers: Answers) -> AsyncIterator[AzureApp]:
    service = web.Application()
    service.router.add_post(f"{SITE}/host/default/listkeys", answers.keys)
    service.router.add_get(f"{SITE}/providers/Microsoft.Insights/metrics", answers.metrics)
    service.router.add_post("/v1/apps/app-id/query", answers.query)
    async with TestServer(service) as server, ClientSession() as session:
        address = str(server.make_url("")).rstrip("/")
        credential: Any = Credential()
        yield AzureApp(session, credential, VALUES, management=address, insights=address)


async def test_the_function_key_is_read(azure: AzureApp) -> None:
    assert await azure.function_key() == "the-key"


@pytest.mark.parametrize(
    ("counts", "is_idle"),
    [([], False), ([(20, 1.0), (1, None)], True), ([(20, 1.0), (12, 0.0)], True), ([(2, 1.0)], False)],
)
async def test_an_app_is_idle_after_its_last_instance(
    azure: AzureApp, answers: Answers, counts: list[tuple[int, float | None]], is_idle: bool
) -> None:
    now = datetime.now(UTC)
    for minutes, average in counts:
        point: dict[str, object] = {"timeStamp": f"{now - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"}
        answers.instances.append(point if average is None else {**point, "average": average})

    assert await azure.is_idle() is is_idle


async def test_telemetry_is_read_with_queries(azure: AzureApp, answers: Answers) -> None:
    answers.rows = [[3]]
    assert await azure.log_lines('function="create_user"') == 3
    answers.rows = [["on_posts_changed"]]
    assert await azure.deliveries_caused_by("4bf92f") == ["on_posts_changed"]
    answers.rows = [["func-test"]]
    assert await azure.role_names() == ["func-test"]

    assert 'message contains @"function=""create_user"""' in answers.queries[0]
    assert 'contains "4bf92f"' in answers.queries[1]


@pytest.mark.skipif(sys.platform == "win32", reason="runs sh")
@pytest.mark.parametrize("failing", ["up", "deploy"])
def test_everything_is_deleted_in_every_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """`up` fails and `deploy` succeeds, or both fail."""
    azd, log = tmp_path / "azd", tmp_path / "log"
    azd.write_text(
        f'#!/bin/sh\necho "$*" >> {log}\ncase "$1" in up) exit 1;; deploy) test {failing} = up;; esac\n',
        encoding="utf-8",
    )
    azd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "sub")
    monkeypatch.setenv("AZURE_LOCATION", "eastus2")
    monkeypatch.setattr(smoke, "_ROLE_APPLIES_S", (0, 0))

    # The fake azd prints no values, so the checks fail, too.
    with pytest.raises(Exception, match=r"deploy|AZURE_SUBSCRIPTION_ID"):
        smoke.main()

    called = log.read_text(encoding="utf-8").splitlines()
    commands = [" ".join(line.split()[:2]) for line in called]
    assert [one for one in commands if one != "env set"][:3] == ["env new", "up --no-prompt", "deploy --no-prompt"]
    assert commands.index("up --no-prompt") > commands.count("env set") > 0
    assert commands.count("deploy --no-prompt") == (1 if failing == "up" else 2)
    assert called[-1] == "down --purge --force --no-prompt"
