"""Telemetry in Application Insights, whose ingestion endpoint is a local server here."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

import pytest
from aiohttp import ClientSession

from checks.smoke.checks import check_feed, check_health, check_start_from_zero, check_telemetry
from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.items import a_post, a_user, unique
from tests.platform.telemetry.conftest import OFTEN
from tests.platform.telemetry.following import new_traceparent, span_of
from tests.platform.telemetry.ingestion import TOKEN, Ingestion
from tests.platform.telemetry.sink import TelemetrySink
from tests.polling import eventually
from tests.running_app import RunningApp, provisioned, running_app

CLIENT_ID = "5d3c5b1e-2f0e-4f63-9d53-0f9c2f7f3d11"


@pytest.fixture(scope="module")
def ingestion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingestion]:
    with Ingestion(tmp_path_factory.mktemp("ingestion")) as listening:
        yield listening


@pytest.fixture(scope="module")
def own_sink() -> Iterator[TelemetrySink]:
    with TelemetrySink() as listening:
        yield listening


@pytest.fixture(scope="module")
def monitored_app(
    emulator: EmulatorThread, ingestion: Ingestion, own_sink: TelemetrySink, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    """The app with the settings that it has in Azure, and an OTLP endpoint, too."""
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("monitored")))
    address = f"InstrumentationKey={uuid.uuid4()};IngestionEndpoint={ingestion.endpoint}"
    environment = {
        "APPLICATIONINSIGHTS_CONNECTION_STRING": address,
        "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": f"Authorization=AAD;ClientId={CLIENT_ID}",
        "OTEL_EXPORTER_OTLP_ENDPOINT": own_sink.endpoint,
        "OTEL_TRACES_SAMPLER": "always_on",
        # Where App Service and Functions hand out tokens of a managed identity.
        "IDENTITY_ENDPOINT": f"{ingestion.endpoint}identity",
        "IDENTITY_HEADER": "secret",
        "REQUESTS_CA_BUNDLE": str(ingestion.certificate),
        "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true",
        "OTEL_SERVICE_NAME": "func-test",
        **OFTEN,
    }
    with running_app(settings, tmp_path_factory.mktemp("monitored") / "host.log", environment=environment) as app:
        yield app


@pytest.fixture
async def monitored_api(monitored_app: RunningApp) -> object:
    async with ClientSession() as session:
        yield Api(session, monitored_app.url, monitored_app.openapi)


async def test_a_request_and_its_database_calls_are_dependencies(monitored_api: Api, ingestion: Ingestion) -> None:
    await monitored_api.new_user()  # the first request also reads the container
    traceparent, trace_id = new_traceparent()

    await monitored_api.create_user(unique("ada"), {"traceparent": traceparent})

    def spans() -> list[dict[str, object]]:
        in_trace = [one for one in ingestion.envelopes if one["tags"].get("ai.operation.id") == trace_id]
        return [one["data"]["baseData"] for one in in_trace]

    await eventually(lambda: "create_user" in [span["name"] for span in spans()])
    assert sorted((span["name"], span["type"]) for span in spans()) == [
        ("create users", "azure.cosmosdb"),
        ("create users", "azure.cosmosdb"),
        ("create_user", "InProc"),
    ]
    # The host reports requests, and the log.
    assert ingestion.of_type("RequestData") == []
    assert ingestion.of_type("MessageData") == []


async def test_failures_are_kept_if_the_host_drops_their_trace(
    monitored_app: RunningApp, monitored_api: Api, ingestion: Ingestion
) -> None:
    """The host drops the log of a trace that it does not record."""
    recorded, dropped = (new_traceparent()[0] for _ in range(2))
    dropped = dropped.removesuffix("-01") + "-00"
    async with connect(monitored_app.settings) as client:
        posts = client.get_database_client(monitored_app.settings.database).get_container_client("posts")
        damaged = await posts.create_item(a_post(a_user()) | {"title": 1})

    answers = [
        await monitored_api.get_post(damaged["id"], {"traceparent": traceparent}) for traceparent in (recorded, dropped)
    ]

    def kept() -> list[str]:
        return [one["message"] for one in ingestion.of_type("MessageData") if damaged["id"] in one["message"]]

    assert {answer.status for answer in answers} == {503}
    await eventually(kept)
    assert [line.startswith("item damaged ") and dropped.split("-")[1] in line for line in kept()] == [True]


async def test_an_otlp_endpoint_gets_the_same_spans_and_metrics(monitored_api: Api, own_sink: TelemetrySink) -> None:
    await monitored_api.new_user()  # the first command of a process also reads the containers
    traceparent, trace_id = new_traceparent()

    await monitored_api.create_user(unique("ada"), {"traceparent": traceparent})

    request = await span_of(own_sink, trace_id, "create_user")
    assert [span.name for span in own_sink.spans if span.parent_id == request.span_id] == ["create users"] * 2
    await eventually(lambda: own_sink.metric("azure.cosmosdb.client.operation.request_charge"))


async def test_metrics_keep_their_names_and_attributes(monitored_api: Api, ingestion: Ingestion) -> None:
    await monitored_api.new_user()

    def charges() -> list[dict[str, object]]:
        metrics = ingestion.of_type("MetricData")
        return [one for one in metrics if one["metrics"][0]["name"] == "azure.cosmosdb.client.operation.request_charge"]

    await eventually(charges)
    assert {"blog.function": "create_user", "db.collection.name": "users"} in [one["properties"] for one in charges()]


async def test_a_delivery_links_to_the_request_that_caused_it(monitored_api: Api, ingestion: Ingestion) -> None:
    author = await monitored_api.new_user()
    traceparent, trace_id = new_traceparent()

    await monitored_api.create_post(author["id"], "A title", "Some content.", {"traceparent": traceparent})

    def linked() -> list[dict[str, object]]:
        spans = ingestion.of_type("RemoteDependencyData")
        return [span for span in spans if trace_id in span.get("properties", {}).get("_MS.links", "")]

    await eventually(linked)
    assert [span["name"] for span in linked()] == ["on_posts_changed"]


async def test_telemetry_is_sent_with_the_tokens_of_the_managed_identity(
    monitored_api: Api, ingestion: Ingestion
) -> None:
    await monitored_api.new_user()

    await eventually(lambda: ingestion.envelopes)

    assert ingestion.authorizations == {f"Bearer {TOKEN}"}
    assert {request["client_id"][0] for request in ingestion.token_requests} == {CLIENT_ID}


class LocalTelemetry:
    """The log of the local host, and what the app sends to Application Insights."""

    def __init__(self, app: RunningApp, ingestion: Ingestion) -> None:
        self._app, self._ingestion = app, ingestion

    async def log_lines(self, containing: str) -> int:
        return len(self._app.log_lines(containing=containing))

    async def deliveries_caused_by(self, trace_id: str) -> Sequence[str]:
        spans = self._ingestion.of_type("RemoteDependencyData")
        return [span["name"] for span in spans if trace_id in span.get("properties", {}).get("_MS.links", "")]

    async def role_names(self) -> Sequence[str]:
        return list({envelope["tags"]["ai.cloud.role"] for envelope in self._ingestion.envelopes})


@pytest.mark.nightly
async def test_the_local_stack_passes_the_smoke_test(
    monitored_api: Api, monitored_app: RunningApp, ingestion: Ingestion
) -> None:
    telemetry = LocalTelemetry(monitored_app, ingestion)

    async def is_idle() -> bool:
        return True  # an app in one process has nothing to scale

    await check_health(monitored_api.session, monitored_app.url, eventually)
    trace_id = await check_feed(monitored_api, eventually)
    await check_start_from_zero(monitored_api, is_idle, eventually)
    await check_telemetry(telemetry, trace_id, eventually)

    assert await telemetry.role_names() == ["func-test"]
