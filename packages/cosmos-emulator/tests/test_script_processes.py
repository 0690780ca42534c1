"""Lifetime of the processes that run scripts."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError
from cosmos_emulator import WELL_KNOWN_KEY
from tests.processes import cpu_ticks, emulator_process

from tests.polling import eventually

if sys.platform != "linux":
    pytest.skip("finds processes in /proc", allow_module_level=True)

UNINTERRUPTIBLE = r"for (;;) new RegExp('\\p{L}'.repeat(200), 'iu');"
CONVERTED = """
    class Hostile extends Promise { constructor(run) { super(() => run(fail, fail)); } }
    const fail = () => { throw { toString() { for (;;); } }; };
    const promise = Promise.resolve(); promise.constructor = Hostile; promise.then(() => {});
"""
WRITE = "__.createDocument(__.getSelfLink(), { id: 'written', pk: 'p' }, () => { LOOP });"


def children(pid: int) -> list[int]:
    """Return the running child processes."""
    return [int(child) for tasks in Path(f"/proc/{pid}/task").glob("*/children") for child in tasks.read_text().split()]


def has_ended(pid: int) -> bool:
    """Return whether the process has exited, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def busy_child(process: Process) -> int:
    """Wait for a child that runs a script."""
    before = {child: cpu_ticks(child) for child in children(process.pid)}

    def busy() -> list[int]:
        return [child for child in children(process.pid) if cpu_ticks(child) - before.setdefault(child, 0) > 10]

    await eventually(lambda: bool(busy()))
    return busy()[0]


class Scripts:
    """Stores and runs scripts in a container."""

    def __init__(self, container: ContainerProxy) -> None:
        self.container = container
        self._count = 0

    async def store(self, body: str) -> str:
        self._count += 1
        name = f"script{self._count}"
        await self.container.scripts.create_stored_procedure({"id": name, "body": body})
        return name

    async def run(self, body: str) -> Any:
        name = await self.store(body)
        return await self.container.scripts.execute_stored_procedure(name, partition_key="p")

    async def answer(self, n: int) -> Any:
        """Run a trivial script that returns `n`."""
        return await self.run(f"function () {{ __.response.setBody({n}); }}")


async def scripts_of(client: CosmosClient) -> Scripts:
    database = await client.create_database("db")
    return Scripts(await database.create_container("items", PartitionKey("/pk")))


def connected(endpoint: str) -> CosmosClient:
    return CosmosClient(endpoint, WELL_KNOWN_KEY)


async def raw_answer(endpoint: str, name: str) -> tuple[int, str]:
    """Run a script without the SDK, which would retry after a 503."""
    headers = {"authorization": "type=aad&ver=1.0&sig=x", "x-ms-documentdb-partitionkey": '["p"]'}
    url = f"{endpoint}dbs/db/colls/items/sprocs/{name}"
    async with ClientSession() as session, session.post(url, headers=headers, data="[]") as answer:
        return answer.status, await answer.text()


async def test_an_emulator_without_scripts_has_no_children() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        await scripts.container.create_item({"id": "a", "pk": "p"})

        assert children(process.pid) == []


@pytest.mark.nightly
async def test_other_requests_are_served_while_an_overdue_script_is_killed() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        await scripts.container.create_item({"id": "a", "pk": "other"})
        uninterruptible = asyncio.ensure_future(
            scripts.run(f"function () {{ {WRITE.replace('LOOP', UNINTERRUPTIBLE)} }}")
        )
        child = await busy_child(process)

        longest_s = 0.0
        deadline = time.monotonic() + 60
        while not uninterruptible.done() and time.monotonic() < deadline:
            asked = time.monotonic()
            await scripts.container.read_item("a", "other")
            longest_s = max(longest_s, time.monotonic() - asked)

        with pytest.raises(CosmosHttpResponseError) as failure:
            await uninterruptible
        assert failure.value.status_code == 408
        assert longest_s < 3.0  # a blocked read would wait for the rest of the limit, nearly 5 s
        assert await scripts.answer(7) == 7
        assert has_ended(child)
        assert [item["id"] async for item in scripts.container.read_all_items()] == ["a"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_an_externally_killed_process_fails_only_its_script(number: signal.Signals) -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        name = await scripts.store(f"function () {{ {WRITE.replace('LOOP', 'for (;;);')} }}")
        running = asyncio.ensure_future(raw_answer(endpoint, name))
        os.kill(await busy_child(process), number)

        status, text = await running
        assert (status, f"ended with -{number.value}; nothing" in text) == (503, True)
        assert [item async for item in scripts.container.read_all_items()] == []
        assert await scripts.answer(7) == 7


@pytest.mark.nightly
async def test_the_sdk_retries_a_script_whose_process_was_killed() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        loop = "for (const end = Date.now() + 3000; Date.now() < end;); __.response.setBody('done');"
        running = asyncio.ensure_future(scripts.run(f"function () {{ {WRITE.replace('LOOP', loop)} }}"))

        os.kill(await busy_child(process), signal.SIGKILL)

        assert await running == "done"
        assert [item["id"] async for item in scripts.container.read_all_items()] == ["written"]


async def test_externally_killed_idle_processes_are_replaced() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        for n in range(3):
            assert await scripts.answer(n) == n
            killed = children(process.pid)
            assert killed
            for child in killed:
                os.kill(child, signal.SIGKILL)
            await eventually(lambda killed=killed: all(map(has_ended, killed)))

        assert await scripts.answer(7) == 7
        await eventually(lambda: not any(map(has_ended, children(process.pid))))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "loop", ["", "for (;;);", UNINTERRUPTIBLE, CONVERTED], ids=["idle", "endless", "uninterruptible", "converted"]
)
async def test_no_process_outlives_a_killed_emulator(loop: str) -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        await scripts.answer(1)
        running = asyncio.ensure_future(scripts.run(f"function () {{ {loop} }}"))
        if loop:
            await busy_child(process)
        else:
            await running
        started = children(process.pid)
        assert started

        process.kill()
        await asyncio.gather(process.wait(), running, return_exceptions=True)

        await eventually(lambda: all(map(has_ended, started)))


async def test_ctrl_c_ends_the_emulator_and_its_processes_quietly() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        await scripts.answer(1)
        await eventually(lambda: len(children(process.pid)) == 2)
        started = children(process.pid)

        # A terminal signals the process group of the emulator. Its children leave the group just after they fork.
        await eventually(lambda: os.getpgid(process.pid) not in map(os.getpgid, started))
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 30) == 0

        assert all(map(has_ended, started))
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()


async def test_a_running_script_survives_sigint_to_its_process() -> None:
    async with emulator_process("--memory") as (process, endpoint), connected(endpoint) as client:
        scripts = await scripts_of(client)
        body = """function () {
            for (const end = Date.now() + 3000; Date.now() < end;);
            __.response.setBody('done');
        }"""
        running = asyncio.ensure_future(scripts.run(body))

        os.kill(await busy_child(process), signal.SIGINT)

        assert await running == "done"
