"""Fault rules: their effects, the requests they match, and how to add them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.__main__ import parse_arguments
from cosmos_emulator.faults import FaultRule, Faults, parse_rule
from cosmos_emulator.http.routes import ROUTES
from cosmos_emulator.latency import Latency
from cosmos_emulator.vocabulary.operation_names import OPERATION_NAMES, operation_name
from tests.errors import fails_with
from tests.item_operations import ITEM, PROCEDURE, run_every_item_operation

from tests.polling import eventually

Write = Callable[[], Coroutine[Any, Any, int]]


async def ids(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


@pytest.fixture
async def raw_write(emulator: CosmosEmulator, container: ContainerProxy) -> AsyncIterator[Write]:
    """A function that creates the item without an SDK that retries."""
    emulator.settings.check_signatures = False
    async with ClientSession() as session:

        async def write() -> int:
            url, headers = f"{emulator.endpoint}dbs/db/colls/items/docs", {"x-ms-documentdb-partitionkey": '["p"]'}
            async with session.post(url, json=ITEM, headers={**headers, "authorization": "none"}) as response:
                return response.status

        yield write


@pytest.mark.parametrize(
    ("status", "sub_status"),
    [(403, 0), (404, 0), (408, 0), (410, 1002), (413, 0), (429, 3200), (449, 0), (500, 0), (503, 0)],
)
async def test_a_fault_before_a_write_prevents_it(
    emulator: CosmosEmulator, container: ContainerProxy, status: int, sub_status: int
) -> None:
    with emulator.faults.during(f"{status} operation=create") as fault, fails_with(status, sub_status):
        await container.create_item(ITEM)

    assert fault.struck >= 1
    assert await ids(container) == []


@pytest.mark.parametrize(("status", "sub_status"), [(403, 1014), (404, 1003)])
async def test_a_fault_can_have_another_sub_status(
    emulator: CosmosEmulator, container: ContainerProxy, status: int, sub_status: int
) -> None:
    fault = f"{status} operation=create sub-status={sub_status}"
    with emulator.faults.during(fault), fails_with(status, sub_status):
        await container.create_item(ITEM)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3s", Latency(3.0)),
        ("1.5s±500ms", Latency(1.5, 0.5)),
        ("10ms", Latency(0.01)),
        ("10ms+-5ms", Latency(0.01, 0.005)),
        ("5min", Latency(300.0)),
        ("5m±30s", Latency(300.0, 30.0)),
        ("1.5 h", Latency(5400.0)),
    ],
)
def test_a_duration_has_a_unit_from_milliseconds_to_hours(text: str, expected: Latency) -> None:
    assert Latency.parse(text) == expected
    assert Latency.parse(str(expected)) == expected


@pytest.mark.parametrize("status", [408, 449, 500])
async def test_a_fault_after_a_write_does_not_undo_it(
    emulator: CosmosEmulator, container: ContainerProxy, status: int
) -> None:
    with emulator.faults.during(f"{status} operation=create when=after") as fault, fails_with(status):
        await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


@pytest.mark.parametrize("effect", ["503", "drop"])
async def test_the_sdk_retries_a_create_that_lost_its_response_and_gets_409(
    emulator: CosmosEmulator, container: ContainerProxy, effect: str
) -> None:
    with emulator.faults.during(f"{effect} operation=create when=after times=1") as fault, fails_with(409):
        await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


async def test_the_sdk_retries_a_429_after_the_given_delay(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    fault = emulator.faults.add("429 operation=create times=3 retry-after-ms=20")
    began = time.monotonic()

    await container.create_item(ITEM)

    assert time.monotonic() - began >= 0.06
    assert fault.struck == 3
    assert await ids(container) == ["a"]


async def test_the_sdk_retries_a_failed_read(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    await container.create_item(ITEM)
    fault = emulator.faults.add("408 operation=read times=1")

    assert (await container.read_item("a", "p"))["id"] == "a"
    assert fault.struck == 1


async def test_a_connection_dropped_before_a_write_prevents_it(
    emulator: CosmosEmulator, container: ContainerProxy, raw_write: Write
) -> None:
    with emulator.faults.during("drop operation=create") as fault, pytest.raises(ClientConnectionError):
        await raw_write()

    assert fault.struck == 1
    assert await ids(container) == []


async def test_the_sdk_retries_a_write_whose_connection_was_dropped(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("drop operation=create times=1")

    await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


async def test_a_request_hanging_before_its_write_writes_nothing_if_the_client_disconnects(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("hang operation=create")
    writing = asyncio.create_task(container.create_item(ITEM))
    await eventually(lambda: fault.hanging == 1)

    writing.cancel()
    await eventually(lambda: fault.hanging == 0)

    assert await ids(container) == []


async def test_a_request_hanging_after_its_write_has_stored_the_item(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("hang operation=create when=after")
    writing = asyncio.create_task(container.create_item(ITEM))
    await eventually(lambda: fault.hanging == 1)

    assert await ids(container) == ["a"]
    writing.cancel()
    await eventually(lambda: fault.hanging == 0)


async def test_a_hanging_request_is_dropped_after_its_time_or_when_its_fault_is_removed(
    emulator: CosmosEmulator, raw_write: Write
) -> None:
    with emulator.faults.during("hang operation=create hang-ms=30"), pytest.raises(ClientConnectionError):
        await raw_write()
    fault = emulator.faults.add("hang operation=create")
    writing = asyncio.create_task(raw_write())
    await eventually(lambda: fault.struck == 1)

    emulator.faults.remove(fault)

    with pytest.raises(ClientConnectionError):
        await writing


async def test_the_emulator_stops_while_requests_hang(settings: EmulatorSettings) -> None:
    fault = settings.faults.add("hang operation=read-account")
    async with ClientSession() as session:
        async with CosmosEmulator(settings) as emulator:
            settings.check_signatures = False
            asking = asyncio.create_task(session.get(emulator.endpoint).__aenter__())
            await eventually(lambda: fault.struck == 1)
            began = time.monotonic()

        assert time.monotonic() - began < 6  # it waits 6 s for other requests
        with pytest.raises(ClientConnectionError):
            await asking


async def test_a_rule_can_match_each_item_operation_by_name(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.scripts.create_stored_procedure(PROCEDURE)
    names = ("batch", "change-feed", "create", "delete", "execute", "feed", "patch", "query", "read", "replace")
    faults = {name: emulator.faults.add(f"500 operation={name} probability=0") for name in (*names, "upsert")}

    await run_every_item_operation(container)

    # The SDK reads the change feed until it is empty, so that count varies.
    assert {name for name, fault in faults.items() if fault.matched} == {*names, "upsert"}
    assert {name: fault.matched for name, fault in faults.items() if name != "change-feed"} == dict.fromkeys(
        [name for name in faults if name != "change-feed"], 1
    )


def test_every_route_has_an_operation_name() -> None:
    assert {operation_name(operation) for operation in ROUTES.values()} <= OPERATION_NAMES


async def test_a_rule_matches_only_its_database_container_script_and_partition_key(
    emulator: CosmosEmulator, database: DatabaseProxy, container: ContainerProxy
) -> None:
    other = await database.create_container("other", PartitionKey("/pk"))
    await container.scripts.create_stored_procedure(PROCEDURE)
    await container.scripts.create_stored_procedure({**PROCEDURE, "id": "other"})
    by_key = emulator.faults.add('500 operation=create database=db container=items partition-key=["p"]')
    by_script = emulator.faults.add("500 script=add")
    emulator.faults.add("500 operation=create database=none")

    await other.create_item(ITEM)
    await container.create_item({"id": "a", "pk": "q"})
    await container.scripts.execute_stored_procedure("other", partition_key="p")
    with fails_with(500):
        await container.create_item(ITEM)
    with fails_with(500):
        await container.scripts.execute_stored_procedure("add", partition_key="p")

    assert (by_key.struck, by_script.struck) == (1, 1)


async def test_a_container_rule_matches_requests_by_rid(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    item = await container.create_item(ITEM)

    with emulator.faults.during("500 operation=replace database=db container=items"), fails_with(500):
        await container.replace_item(item, ITEM)


async def test_a_script_rule_matches_writes_that_name_the_trigger(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    with emulator.faults.during("500 script=stamp"):
        await container.create_item(ITEM)
        with fails_with(500):
            await container.create_item({"id": "b", "pk": "p"}, pre_trigger_include="stamp")


async def test_a_rule_skips_and_then_strikes_a_given_number_of_requests(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("449 operation=create skip=2 times=1")
    struck = []
    for number in range(5):
        try:
            await container.create_item({"id": str(number), "pk": "p"})
        except CosmosHttpResponseError:
            struck.append(number)

    assert struck == [2]
    assert (fault.matched, fault.struck, fault.is_spent) == (3, 1, True)


async def test_the_same_seed_strikes_the_same_requests(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    rounds = []
    for _ in range(2):
        struck = []
        with emulator.faults.during("449 operation=upsert probability=0.5 seed=7"):
            for number in range(20):
                try:
                    await container.upsert_item(ITEM)
                except CosmosHttpResponseError:
                    struck.append(number)
        rounds.append(struck)

    assert rounds[0] == rounds[1]
    assert 0 < len(rounds[0]) < 20


async def test_a_fault_after_an_operation_ignores_failed_operations(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item(ITEM)

    with emulator.faults.during("500 operation=create when=after") as fault, fails_with(409):
        await container.create_item(ITEM)

    assert fault.struck == 0


async def test_rules_can_be_added_counted_and_removed_over_http(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    url = f"{emulator.endpoint}_emulator/faults"
    async with ClientSession() as session:
        await session.put(url, json=[{"fault": "drop", "script": "none"}])
        added = await session.post(url, json={"fault": 500, "operation": ["create"], "partition-key": ["p"]})
        number = (await added.json())["id"]
        with fails_with(500):
            await container.create_item(ITEM)
        listed = await (await session.get(url)).json()
        removed = await (await session.delete(f"{url}/{number}")).json()
        await container.create_item(ITEM)
        left = await (await session.delete(url)).json()

    rule = {"id": number, "fault": 500, "operation": ["create"], "partition-key": '["p"]'}
    counted = {**rule, "matched": 1, "struck": 1, "hanging": 0}
    assert added.status == 201
    assert (listed["faults"][1], removed) == (counted, counted)
    assert left == {"faults": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/faults", {"fault": 418}, {}, 400),
        ("POST", "/faults", [], {}, 400),
        ("PUT", "/faults", {}, {}, 400),
        ("PATCH", "/faults", {}, {}, 405),
        ("DELETE", "/faults/99", {}, {}, 404),
        ("GET", "/nothing", {}, {}, 404),
        ("DELETE", "/faults", {}, {"Origin": "http://elsewhere.test"}, 403),
    ],
)
async def test_an_invalid_rule_request_changes_nothing(
    emulator: CosmosEmulator, method: str, path: str, body: Any, headers: dict[str, str], status: int
) -> None:
    existing = emulator.faults.add("500 operation=create")

    async with (
        ClientSession() as session,
        session.request(method, f"{emulator.endpoint}_emulator{path}", json=body, headers=headers) as response,
    ):
        assert response.status == status

    assert list(emulator.faults) == [existing]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a fault must be one of 403, 404"),
        ("405", "not '405'"),
        ("500 create", "'create' is not valid"),
        ("500 times=1 times=2", "each name once"),
        ("500 operation=creat", "operation must be one of batch, change-feed"),
        ("500 color=red", "'color' is not a property of a fault"),
        ("500 times=-1", "times must be a non-negative integer"),
        ("500 probability=2", "probability must be between 0 and 1"),
        ("500 probability=often", "probability must be between 0 and 1"),
        ("500 when=later", "before or after"),
        ("500 partition-key=[", "partition-key must be one value or a JSON array"),
        ("{", "not a JSON text"),
    ],
)
def test_an_invalid_rule_is_rejected_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        parse_rule(text)


@pytest.mark.parametrize(
    "rule",
    [
        FaultRule("drop", when="after", operations=frozenset({"create", "batch"}), database="d", container="c"),
        FaultRule(429, script="s", partition_key='["a",1]', times=2, skip=1, retry_after_ms=5, sub_status=0),
        FaultRule("hang", hang_ms=10, probability=0.25, seed=3),
    ],
)
def test_a_rule_survives_a_json_round_trip(rule: FaultRule) -> None:
    assert parse_rule(rule.as_json()) == rule


def test_the_command_line_sets_faults_latency_and_switches() -> None:
    settings = parse_arguments(
        [
            "--fault",
            "429 operation=create",
            "--fault",
            '{"fault": "drop"}',
            "--latency",
            "10ms±5ms",
            "--throttle",
            "--rbac",
        ]
    )

    assert [fault.rule.effect for fault in settings.faults] == [429, "drop"]
    assert settings.latency == Latency(0.010, 0.005)
    assert (settings.throttle, settings.rbac, settings.tls) == (True, True, False)


@pytest.mark.parametrize("arguments", [["--fault", "405"], ["--latency", "10"], ["--latency", "5ms±10ms"]])
def test_an_invalid_option_prints_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(arguments)

    assert "usage:" in capsys.readouterr().err


async def test_latency_delays_concurrent_requests_in_parallel(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item(ITEM)
    emulator.settings.latency = Latency.parse("500ms±250ms")
    began = time.monotonic()

    await asyncio.gather(*(container.read_item("a", "p") for _ in range(20)))

    assert 0.25 <= time.monotonic() - began < 5  # sequential delays would take at least 5 s in total


def test_faults_number_their_initial_rules() -> None:
    assert [fault.number for fault in Faults("500", FaultRule("drop"))] == [1, 2]
