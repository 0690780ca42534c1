"""Alerts and the workbook use the metrics that the app records."""

from __future__ import annotations

import json
import re

import pytest

from functions import comments, likes, posts, users
from shared.platform import NAME
from shared.propagation.change_feeds import CHANGE_FEEDS
from tests.infra.conftest import Compiled
from tests.operations import operations_of
from tests.running_app import REPOSITORY

# The metrics and attributes of the app.
METRICS_OF_THE_PLATFORM = REPOSITORY / "shared" / "platform" / "telemetry.py"
METRICS = {
    "azure.cosmosdb.client.operation.request_charge": {"db.collection.name", "blog.function"},
    "blog.throttled": {"db.collection.name"},
    "blog.retries": {"db.collection.name"},
    "blog.change_feed.lag": {"blog.function"},
    "blog.change_feed.failures": {"blog.function"},
}
# `manage.py lag` records this one (management/lag.py).
CHECK = "blog.change_feed.check"
# The type of the dependencies that are calls of the database (platform/telemetry/test_application_insights.py).
DATABASE = "azure.cosmosdb"
WORKBOOK = json.loads((REPOSITORY / "infra" / "workbook.json").read_text(encoding="utf-8"))
CHARTS = {item["name"]: "".join(item["content"]["query"]) for item in WORKBOOK["items"] if item["type"] == 3}


def _assert_uses_recorded_metrics(query: str) -> None:
    metrics = set(re.findall(r"'((?:blog|azure)\.[\w.]+)'", query)) - {"blog.function", DATABASE}
    attributes = set(re.findall(r"customDimensions\['([\w.]+)'\]", query))

    assert metrics <= METRICS.keys() | {CHECK}
    assert bool(metrics) == ("customMetrics" in query)
    assert all(attributes <= METRICS[metric] for metric in metrics - {CHECK})
    # Sampling drops rows, so only their `itemCount` counts.
    assert not re.search(r"\bcount(if)?\(", query)


def test_alerts_use_recorded_metrics(compiled: Compiled) -> None:
    ((template, _),) = compiled.of_type("Microsoft.Insights/scheduledQueryRules")
    rules = template["variables"]["rules"]

    assert {rule["name"] for rule in rules} == _alerts().keys() - {"unavailable", "throughput"}
    for rule in rules:
        _assert_uses_recorded_metrics(rule["query"])


def _alerts() -> dict[str, str]:
    """The names of the alerts in the template, and their severities."""
    text = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8")
    rules, _, resources = text.partition("resource actionGroup")
    found = re.findall(r"name: 'blog-([^']+?)-\$\{suffix\}'.*?severity: (\d)", resources, re.DOTALL)
    severities = dict(found)
    of_rules = severities.pop("${rule.name}")
    return severities | dict.fromkeys(re.findall(r"^    name: '(.+)'", rules, re.MULTILINE), of_rules)


def test_every_alert_is_documented_with_its_severity() -> None:
    page = (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")
    section = page.partition("\n## Alerts\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip(" `") for cell in row.split("|")[1:-1]] for row in section.splitlines() if row.startswith("| `")
    ]

    assert {name: severity for name, _, _, severity, _ in rows} == _alerts()


def test_the_query_for_slow_calls_counts_what_sampling_dropped() -> None:
    """An alert on few calls would fire after one slow start."""
    text = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8").partition("name: 'slow-database'")[2]
    query = text.partition("'''")[2].partition("'''")[0]

    _assert_uses_recorded_metrics(query)
    assert f"| where type == '{DATABASE}'\n" in query
    assert "percentilew(duration, itemCount, 99), calls = sum(itemCount)" in query
    assert "| where calls >= 100\n" in query


def test_the_alert_on_throttling_counts_each_operation_once() -> None:
    """A throttled operation has a charge, too (record_response), so it is one of the operations."""
    text = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8")

    assert "| project value = 100.0 * throttled / operations " in text


def test_the_alert_on_throughput_does_not_average_partitions() -> None:
    text = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8")
    criterion = text.partition("metricName: 'NormalizedRUConsumption'")[2].partition("actions:")[0]

    assert re.findall(r"name: '(\w+)'", criterion) == ["CollectionName", "PartitionKeyRangeId"]


def test_the_standstill_alert_knows_all_commands_and_change_feeds() -> None:
    query = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8").partition("name: 'standstill'")[2]
    (commands,) = re.findall(r"matches regex '(.*?)'", query)
    names = [one.name for one in operations_of(users, posts, comments, likes) if one.is_command]

    assert [name for name in names if not re.match(commands, name)] == []
    assert {name for name in names if name.endswith("_user")} == {"create_user", "edit_user", "delete_user"}
    assert [function for function in CHANGE_FEEDS if f"'{function}'" not in query] == []


def test_the_standstill_alert_rests_on_the_command_that_the_scheduled_workflow_runs() -> None:
    alerts = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8")
    recorded = (REPOSITORY / "management" / "lag.py").read_text(encoding="utf-8")
    workflow = (REPOSITORY / ".github" / "workflows" / "lag.yml").read_text(encoding="utf-8")

    assert f"'{CHECK}'" in alerts.partition("name: 'standstill'")[2].partition("name: 'failures'")[0]
    assert f'"{CHECK}"' in recorded
    assert "manage.py lag --max 300" in workflow
    # Neither a fork nor a clone signs in.
    assert "if: vars.AZURE_ENV_NAME != ''" in workflow


@pytest.mark.parametrize("name", CHARTS)
def test_charts_use_recorded_metrics(name: str) -> None:
    _assert_uses_recorded_metrics(CHARTS[name])


def test_the_app_records_these_metrics() -> None:
    files = (METRICS_OF_THE_PLATFORM, REPOSITORY / "shared" / "propagation" / "users.py")
    source = "".join(file.read_text(encoding="utf-8") for file in files).replace("{NAME}", NAME)

    names = set(re.findall(r'"((?:azure\.cosmosdb\.client|blog)\.[a-z_.]+)"', source))
    assert names - {"blog.function", "blog.items", "blog.kept"} == set(METRICS)


def test_the_workbook_shows_every_metric() -> None:
    text = json.dumps(list(CHARTS.values()))

    assert [metric for metric in METRICS if metric not in text] == []
