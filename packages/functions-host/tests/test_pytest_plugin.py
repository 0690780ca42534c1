"""The fixture `functions_app`: the first example of the README."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest
from azure.cosmos import PartitionKey
from azure.functions.timer import TimerRequest
from functions_host import HostStartError, InvocationError, ListenerStartError, StartFunctions
from tests.running import write_app

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
def test_a_change_feed_function_is_tested_in_one_process(
    cosmos: Any, functions_app: StartFunctions, app_dir: Path
) -> None:
    database = cosmos.client().create_database("shop")
    orders = database.create_container("orders", PartitionKey("/customer"))
    app = functions_app(app_dir, connection="COSMOS")
    began = time.monotonic()

    for name in ("ada", "bob", "cyd", "dan"):
        orders.create_item({"id": "1", "customer": name})
    app.catch_up("count_order")

    assert [app.client.get(f"/api/orders/{name}").json() for name in ("ada", "bob", "cyd", "dan")] == [{"count": 1}] * 4
    leases = list(
        database.get_container_client("leases").query_items("SELECT * FROM c", enable_cross_partition_query=True)
    )
    assert sum(bool(lease.get("ContinuationToken")) for lease in leases) >= 1
    # The test does not wait for the poll delay, which is 5 s.
    assert time.monotonic() - began < 4


def test_a_function_is_invoked_with_items(cosmos: Any, functions_app: StartFunctions, app_dir: Path) -> None:
    cosmos.client().create_database("shop").create_container("orders", PartitionKey("/customer"))
    app = functions_app(app_dir, connection="COSMOS")

    app.invoke("count_order", [{"customer": "ada", "amount": 2}])
    with pytest.raises(InvocationError, match="KeyError") as failed:
        app.invoke("COUNT_ORDER", [{}])
    app.invoke("count_order", func.DocumentList([func.Document.from_dict({"customer": "ada", "amount": 3})]))
    for data in ({"customer": "ada"}, 1):
        with pytest.raises(TypeError, match="'count_order' needs a list of items"):
            app.invoke("count_order", data)

    assert isinstance(failed.value.__cause__, KeyError)
    assert app.client.get("/api/orders/ada").json() == {"count": 5}


async def test_requests_return_status_headers_and_body(functions_app: StartFunctions, tmp_path: Path) -> None:
    app = functions_app(
        write_app(tmp_path, APP.partition("@app.cosmos")[0] + "@app.route(" + APP.partition("@app.route(")[2])
    )
    created, missing = app.client.post("/api/orders/ada", json={"amount": 2}), app.client.get("/api/missing")

    assert (created.status_code, created.json(), created.headers["content-type"]) == (
        201,
        {"amount": 2},
        "text/plain; charset=utf-8",
    )
    assert (missing.status_code, missing.content) == (404, b"")
    with pytest.raises(ValueError, match="'orders' has no Cosmos DB trigger, but a httpTrigger"):
        app.catch_up("orders")
    with pytest.raises(ValueError, match=r"'orders' has an HTTP trigger: .*app\.client"):
        app.invoke("orders")
    for call in (app.invoke, app.outputs, app.catch_up):
        with pytest.raises(LookupError, match="no enabled function 'nope', only: orders"):
            call("nope")


def test_requests_have_forms_files_bytes_and_redirects(functions_app: StartFunctions, tmp_path: Path) -> None:
    source = """
@app.route(route="echo/{name}", methods=["POST"])
def echo(req):
    if req.route_params["name"] == "away":
        return func.HttpResponse(status_code=302, headers={"Location": "/"})
    return func.HttpResponse(req.get_body(), headers={"X-Name": req.route_params["name"]})
"""
    client = functions_app(write_app(tmp_path, source)).client

    assert client.post("/api/echo/a b", content=b"\xff").content == b"\xff"
    assert client.post("/api/echo/a b").headers["x-name"] == "a b"
    assert client.post("/api/echo/a", data={"a": "1 2"}).text == "a=1+2"
    assert client.post("/api/echo/away").status_code == 302


TIMER = """
import os

@app.timer_trigger(arg_name="timer", schedule="*/1 * * * * *", run_on_startup=True)
def tick(timer):
    with open(os.environ["CALLS"], "a") as calls:
        calls.write("x")
"""


def test_the_timers_of_two_apps_in_one_directory_run(functions_app: StartFunctions, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path / "app", TIMER)
    calls = [tmp_path / "first", tmp_path / "second"]

    for file in calls:
        functions_app(app_dir, environment={"CALLS": str(file)})
        deadline = time.monotonic() + 30
        while not file.is_file() and time.monotonic() < deadline:
            time.sleep(0.02)

    assert all(file.is_file() for file in calls)
    assert not (app_dir / ".data").exists()


RAISING = """
import asyncio
import sys

class Own(BaseException):
    pass

@app.route(route="raising")
{definition} raising(req):
    {statement}

@app.queue_trigger(arg_name="message", queue_name="orders", connection="STORAGE")
{definition} called(message):
    {statement}

@app.route(route="stay")
{definition} stay(req):
    return "ok"
"""


@pytest.mark.parametrize("definition", ["def", "async def"])
@pytest.mark.parametrize(
    "statement",
    [
        "sys.exit(3)",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "raise BaseExceptionGroup('several', [KeyboardInterrupt()])",
        "raise Own",
        "raise asyncio.CancelledError",
        "next(iter([]))",
    ],
)
def test_whatever_a_function_raises_is_a_failed_call(
    functions_app: StartFunctions,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    definition: str,
    statement: str,
) -> None:
    check_failed_call(functions_app, tmp_path, caplog, RAISING.format(definition=definition, statement=statement))


@pytest.mark.parametrize(
    "statement",
    [
        "asyncio.current_task().cancel(); await asyncio.sleep(60)",
        "asyncio.current_task().cancel()",
        "await asyncio.gather(asyncio.sleep(60), asyncio.to_thread(sys.exit, 3))",
        "await asyncio.create_task(exiting())\n\nasync def exiting():\n    sys.exit(3)",
    ],
)
def test_what_a_function_does_to_its_task_is_a_failed_call(
    functions_app: StartFunctions, tmp_path: Path, caplog: pytest.LogCaptureFixture, statement: str
) -> None:
    check_failed_call(functions_app, tmp_path, caplog, RAISING.format(definition="async def", statement=statement))


def check_failed_call(
    functions_app: StartFunctions, tmp_path: Path, caplog: pytest.LogCaptureFixture, source: str
) -> None:
    app = functions_app(write_app(tmp_path, source))

    assert app.client.get("/api/raising").status_code == 500
    with pytest.raises(InvocationError):
        app.invoke("called", func.QueueMessage(body=b""))
    assert app.client.get("/api/stay").text == "ok"
    assert re.search("function=raising .* outcome=failed", caplog.text)


def test_a_missing_container_is_named_at_once(cosmos: Any, functions_app: StartFunctions, app_dir: Path) -> None:
    began = time.monotonic()

    with pytest.raises(ListenerStartError, match=r"'count_order' was unable to start: .*shop"):
        functions_app(app_dir, connection="COSMOS")

    assert time.monotonic() - began < 10
    app = functions_app(app_dir, connection="COSMOS", wait=False)
    assert app.client.get("/api/orders/ada").json() == {"count": 0}


def test_functions_in_error_are_named_at_once(functions_app: StartFunctions, tmp_path: Path) -> None:
    source = """
@app.route(route="a")
def a(request):
    return "ok"

@app.route(route="a")
def b(req):
    return "ok"

@app.route(route="a")
def c(req):
    return "ok"
"""
    with pytest.raises(HostStartError, match=r"function 'a': cannot load.*function 'c': function 'b' already handles"):
        functions_app(write_app(tmp_path, source))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = (", r"SyntaxError: .*function_app\.py, line 3"),
        ("1 / 0", r"function_app\.py, line 3: ZeroDivisionError"),
        ("raise GeneratorExit", r"function_app\.py, line 3: GeneratorExit"),
        ("import no_such_package", r"function_app\.py, line 3: No module named 'no_such_package'"),
        ("raise SystemExit('no NAME')", "the app exits when it is imported: no NAME"),
    ],
)
def test_an_app_that_cannot_be_imported_cannot_start(
    functions_app: StartFunctions, tmp_path: Path, source: str, reason: str
) -> None:
    with pytest.raises(HostStartError, match=reason) as failed:
        functions_app(write_app(tmp_path, source))

    assert failed.value.__cause__ is not None


QUEUE = """
import json

@app.route(route="orders", methods=["POST"])
@app.queue_output(arg_name="message", queue_name="orders", connection="STORAGE")
def order(req: func.HttpRequest, message: func.Out[str]) -> func.HttpResponse:
    if req.params.get("send"):
        message.set(req.params["send"])
    return func.HttpResponse(status_code=202)

@app.queue_trigger(arg_name="message", queue_name="orders", connection="STORAGE")
@app.blob_output(arg_name="$return", path="orders/{id}", connection="STORAGE")
def store(message: func.QueueMessage):
    return message.get_body().decode().upper()
"""


def test_other_triggers_are_called_and_their_outputs_kept(functions_app: StartFunctions, tmp_path: Path) -> None:
    app = functions_app(write_app(tmp_path, QUEUE))

    assert app.client.post("/api/orders?send=a").status_code == 202
    assert app.client.post("/api/orders").status_code == 202
    app.invoke("store", func.QueueMessage(body=b"ada"))

    assert app.outputs("order") == [{"message": "a"}]
    assert app.outputs("STORE") == [{"$return": "ADA"}]


LATE = """
import logging

@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
def tick(timer{annotation}):
    logging.warning("timer %s", timer{past_due})

@app.generic_trigger(type="activityTrigger", arg_name="city")
def hello(city):
    return f"Hello {{city}}"
"""


@pytest.mark.parametrize(
    ("annotation", "past_due", "shown"),
    [("", ".past_due", ["timer True", "timer False"]), (": str", "[-6:]", ["timer  true}", "timer false}"])],
)
def test_timers_can_be_past_due_and_activities_return_values(
    functions_app: StartFunctions,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    annotation: str,
    past_due: str,
    shown: list[str],
) -> None:
    app = functions_app(write_app(tmp_path, LATE.format(annotation=annotation, past_due=past_due)))

    app.invoke("tick", TimerRequest(past_due=True))
    app.invoke("tick")
    with pytest.raises(TypeError, match="'tick' needs a TimerRequest"):
        app.invoke("tick", {"past_due": True})
    app.invoke("hello", "Ada")

    assert [record.getMessage() for record in caplog.records if record.msg == "timer %s"] == shown
    assert app.outputs("hello") == [{"$return": "Hello Ada"}]


FAILING = """
import threading
blocked = threading.Event()

@app.cosmos_db_trigger(arg_name="orders", connection="COSMOS", database_name="shop", container_name="orders",
                       create_lease_container_if_not_exists=True, lease_acquire_interval=100)
def count_order(orders):
    if "block" in orders[0]:
        blocked.wait()
    raise ValueError(orders[0]["id"])
"""


def test_catch_up_raises_what_a_lost_batch_raised_once(
    cosmos: Any, functions_app: StartFunctions, tmp_path: Path
) -> None:
    orders = cosmos.client().create_database("shop").create_container("orders", PartitionKey("/id"))
    app = functions_app(write_app(tmp_path, FAILING), connection="COSMOS")

    orders.create_item({"id": "first"})
    with pytest.raises(InvocationError, match=r"'count_order' failed; lost batches: 1; .*ValueError: first") as failed:
        app.catch_up("count_order")
    app.catch_up("count_order")

    assert isinstance(failed.value.__cause__, ValueError)


def test_a_timeout_of_catch_up_names_the_lease_and_the_last_failure(
    cosmos: Any, functions_app: StartFunctions, tmp_path: Path
) -> None:
    orders = cosmos.client().create_database("shop").create_container("orders", PartitionKey("/id"))
    app = functions_app(write_app(tmp_path, FAILING), connection="COSMOS")
    orders.create_item({"id": "first"})
    with pytest.raises(InvocationError):
        app.catch_up("count_order")

    orders.create_item({"id": "second", "block": True})
    with pytest.raises(
        TimeoutError, match=r"'count_order' has not caught up within 0\.5 s: lease 0 of this host .*ValueError: first"
    ):
        app.catch_up("count_order", timeout_s=0.5)
    sys.modules["function_app"].blocked.set()


@pytest.mark.parametrize("partitions", [2])
def test_catch_up_counts_the_checkpoints_of_another_app(
    cosmos: Any, functions_app: StartFunctions, tmp_path: Path
) -> None:
    source = FAILING.partition("    if")[0].replace("lease_acq", "feed_poll_delay=50, lease_acq") + "    pass\n"
    orders = cosmos.client().create_database("shop").create_container("orders", PartitionKey("/id"))
    apps = [functions_app(write_app(tmp_path / name, source), connection="COSMOS") for name in "ab"]

    for number in range(4):
        orders.create_item({"id": str(number)})
    for app in apps:
        app.catch_up("count_order", timeout_s=10)


class TestOrderOfFixtures:
    @pytest.fixture
    def cosmos(self) -> Iterator[None]:
        yield
        assert "RUNNING" not in os.environ, "the emulator stops before the app"

    @pytest.fixture
    def shop(self, cosmos: None) -> None:
        return None

    def test_the_app_stops_before_the_emulator(self, functions_app: StartFunctions, shop: None, tmp_path: Path) -> None:
        functions_app(write_app(tmp_path, ""), environment={"RUNNING": "yes"})
        assert "RUNNING" in os.environ
