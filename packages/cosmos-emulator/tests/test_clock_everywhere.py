"""The emulator's clock is also the clock of queries, patches and scripts, and one seed decides what is random."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.faults import Faults
from cosmos_emulator.latency import Latency
from tests.clock import Clock
from tests.emulator_client import emulator_client
from tests.errors import fails_with

HALF = "503 operation=read probability=0.5"


async def _script(container: ContainerProxy, body: str) -> Any:
    await container.scripts.create_stored_procedure({"id": "s", "body": body})
    return await container.scripts.execute_stored_procedure("s", partition_key="p")


@pytest.mark.parametrize("name", ["GetCurrentDateTime", "GetCurrentTimestamp", "GetCurrentTicks"])
@pytest.mark.parametrize("suffix", ["", "Static"])
async def test_queries_use_the_clock(container: ContainerProxy, clock: Clock, name: str, suffix: str) -> None:
    clock.advance(365 * 86400)
    await container.create_item({"id": "a", "pk": "p"})
    expected = {
        "GetCurrentDateTime": datetime.fromtimestamp(clock(), UTC).strftime("%Y-%m-%dT%H:%M:%S.0000000Z"),
        "GetCurrentTimestamp": int(clock()) * 1000,
        "GetCurrentTicks": int(clock()) * 10_000_000,
    }

    rows = container.query_items(f"SELECT VALUE {name}{suffix}() FROM c", partition_key="p")  # noqa: S608 - names

    assert [row async for row in rows] == [expected[name]]


async def test_the_condition_of_a_patch_uses_the_clock(container: ContainerProxy, clock: Clock) -> None:
    clock.advance(100)
    await container.create_item({"id": "a", "pk": "p", "until": int(clock()) * 1000})
    change: list[dict[str, Any]] = [{"op": "set", "path": "/n", "value": 1}]
    condition = "FROM c WHERE c.until >= GetCurrentTimestamp()"

    await container.patch_item("a", "p", change, filter_predicate=condition)
    clock.advance(1)

    with fails_with(412):
        await container.patch_item("a", "p", change, filter_predicate=condition)


async def test_scripts_use_the_clock(container: ContainerProxy, clock: Clock) -> None:
    clock.advance(365 * 86400)
    body = """function () {
        class Later extends Date {}
        getContext().getResponse().setBody([
            Date.now(), new Date().getTime(), +new Later(), new Date(5).getTime(), Date.UTC(1970, 0, 2), typeof Date(),
            new Date() instanceof Date, new Date().constructor === Date, Date.name, Date.length,
        ]);
    }"""

    now_ms = int(clock()) * 1000
    assert await _script(container, body) == [
        *[now_ms] * 3,
        5,
        86_400_000,
        "string",
        True,
        True,
        "Date",
        7,
    ]


async def test_user_defined_functions_use_the_clock(container: ContainerProxy, clock: Clock) -> None:
    clock.advance(365 * 86400)
    await container.create_item({"id": "a", "pk": "p"})
    await container.scripts.create_user_defined_function({"id": "now", "body": "function () { return Date.now(); }"})

    rows = container.query_items("SELECT VALUE udf.now() FROM c", partition_key="p")

    assert [row async for row in rows] == [int(clock()) * 1000]


async def test_the_clock_of_scripts_moves_with_an_emulator_clock_that_moves(client: CosmosClient) -> None:
    settings = EmulatorSettings()
    assert settings.seed is None
    settings.clock.advance(1000)
    async with emulator_client(settings) as advanced:
        database = await advanced.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        body = "function () { const start = Date.now(); while (Date.now() === start); __.response.setBody(start); }"

        start_ms = await _script(container, body)

    assert abs(start_ms / 1000 - settings.clock()) < 60


def _outcomes(settings: EmulatorSettings) -> list[Any]:
    latency = Latency(0.5, 0.5)
    (fault,) = settings.faults
    return [*(latency.next_s(settings.random) for _ in range(5)), *(fault.draws() for _ in range(20))]


def test_a_seed_repeats_what_is_random() -> None:
    first, again = (_outcomes(EmulatorSettings(seed=7, faults=Faults(HALF))) for _ in range(2))

    assert first == again
    assert first != _outcomes(EmulatorSettings(seed=8, faults=Faults(HALF)))
    assert first != _outcomes(EmulatorSettings(faults=Faults(HALF)))
