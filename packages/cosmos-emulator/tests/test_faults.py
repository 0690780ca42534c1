"""Faults on demand: what they do to a client, which requests they strike, and how they are given."""

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
from cosmos_emulator.http.latency import Latency
from cosmos_emulator.http.operation_names import OPERATION_NAMES, operation_name
from cosmos_emulator.http.routes import ROUTES
from tests.refusals import refused

from tests.polling import until

ITEM = {"id": "a", "pk": "p"}
Write = Callable[[], Coroutine[Any, Any, int]]
PROCEDURE = {"id": "add", "body": "function add() { getContext().getResponse().setBody(1); }"}


async def ids(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


@pytest.fixture
async def raw_write(emulator: CosmosEmulator, container: ContainerProxy) -> AsyncIterator[Write]:
    """Creates the item without a client that would try again."""
    emulator.settings.check_signatures = False
    async with ClientSession() as session:

        async def write() -> int:
            url, headers = f"{emulator.endpoint}dbs/db/colls/items/docs", {"x-ms-documentdb-partitionkey": '["p"]'}
            async with session.post(url, json=ITEM, headers={**headers, "authorization": "none"}) as answer:
                return answer.status

        yield write


@pytest.mark.parametrize(("status", "sub_status"), [(408, 0), (410, 1002), (429, 3200), (449, 0), (500, 0), (503, 0)])
async def test_a_fault_before_a_write_answers_its_status_and_nothing_is_written(
    emulator: CosmosEmulator, container: ContainerProxy, status: int, sub_status: int
) -> None:
    with emulator.faults.during(f"{status} operation=create") as fault, refused(status, sub_status):
        await container.create_item(ITEM)

    assert fault.struck >= 1
    assert await ids(container) == []


@pytest.mark.parametrize("status", [408, 449, 500])
async def test_a_fault_after_a_write_answers_its_status_and_the_write_stands(
    emulator: CosmosEmulator, container: ContainerProxy, status: int
) -> None:
    with emulator.faults.during(f"{status} operation=create when=after") as fault, refused(status):
        await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


@pytest.mark.parametrize("effect", ["503", "drop"])
async def test_a_create_that_lost_its_answer_is_repeated_by_the_sdk_and_conflicts_with_itself(
    emulator: CosmosEmulator, container: ContainerProxy, effect: str
) -> None:
    with emulator.faults.during(f"{effect} operation=create when=after times=1") as fault, refused(409):
        await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


async def test_a_429_is_repeated_by_the_sdk_after_the_time_that_it_names(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("429 operation=create times=3 retry-after-ms=20")
    began = time.monotonic()

    await container.create_item(ITEM)

    assert time.monotonic() - began >= 0.06
    assert fault.struck == 3
    assert await ids(container) == ["a"]


async def test_a_read_that_is_refused_once_is_repeated_by_the_sdk(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item(ITEM)
    fault = emulator.faults.add("408 operation=read times=1")

    assert (await container.read_item("a", "p"))["id"] == "a"
    assert fault.struck == 1


async def test_a_connection_that_is_dropped_before_a_write_leaves_nothing_written(
    emulator: CosmosEmulator, container: ContainerProxy, raw_write: Write
) -> None:
    with emulator.faults.during("drop operation=create") as fault, pytest.raises(ClientConnectionError):
        await raw_write()

    assert fault.struck == 1
    assert await ids(container) == []


async def test_a_connection_that_is_dropped_before_a_write_is_made_up_for_by_the_sdk(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("drop operation=create times=1")

    await container.create_item(ITEM)

    assert fault.struck == 1
    assert await ids(container) == ["a"]


async def test_a_request_hangs_until_its_client_goes_and_writes_nothing(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("hang operation=create")
    writing = asyncio.create_task(container.create_item(ITEM))
    await until(lambda: fault.hanging == 1)

    writing.cancel()
    await until(lambda: fault.hanging == 0)

    assert await ids(container) == []


async def test_a_request_that_hangs_after_its_write_has_written(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    fault = emulator.faults.add("hang operation=create when=after")
    writing = asyncio.create_task(container.create_item(ITEM))
    await until(lambda: fault.hanging == 1)

    assert await ids(container) == ["a"]
    writing.cancel()
    await until(lambda: fault.hanging == 0)


async def test_a_hanging_request_loses_its_connection_when_its_time_is_over_or_the_fault_is_removed(
    emulator: CosmosEmulator, raw_write: Write
) -> None:
    with emulator.faults.during("hang operation=create hang-ms=30"), pytest.raises(ClientConnectionError):
        await raw_write()
    fault = emulator.faults.add("hang operation=create")
    writing = asyncio.create_task(raw_write())
    await until(lambda: fault.struck == 1)

    emulator.faults.remove(fault)

    with pytest.raises(ClientConnectionError):
        await writing


async def test_the_emulator_ends_although_requests_hang(settings: EmulatorSettings) -> None:
    fault = settings.faults.add("hang operation=read-account")
    async with ClientSession() as session:
        async with CosmosEmulator(settings) as emulator:
            settings.check_signatures = False
            asking = asyncio.create_task(session.get(emulator.endpoint).__aenter__())
            await until(lambda: fault.struck == 1)
            began = time.monotonic()

        assert time.monotonic() - began < 3
        with pytest.raises(ClientConnectionError):
            await asking


async def act_on_everything(container: ContainerProxy) -> None:
    item = await container.create_item(ITEM)
    await container.upsert_item(ITEM)
    await container.read_item("a", "p")
    await container.replace_item(item, ITEM)  # over a link of rids
    await container.patch_item("a", "p", [{"op": "set", "path": "/n", "value": 1}])
    await ids(container)
    assert [one async for one in container.query_items("SELECT * FROM c", partition_key="p")]
    assert [one async for one in container.query_items_change_feed(start_time="Beginning", partition_key="p")]
    await container.execute_item_batch([("read", ("a",))], "p")
    await container.scripts.execute_stored_procedure("add", partition_key="p")
    await container.delete_item("a", "p")


async def test_every_operation_on_items_can_be_picked_by_its_name(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.scripts.create_stored_procedure(PROCEDURE)
    names = ("batch", "change-feed", "create", "delete", "execute", "feed", "patch", "query", "read", "replace")
    faults = {name: emulator.faults.add(f"500 operation={name} probability=0") for name in (*names, "upsert")}

    await act_on_everything(container)

    # The change feed is read until nothing is left.
    assert {name for name, fault in faults.items() if fault.matched} == {*names, "upsert"}
    assert {name: fault.matched for name, fault in faults.items() if name != "change-feed"} == dict.fromkeys(
        [name for name in faults if name != "change-feed"], 1
    )


def test_every_route_has_a_name_that_rules_know() -> None:
    assert {operation_name(operation) for operation in ROUTES.values()} <= OPERATION_NAMES


async def test_a_fault_strikes_its_database_container_script_and_partition_key_alone(
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
    with refused(500):
        await container.create_item(ITEM)
    with refused(500):
        await container.scripts.execute_stored_procedure("add", partition_key="p")

    assert (by_key.struck, by_script.struck) == (1, 1)


async def test_a_fault_of_a_container_strikes_requests_by_rid_too(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    item = await container.create_item(ITEM)

    with emulator.faults.during("500 operation=replace database=db container=items"), refused(500):
        await container.replace_item(item, ITEM)


async def test_a_fault_by_script_strikes_writes_that_name_the_trigger(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    with emulator.faults.during("500 script=stamp"):
        await container.create_item(ITEM)
        with refused(500):
            await container.create_item({"id": "b", "pk": "p"}, pre_trigger_include="stamp")


async def test_requests_are_skipped_first_and_struck_so_many_times(
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


async def test_an_operation_that_fails_by_itself_is_not_struck_afterwards(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item(ITEM)

    with emulator.faults.during("500 operation=create when=after") as fault, refused(409):
        await container.create_item(ITEM)

    assert fault.struck == 0


async def test_faults_are_added_counted_and_removed_over_http(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    url = f"{emulator.endpoint}_emulator/faults"
    async with ClientSession() as session:
        await session.put(url, json=[{"fault": "drop", "script": "none"}])
        added = await session.post(url, json={"fault": 500, "operation": ["create"], "partition-key": ["p"]})
        number = (await added.json())["id"]
        with refused(500):
            await container.create_item(ITEM)
        listed = await (await session.get(url)).json()
        one = await (await session.delete(f"{url}/{number}")).json()
        await container.create_item(ITEM)
        left = await (await session.delete(url)).json()

    rule = {"id": number, "fault": 500, "operation": ["create"], "partition-key": '["p"]'}
    counted = {**rule, "matched": 1, "struck": 1, "hanging": 0}
    assert added.status == 201
    assert (listed["faults"][1], one) == (counted, counted)
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
async def test_a_bad_request_for_faults_changes_nothing(
    emulator: CosmosEmulator, method: str, path: str, body: Any, headers: dict[str, str], status: int
) -> None:
    kept = emulator.faults.add("500 operation=create")

    async with (
        ClientSession() as session,
        session.request(method, f"{emulator.endpoint}_emulator{path}", json=body, headers=headers) as answer,
    ):
        assert answer.status == status

    assert list(emulator.faults) == [kept]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a fault must be one of 408, 410"),
        ("404", "not '404'"),
        ("500 create", "'create' is not one"),
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
def test_a_text_that_is_no_rule_says_why(text: str, reason: str) -> None:
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
def test_a_rule_is_read_back_from_its_json(rule: FaultRule) -> None:
    assert parse_rule(rule.as_json()) == rule


def test_the_command_line_has_faults_latency_and_the_other_switches() -> None:
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


@pytest.mark.parametrize("arguments", [["--fault", "404"], ["--latency", "10"], ["--latency", "5ms±10ms"]])
def test_a_bad_switch_ends_with_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(arguments)

    assert "usage:" in capsys.readouterr().err


async def test_latency_holds_back_every_answer_but_not_one_behind_the_other(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item(ITEM)
    emulator.settings.latency = Latency.parse("100ms±50ms")
    began = time.monotonic()

    await asyncio.gather(*(container.read_item("a", "p") for _ in range(20)))

    assert 0.05 <= time.monotonic() - began < 2  # one after the other they would take 2 s on average


def test_faults_begin_with_the_rules_that_they_are_given() -> None:
    assert [fault.number for fault in Faults("500", FaultRule("drop"))] == [1, 2]
