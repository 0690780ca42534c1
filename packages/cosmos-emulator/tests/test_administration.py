"""`/_emulator/settings`, `/_emulator/load`, and who may call the endpoints of the emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import access
from cosmos_emulator.http.access import check_administrator, check_host
from cosmos_emulator.latency import Latency
from tests.clock import Clock
from tests.raw_client import RawClient

SWITCHED_OFF = {"latency": None, "replicaLag": None, "throttle": False, "rbac": False, "lenientOrderBy": False}


@pytest.fixture
async def session(emulator: CosmosEmulator) -> AsyncIterator[ClientSession]:
    async with ClientSession(emulator.endpoint) as opened:
        yield opened


async def change(session: ClientSession, body: Any, method: str = "PATCH") -> tuple[int, Any]:
    async with session.request(method, "/_emulator/settings", json=body) as response:
        return response.status, await response.json()


async def test_settings_can_be_read_and_changed_one_by_one(session: ClientSession, settings: EmulatorSettings) -> None:
    async with session.get("/_emulator/settings") as response:
        assert (response.status, await response.json()) == (200, SWITCHED_OFF)

    assert await change(session, {"latency": "20ms±5ms"}) == (200, {**SWITCHED_OFF, "latency": "20ms±5ms"})
    assert await change(session, {"throttle": True, "latency": None}) == (200, {**SWITCHED_OFF, "throttle": True})
    await change(session, {"replicaLag": "1000ms", "rbac": True, "lenientOrderBy": True})

    assert settings.replica_lag == Latency(1.0)
    assert (settings.throttle, settings.rbac, settings.lenient_order_by, settings.latency) == (True, True, True, None)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"latency": "fast"}, "'fast' is not a duration"),
        ({"latency": "9" * 400 + "ms"}, "is not a duration"),
        ({"throttle": "yes"}, "throttle must be true or false"),
        ({"replicaLag": 5}, "replicaLag must be a duration such as 500ms±200ms, or null"),
        ({"speed": 1}, "'speed' is not a setting that can be changed; use latency, replicaLag, throttle"),
        ([], "JSON object"),
    ],
)
async def test_an_invalid_change_names_the_mistake_and_changes_nothing(
    session: ClientSession, body: Any, named: str
) -> None:
    if isinstance(body, dict):
        body = {"throttle": True, **body}

    status, error = await change(session, body)

    assert (status, named in error["message"]) == (400, True), error
    assert (await change(session, {}))[1] == SWITCHED_OFF
    assert (await change(session, {}, "DELETE"))[0] == 405


async def test_the_load_tells_charge_and_requests_of_each_partition(
    session: ClientSession, container: ContainerProxy, clock: Clock
) -> None:
    rid = (await container.read())["_rid"]
    charged = 0.0
    for number in range(8):
        created = await container.create_item({"id": str(number), "pk": f"p{number}"})
        charged += float(created.get_response_headers()["x-ms-request-charge"])
    clock.advance(1)
    await container.read_item("1", "p1")

    load = await load_of(session, rid)

    assert load["now"] == int(clock())
    assert set(load["partitions"]) == {"0", "1", "2", "3"}
    seconds = [second for partition in load["partitions"].values() for second in partition]
    assert sum(one["chargeRu"] for one in seconds if one["second"] == load["now"] - 1) == pytest.approx(
        charged, abs=0.05
    )
    assert sum(one["requests"] for one in seconds) == 9
    assert [one["chargeRu"] for one in seconds if one["second"] == load["now"]] == [1.0]


async def test_the_load_of_an_old_second_is_forgotten(
    session: ClientSession, container: ContainerProxy, clock: Clock
) -> None:
    await container.create_item({"id": "1", "pk": "p"})
    rid = (await container.read())["_rid"]

    clock.advance(121)

    assert (await load_of(session, rid))["partitions"] == {}


@pytest.mark.parametrize("partitions", [1])
async def test_the_load_counts_throttled_requests(
    session: ClientSession, database: DatabaseProxy, settings: EmulatorSettings, raw: RawClient
) -> None:
    container = await database.create_container("items", PartitionKey("/pk"), offer_throughput=400)
    settings.throttle = True
    for number in range(2):
        await raw.create_item({"id": str(number), "pk": "p", "long": [str(one) for one in range(2000)]})

    load = await load_of(session, (await container.read())["_rid"])

    assert [one["throttled"] for one in load["partitions"]["0"]] == [1]


async def load_of(session: ClientSession, rid: str) -> Any:
    async with session.get("/_emulator/load", params={"container": rid}) as response:
        assert response.status == 200
        return await response.json()


@pytest.mark.parametrize("host", ["rebound.example.com:8081", "example.com", "127.0.0.1.example.com:1", "[bad"])
async def test_a_host_name_that_another_site_can_own_is_refused(session: ClientSession, host: str) -> None:
    for path in ("/", "/_emulator/faults", "/_explorer/", "/_emulator/health"):
        async with session.get(path, headers={"Host": host}) as response:
            assert (response.status, "localhost" in await response.text()) == (403, True), path


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8081",
        "127.0.0.1:9",
        "[::1]:8081",
        "[::1]",
        "app.localhost",
        "cosmos:8081",
        "host.docker.internal:8081",
    ],
)
def test_names_that_no_other_site_can_own_are_served(host: str) -> None:
    check_host(host, "127.0.0.1")


def test_other_machines_may_use_any_name_for_the_emulator() -> None:
    check_host("cosmos.example.com", "192.0.2.7")


def test_another_machine_may_administer_the_emulator_only_with_a_signature() -> None:
    with pytest.raises(CosmosError, match="be administered"):
        check_administrator({"Host": "cosmos"}, "192.0.2.7", has_key=False)
    check_administrator({"Host": "cosmos"}, "192.0.2.7", has_key=True)
    check_administrator({"Host": "localhost"}, "127.0.0.1", has_key=False)


@pytest.mark.parametrize("origin", ["http://other", "http://localhost:9", "null", "http://["])
def test_pages_of_other_sites_cannot_administer_the_emulator(origin: str) -> None:
    with pytest.raises(CosmosError, match="pages of other sites"):
        check_administrator({"Host": "localhost", "Origin": origin}, "127.0.0.1", has_key=True)
    check_administrator({"Host": "localhost", "Origin": "http://localhost"}, "127.0.0.1", has_key=True)


async def test_another_machine_administers_with_the_key_in_a_header(
    session: ClientSession, emulator: CosmosEmulator, raw: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As clients of a container do, whose requests come from another machine."""
    monkeypatch.setattr(access, "_is_loopback", lambda _peer: False)

    async def status(**headers: str) -> int:
        async with session.post("/_emulator/reset", headers=headers) as response:
            return response.status

    assert await status() == 403
    assert await status(Authorization="Bearer AAAA") == 403
    assert await status(Authorization="Bearer é") == 403
    assert await status(Authorization=f"Bearer {emulator.key}") == 204
    assert await status(Authorization=f"Bearer {emulator.key}", Origin="http://evil.example") == 403
    assert (
        await raw.send("GET", "/dbs", kind="dbs", headers={"authorization": f"Bearer {emulator.key}"})
    ).status == 401
