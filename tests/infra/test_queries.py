"""Microsoft's language service binds the queries of alerts, workbook and pages: `npm ci --prefix tests/validators`.

Tables and columns: https://learn.microsoft.com/azure/azure-monitor/app/data-model-complete and
https://learn.microsoft.com/azure/azure-monitor/reference/tables/cdbpartitionkeystatistics.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.running_app import REPOSITORY

MODULES = REPOSITORY / "tests" / "validators" / "node_modules"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(
    not (NODE and (MODULES / "@kusto").exists()), reason="the language service of Kusto is not installed"
)
_OF_ALL = (
    "timestamp:datetime, itemCount:int, customDimensions:dynamic, operation_Id:string, operation_Name:string,"
    " cloud_RoleName:string, cloud_RoleInstance:string"
)
TABLES = {
    "customMetrics": f"{_OF_ALL}, name:string, valueSum:real, valueCount:int, valueMin:real, valueMax:real",
    "requests": f"{_OF_ALL}, id:string, name:string, url:string, success:string, resultCode:string, duration:real",
    "dependencies": f"{_OF_ALL}, id:string, name:string, type:string, target:string, data:string, success:string,"
    " resultCode:string, duration:real",
    "traces": f"{_OF_ALL}, message:string, severityLevel:int",
    "exceptions": f"{_OF_ALL}, type:string, outerMessage:string",
    "_LogOperation": "TimeGenerated:datetime, Category:string, Operation:string, Level:string, Detail:string",
    "CDBPartitionKeyStatistics": "TimeGenerated:datetime, DatabaseName:string, CollectionName:string,"
    " PartitionKey:string, SizeKb:int",
}


def _queries() -> dict[str, str]:
    """All queries, each under the place where it stands."""
    alerts = (REPOSITORY / "infra" / "alerts.bicep").read_text(encoding="utf-8")
    workbook = json.loads((REPOSITORY / "infra" / "workbook.json").read_text(encoding="utf-8"))
    page = (REPOSITORY / "docs" / "telemetry.md").read_text(encoding="utf-8")
    charts = {item["name"]: "".join(item["content"]["query"]) for item in workbook["items"] if item["type"] == 3}
    blocks = enumerate(re.findall(r"```kusto\n(.*?)```", page, re.DOTALL))
    return (
        dict(re.findall(r"name: '([\w-]+)'(?:(?!\n  \}).)*?query: '''(.*?)'''", alerts, re.DOTALL))
        | {name: query.replace("{TimeRange:grain}", "5m") for name, query in charts.items()}
        | {f"telemetry.md, {number}": query for number, query in blocks}
    )


def _errors(queries: dict[str, str]) -> dict[str, list[str]]:
    """Return the errors of each query that has any."""
    run = subprocess.run(  # noqa: S603 - a file of ours
        [str(NODE), str(Path(__file__).with_name("kusto.js"))],
        input=json.dumps({"tables": TABLES, "queries": queries}),
        env=os.environ | {"NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return {name: errors for name, errors in json.loads(run.stdout).items() if errors}


def test_queries_use_tables_columns_and_functions_that_exist() -> None:
    queries = _queries()

    assert {"throttled", "restarts", "Change-feed lag (s)", "telemetry.md, 2"} <= queries.keys()
    assert _errors(queries) == {}


def test_an_unknown_column_is_an_error() -> None:
    assert _errors({"wrong": "requests | where statusCode == 500", "right": "requests | take 1"}).keys() == {"wrong"}
