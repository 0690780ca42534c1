"""The fixture `functions_app`: the first example of the README."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from functions_host import InvocationError
from functions_host.pytest_plugin import RunningFunctions
from tests.running import write_app

Start = Callable[..., RunningFunctions]
APP = """
import json
counts = {}

@app.cosmos_db_trigger(arg_name="orders", connection="COSMOS", database_name="shop", container_name="orders",
                       create_lease_container_if_not_exists=True)
def count_order(orders: func.DocumentList):
    for order in orders:
        counts[order["customer"]] = counts.get(order["customer"], 0) + order.get("amount", 1)

@app.route(route="orders/{customer}", methods=["GET", "POST"])
def orders(req):
    if req.method == "POST":
        return func.HttpResponse(req.get_body(), status_code=201)
    return func.HttpResponse(json.dumps({"count": counts.get(req.route_params["customer"], 0)}))
"""


@pytest.fixture
def app_dir(tmp_path: Path) -> Path:
    return write_app(tmp_path, APP)


@pytest.mark.parametrize("partitions", [3])
def test_a_change_feed_function_is_tested_in_one_process(cosmos: Any, functions_app: Start, app_dir: Path) -> None:
    database = cosmos.client().create_database("shop")
    orders = database.create_container("orders", PartitionKey("/customer"))
    app = functions_app(app_dir, connection="COSMOS")
    began = time.monotonic()

    for name in ("ada", "bob", "cyd", "dan"):
        orders.create_item({"id": "1", "customer": name})
    app.catch_up("count_order")

    assert [app.get(f"/api/orders/{name}").json() for name in ("ada", "bob", "cyd", "dan")] == [{"count": 1}] * 4
    leases = list(
        database.get_container_client("leases").query_items("SELECT * FROM c", enable_cross_partition_query=True)
    )
    assert sum(bool(lease.get("ContinuationToken")) for lease in leases) >= 1
    # The test does not wait for the poll delay, which is 5 s.
    assert time.monotonic() - began < 4


def test_a_function_is_invoked_with_items(cosmos: Any, functions_app: Start, app_dir: Path) -> None:
    cosmos.client().create_database("shop").create_container("orders", PartitionKey("/customer"))
    app = functions_app(app_dir, connection="COSMOS")

    app.invoke("count_order", [{"customer": "ada", "amount": 2}])
    with pytest.raises(InvocationError, match="KeyError") as failed:
        app.invoke("COUNT_ORDER", [{}])
    with pytest.raises(KeyError):
        app.invoke("missing")

    assert isinstance(failed.value.__cause__, KeyError)
    assert app.get("/api/orders/ada").json() == {"count": 2}


async def test_requests_return_status_headers_and_body(functions_app: Start, tmp_path: Path) -> None:
    app = functions_app(
        write_app(tmp_path, APP.partition("@app.cosmos")[0] + "@app.route(" + APP.partition("@app.route(")[2])
    )
    created, missing = app.post("/api/orders/ada", {"amount": 2}), app.get("/api/missing")

    assert (created.status, created.json(), created.headers["content-type"]) == (
        201,
        {"amount": 2},
        "text/plain; charset=utf-8",
    )
    assert (missing.status, missing.body) == (404, b"")
    with pytest.raises(KeyError):
        app.catch_up("orders")
