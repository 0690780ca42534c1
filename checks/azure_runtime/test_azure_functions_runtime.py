"""The deployment package under Microsoft's Python worker library, as in Azure.

Without the library these tests are skipped, or fail if REQUIRE_AZURE_FUNCTIONS_RUNTIME is set (`make test-runtime`).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator

import pytest
from functions_host import FunctionsHost, HostSettings

from checks.azure_runtime.environment import REPOSITORY, RuntimeUnavailable, runtime_python
from checks.azure_runtime.process import RuntimeWorker, runtime_worker
from management.package import build
from shared.platform.database.client import connect
from shared.platform.database.retries import DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import Blog, EmulatorThread
from tests.items import unique
from tests.platform.telemetry.sink import TelemetrySink
from tests.polling import eventually
from tests.running_app import environment_of, provisioned


@pytest.fixture(scope="module")
def settings(emulator: EmulatorThread) -> Settings:
    return provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("runtime")))


@pytest.fixture(scope="module")
def sink() -> Iterator[TelemetrySink]:
    with TelemetrySink() as listening:
        yield listening


@pytest.fixture(scope="module")
def worker(
    settings: Settings, sink: TelemetrySink, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RuntimeWorker]:
    """A worker on the unpacked deployment package, with only requirements.txt and the library installed."""
    try:
        python = runtime_python()
    except RuntimeUnavailable as reason:
        if "REQUIRE_AZURE_FUNCTIONS_RUNTIME" in os.environ:
            raise
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("runtime")
    build(folder / "package.zip")
    with zipfile.ZipFile(folder / "package.zip") as package:
        package.extractall(folder / "app")
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "50"}
    given = environment_of(settings) | environment
    with runtime_worker(python, folder / "app", given, folder / "worker.log") as running:
        yield running


async def test_the_worker_indexes_the_same_functions_as_the_local_host(
    worker: RuntimeWorker, settings: Settings
) -> None:
    environment = environment_of(settings)
    async with FunctionsHost(HostSettings(REPOSITORY, port=0, environment=environment, local_settings=False)) as host:
        local = {function.name: list(function.bindings) for function in host.functions.values()}

    assert worker.index["error"] is None
    assert {function["name"]: function["bindings"] for function in worker.index["functions"]} == local


def test_change_feed_functions_retry_forever(worker: RuntimeWorker) -> None:
    retries = {function["name"]: function["retry"] for function in worker.index["functions"] if function["retry"]}

    assert (DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST) == ("00:00:01", "00:01:00")
    endless = {"strategy": "exponential_backoff", "max_retry_count": -1, "seconds": [1, 60]}
    assert retries == {"on_posts_changed": endless, "on_users_changed": endless}


def test_the_worker_creates_and_reads_a_user(worker: RuntimeWorker) -> None:
    username = unique("ada")

    created = worker.http("create_user", "POST", "/api/users", body={"username": username})
    user_id = created.json["userId"]
    read = worker.http("get_user", "GET", f"/api/users/{user_id}", route={"userId": user_id})

    assert (created.status, read.status) == (201, 200)
    assert created.headers["location"] == f"/api/users/{user_id}"
    assert read.headers["content-type"] == "application/json"
    assert read.json == created.json
    assert read.json["username"] == username


def test_the_worker_returns_problem_details(worker: RuntimeWorker) -> None:
    unknown = worker.http("get_user", "GET", "/api/users/nobody", route={"userId": "nobody"})

    assert unknown.status == 404
    assert unknown.headers["content-type"] == "application/problem+json"


async def test_the_worker_copies_changes_to_the_feed(
    worker: RuntimeWorker, settings: Settings, emulator: EmulatorThread
) -> None:
    user = worker.http("create_user", "POST", "/api/users", body={"username": unique("ada")}).json
    new = {"userId": user["userId"], "title": "On engines", "content": "They weave."}
    post = worker.http("create_post", "POST", "/api/posts", body=new).json
    async with connect(settings) as client:
        stored = Blog(emulator, settings, client.get_database_client(settings.database))
        changes = await stored.changes(stored.posts)

    worker.changes("on_posts_changed", changes)

    feed = worker.http("get_feed", "GET", "/api/feed").json
    assert post["postId"] in [entry["postId"] for entry in feed["items"]]


def test_the_worker_renders_pages(worker: RuntimeWorker) -> None:
    user_id = worker.http("create_user", "POST", "/api/users", body={"username": unique("ada")}).json["userId"]
    new = {"userId": user_id, "title": "Pages", "content": "Shown"}
    post_id = worker.http("create_post", "POST", "/api/posts", body=new).json["postId"]

    front_page = worker.http("z_page", "GET", "/")
    user = worker.http("page_user", "GET", f"/users/{user_id}", route={"userId": user_id})
    missing = worker.http("z_page", "GET", "/nope", route={"path": "nope"})
    asset = worker.http("get_asset", "GET", "/assets/x/site.css", route={"version": "x", "name": "site.css"})
    docs = worker.http("get_docs", "GET", "/api/docs")

    post = worker.http("page_post", "GET", f"/posts/{post_id}", route={"postId": post_id})
    write = worker.http("page_write", "GET", "/write")
    atom = worker.http("get_atom", "GET", "/feed.atom")
    assert [shown.status for shown in (front_page, user, missing, asset, docs)] == [200, 200, 404, 200, 200]
    assert [shown.status for shown in (post, write, atom)] == [200, 200, 200]
    assert user.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in user.headers["content-security-policy"]
    assert front_page.body.startswith(b"<!doctype html>")


async def test_the_hosts_span_is_the_parent_of_the_functions_span(worker: RuntimeWorker, sink: TelemetrySink) -> None:
    of_request, of_delivery = (f"00-{digit * 32}-{digit * 16}-01" for digit in "ab")
    created = worker.http("create_user", "POST", "/api/users", body={"username": unique("ada")}, traceparent=of_request)
    renamed = {**created.json, "formerUsernames": ["ada"], "_etag": '"0"'}

    worker.changes("on_users_changed", [renamed], traceparent=of_delivery)

    [request] = await eventually(lambda: [one for one in sink.named("create_user") if one.trace_id == "a" * 32])
    [delivery] = await eventually(lambda: sink.named("on_users_changed"))
    assert request.parent_id == "a" * 16
    assert (delivery.trace_id, delivery.parent_id) == ("b" * 32, "b" * 16)
