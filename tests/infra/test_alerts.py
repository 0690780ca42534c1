"""Alerts and the workbook use metrics that the app records, and tables that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infra.bicep import INFRA
from tests.infra.deployments import deployment
from tests.running_app import REPOSITORY

# The metrics and attributes of shared/observability/metrics.py.
METRICS = {
    "azure.cosmosdb.client.operation.request_charge": {"db.collection.name", "blog.function"},
    "blog.throttled": {"db.collection.name"},
    "blog.retries": {"db.collection.name"},
    "blog.change_feed.lag": {"blog.function"},
    "blog.change_feed.failures": {"blog.function"},
    "blog.fan_out.items": set[str](),
}
# https://learn.microsoft.com/azure/azure-monitor/app/data-model-complete
TABLES = {"customMetrics", "requests", "traces", "exceptions"}

WORKBOOK = json.loads((INFRA / "workbook.json").read_text(encoding="utf-8"))
ALERTS = ("throttled", "lag", "failures", "5xx", "restarts")
CHARTS = {item["name"]: "".join(item["content"]["query"]) for item in WORKBOOK["items"] if item["type"] == 3}


def _alerts() -> dict[str, Mapping[str, Any]]:
    rules = deployment().of_type("Microsoft.Insights/scheduledQueryRules")
    return {rule["properties"]["displayName"].removeprefix("Blog: "): rule["properties"] for rule in rules}


def _criterion(name: str) -> Mapping[str, Any]:
    (criterion,) = _alerts()[name]["criteria"]["allOf"]
    return dict(criterion)


def _query(name: str) -> str:
    return CHARTS[name] if name in CHARTS else str(_criterion(name)["query"])


@pytest.mark.parametrize("name", [*ALERTS, *CHARTS])
def test_queries_name_known_metrics_attributes_and_tables(name: str) -> None:
    query = _query(name)
    metrics = set(re.findall(r"'((?:blog|azure)\.[\w.]+)'", query)) - {"blog.function"}
    attributes = set(re.findall(r"customDimensions\['([\w.]+)'\]", query))
    tables = set(re.findall(r"(?:\A|\()(\w+)\s*\|", query.strip()))

    assert metrics <= METRICS.keys()
    assert bool(metrics) == ("customMetrics" in query)
    assert all(attributes <= METRICS[metric] for metric in metrics)
    assert tables <= TABLES
    assert tables


@pytest.mark.parametrize("name", [*ALERTS, *CHARTS])
def test_brackets_in_queries_match(name: str) -> None:
    query = re.sub(r"'[^']*'", "", _query(name))

    for opening, closing in ("()", "[]", "{}"):
        assert query.count(opening) == query.count(closing)


def test_the_app_records_these_metrics() -> None:
    source = (REPOSITORY / "shared" / "observability" / "metrics.py").read_text(encoding="utf-8")

    names = set(re.findall(r'"((?:azure\.cosmosdb\.client|blog)\.[a-z_.]+)"', source))
    assert names - {"blog.function"} == set(METRICS)


def test_there_is_an_alert_for_each_symptom() -> None:
    assert tuple(_alerts()) == ALERTS
    assert len(deployment().of_type("Microsoft.Insights/metricAlerts")) == 1
    assert deployment("minimum").of_type("Microsoft.Insights/metricAlerts") == []


@pytest.mark.parametrize("name", ALERTS)
def test_an_alerts_query_returns_the_measured_column(name: str) -> None:
    measured = _criterion(name)["metricMeasureColumn"]

    assert re.search(rf"(project|summarize) {measured} = ", _criterion(name)["query"])


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_notifies_the_action_group(name: str) -> None:
    (group,) = deployment().of_type("Microsoft.Insights/actionGroups")

    (action,) = _alerts()[name]["actions"]["actionGroups"]
    assert action.endswith(group["name"])


def test_the_action_group_sends_an_email_if_there_is_an_address() -> None:
    def receivers(variant: str) -> list[str]:
        (group,) = deployment(variant).of_type("Microsoft.Insights/actionGroups")
        return [receiver["emailAddress"] for receiver in group["properties"]["emailReceivers"]]

    assert receivers("defaults") == []
    assert receivers("everything") == ["ops@example.com"]


def test_the_availability_test_calls_the_health_check() -> None:
    (test,) = deployment().of_type("Microsoft.Insights/webtests")

    assert test["properties"]["Request"]["RequestUrl"].endswith("/api/health")
    assert deployment("minimum").of_type("Microsoft.Insights/webtests") == []


def test_the_workbook_shows_every_metric() -> None:
    text = json.dumps(list(CHARTS.values()))

    assert [metric for metric in METRICS if metric not in text] == []
    assert "requests" in text
    assert len(CHARTS) == len({item["content"]["title"] for item in WORKBOOK["items"] if item["type"] == 3})
