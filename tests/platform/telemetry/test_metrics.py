"""The metrics of requests and change feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread
from tests.gateway import Gateway, Operation
from tests.items import a_post, a_user, unique
from tests.platform.telemetry.conftest import OFTEN
from tests.platform.telemetry.sink import ReceivedSpan, TelemetrySink
from tests.polling import eventually
from tests.running_app import provisioned, running_app

CHARGE = "azure.cosmosdb.client.operation.request_charge"


async def test_the_charge_is_known_by_function_and_container(traced_api: Api, sink: TelemetrySink) -> None:
    user = await traced_api.new_user()

    await traced_api.get_user(user["id"])

    attributes = {"blog.function": "get_user", "db.collection.name": "users"}
    found = await eventually(lambda: [one for one in sink.metric(CHARGE) if one.attributes == attributes])
    assert found[0].count >= 1
    assert found[0].sum / found[0].count == 1.0


async def test_the_lag_of_each_feed_is_measured(traced_api: Api, sink: TelemetrySink) -> None:
    await traced_api.new_post(await traced_api.new_user())

    def functions() -> set[str]:
        return {one.attributes["blog.function"] for one in sink.metric("blog.change_feed.lag")}

    await eventually(lambda: functions() == {"on_posts_changed", "on_users_changed"})


async def test_a_change_that_fails_is_counted(traced_api: Api, stored: Blog, sink: TelemetrySink) -> None:
    await stored.posts.create({**a_post(a_user()), "content": 1})

    def failures() -> float:
        points = sink.metric("blog.change_feed.failures")
        return sum(one.sum for one in points if one.attributes == {"blog.function": "on_posts_changed"})

    await eventually(lambda: failures() >= 1)


@pytest.fixture
def own_sink() -> Iterator[TelemetrySink]:
    """A sink that no other app sends its metrics to."""
    with TelemetrySink() as listening:
        yield listening


@pytest.fixture
async def throttled_api(
    emulator: EmulatorThread, own_sink: TelemetrySink, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Api, Gateway]]:
    """An app with telemetry behind a gateway."""
    with Gateway(emulator.endpoint) as gateway:
        settings = provisioned(Settings(account=Account(gateway.endpoint, emulator.key), database=unique("throttled")))
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": own_sink.endpoint, **OFTEN}
        log = tmp_path_factory.mktemp("throttled") / "host.log"
        with running_app(settings, log, environment=environment) as app:
            async with ClientSession() as session:
                yield Api(session, app.url, app.openapi), gateway


async def test_throttled_operations_and_retries_are_counted(
    throttled_api: tuple[Api, Gateway], own_sink: TelemetrySink
) -> None:
    api, gateway = throttled_api
    user = await api.new_user()
    before = {name: _of_users(own_sink, name) for name in ("blog.throttled", "blog.retries")}

    seen: list[Operation] = []

    def first_two(operation: Operation) -> bool:
        seen.extend([operation] if operation.name == "read users" else [])
        return operation.name == "read users" and len(seen) <= 2

    with gateway.answering(first_two, 429, headers={"x-ms-retry-after-ms": "10"}):
        answer = await api.get_user(user["id"])

    assert answer.status == 200
    for name in before:
        await eventually(lambda name=name: _of_users(own_sink, name) == before[name] + 2)

    def resends() -> list[ReceivedSpan]:
        return [span for span in own_sink.named("point read users") if "http.request.resend_count" in span.attributes]

    await eventually(lambda: len(resends()) == 2)
    assert [(span.attributes["http.request.resend_count"], span.is_error) for span in resends()] == [
        (1, True),
        (2, False),
    ]


def _of_users(sink: TelemetrySink, name: str) -> float:
    return sum(one.sum for one in sink.metric(name) if one.attributes == {"db.collection.name": "users"})
