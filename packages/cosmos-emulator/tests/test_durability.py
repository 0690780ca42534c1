"""Durability across restarts and kills, and process shutdown."""

from __future__ import annotations

import asyncio
import itertools
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import AzureError, CosmosHttpResponseError
from cosmos_emulator import WELL_KNOWN_KEY, CosmosEmulator, EmulatorSettings
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.store import partition
from cosmos_emulator.store.account import Account
from cosmos_emulator.store.resources import ResourceTable
from cosmos_emulator.store.schema import open_connection
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.processes import emulator_process

from tests.polling import eventually

SYNCHRONOUS_FULL = 2  # sqlite.org/pragma.html#pragma_synchronous


async def test_acknowledged_writes_survive_a_kill(tmp_path: Path) -> None:
    acknowledged: list[str] = []

    async def write(endpoint: str) -> None:
        async with CosmosClient(endpoint, WELL_KNOWN_KEY, retry_total=0) as client:
            database = await client.create_database("db")
            container = await database.create_container("items", PartitionKey("/pk"))
            for number in range(100_000):
                await container.create_item({"id": str(number), "pk": f"key {number % 7}"})
                acknowledged.append(str(number))

    async with emulator_process("--data-dir", str(tmp_path)) as (process, endpoint):
        writing = asyncio.create_task(write(endpoint))
        await eventually(lambda: len(acknowledged) >= 100)
        process.kill()
        await process.wait()
        with pytest.raises(AzureError):
            await writing

    async with emulator_process("--data-dir", str(tmp_path)) as (_, endpoint):  # noqa: SIM117 - a second process
        async with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
            container = client.get_database_client("db").get_container_client("items")
            stored = {item["id"] async for item in container.read_all_items()}

    # The write in flight during the kill can be stored but not acknowledged.
    assert stored - set(acknowledged) <= {str(len(acknowledged))}
    assert set(acknowledged) <= stored


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_shuts_the_process_down_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    async with emulator_process("--data-dir", str(tmp_path)) as (process, _):
        process.send_signal(number)

        _, errors = await asyncio.wait_for(process.communicate(), 20)

    assert (process.returncode, errors) == (0, b"")


async def test_rids_etags_lsns_and_scripts_survive_a_restart(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path, partitions=1)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"), default_ttl=-1)
        before = await container.read()
        item = await container.create_item({"id": "a", "pk": "p"})
        await container.scripts.create_stored_procedure(
            {"id": "s", "body": "function () { __.response.setBody('runs'); }"}
        )
        pages = container.query_items_change_feed(start_time="Beginning").by_page()
        async for page in pages:
            assert [change["id"] async for change in page] in (["a"], [])
        token = pages.continuation_token

    async with emulator_client(settings) as client:
        database = client.get_database_client("db")
        container = database.get_container_client("items")
        assert await container.read() == before
        assert await container.read_item("a", "p") == item
        later = await container.create_item({"id": "b", "pk": "p"})
        assert later["_rid"] > item["_rid"]
        assert await container.scripts.execute_stored_procedure("s", partition_key="p") == "runs"
        changes = container.query_items_change_feed(continuation=token)
        assert [change["id"] async for change in changes] == ["b"]
        await database.delete_container("items")
        recreated = await database.create_container("items", PartitionKey("/pk"))
        assert (await recreated.read())["_rid"] != before["_rid"]


async def test_a_deleted_container_leaves_no_files(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})

        await client.delete_database("db")

    assert _directories(tmp_path) == []


async def test_data_is_lost_at_shutdown_without_a_data_directory() -> None:
    settings = EmulatorSettings()
    async with emulator_client(settings) as client:
        await client.create_database("db")

    async with emulator_client(settings) as client:
        with fails_with(404):
            await client.get_database_client("db").read()


async def test_two_emulators_are_isolated() -> None:
    async with (
        CosmosEmulator() as first,
        CosmosEmulator() as second,
        CosmosClient(first.endpoint, first.key) as first_client,
        CosmosClient(second.endpoint, second.key) as second_client,
    ):
        await first_client.create_database("db")

        assert [database["id"] async for database in second_client.list_databases()] == []


async def test_expired_items_are_purged_from_the_file(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path, partitions=1, purge_interval_s=0.05)
    now = settings.clock()
    settings.clock = lambda: now
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"), default_ttl=5)
        for number in range(20):
            await container.create_item({"id": str(number), "pk": "p"})

        now += 10

        await eventually(lambda: _rows(tmp_path) == 0)


async def test_a_container_that_the_account_file_does_not_list_is_kept(tmp_path: Path) -> None:
    async with emulator_process("--data-dir", str(tmp_path)) as (process, endpoint):
        async with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
            database = await client.create_database("db")
            container = await database.create_container("items", PartitionKey("/pk"))
            await container.create_item({"id": "a", "pk": "p"})
        process.terminate()
        await process.wait()
    [name] = _directories(tmp_path)
    unlisted = tmp_path / "unlisted"
    (unlisted / name).mkdir(parents=True)  # of an earlier start
    _delete_account_file(tmp_path)

    async with emulator_process("--data-dir", str(tmp_path)) as (process, endpoint):
        async with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
            assert [database["id"] async for database in client.list_databases()] == []
        process.terminate()
        _, errors = await asyncio.wait_for(process.communicate(), 20)

    kept = unlisted / f"{name}-2"
    assert _directories(tmp_path) == ["unlisted"]
    assert f"{tmp_path / name} to {kept}" in errors.decode()
    assert _rows(kept.parent, kept.name) == 1


def test_the_account_file_survives_a_power_cut(tmp_path: Path) -> None:
    table = ResourceTable(tmp_path / "account.sqlite", durable=True)

    with closing(table):
        [level] = table._connection.execute("PRAGMA synchronous").fetchone()

    assert level == SYNCHRONOUS_FULL


def _delete_account_file(directory: Path) -> None:
    for file in directory.glob("account.sqlite*"):
        file.unlink()


def _rows(directory: Path, container: str = "*") -> int:
    (path,) = directory.glob(f"{container}/0.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM items").fetchone()
    return int(count)


def _directories(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir() if path.is_dir()]


async def test_a_data_directory_can_be_open_only_once(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_process("--data-dir", str(tmp_path)):
        with pytest.raises(OSError, match="in use by another emulator"):
            await CosmosEmulator(settings).__aenter__()

    async with CosmosEmulator(settings):
        pass


def _damaged(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def _not_openable(path: Path) -> None:
    path.mkdir()


def _not_a_directory(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("not a directory")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(_damaged, "is damaged"), (_not_openable, "cannot be written"), (_not_a_directory, "cannot be written")],
)
def test_an_unusable_data_directory_is_explained(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    spoil(tmp_path / "account.sqlite")
    command = [sys.executable, "-m", "cosmos_emulator", "--port", "0", "--data-dir", str(tmp_path)]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - fixed

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The emulator cannot start: ")
    assert f"{tmp_path} {reason}; " in line.replace("the data in ", "")


async def test_a_damaged_container_is_explained_in_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "1", "pk": "p"})
    (file,) = tmp_path.glob("*/0.sqlite")  # noqa: ASYNC240 - nothing else runs
    _damaged(file)

    async with emulator_client(settings) as client:
        with pytest.raises(CosmosHttpResponseError) as refusal:
            await client.get_database_client("db").get_container_client("items").read_item("1", "p")

    assert refusal.value.status_code == 500
    record = next(record for record in caplog.records if record.levelname == "ERROR")
    assert f"the data in {tmp_path} is damaged; stop the emulator, then" in record.message
    assert not record.exc_info


async def test_a_full_disk_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def of_limited_size(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = open_connection(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    monkeypatch.setattr(partition, "open_connection", of_limited_size)
    async with emulator_client(EmulatorSettings(data_dir=tmp_path)) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        with pytest.raises(CosmosHttpResponseError):
            await container.create_item({"id": "1", "pk": "p", "text": "x" * 1_000_000})
        await container.create_item({"id": "2", "pk": "p"})

    assert f"the disk of {tmp_path} is full; free some space" in caplog.text


async def _blocked_write(container: ContainerProxy) -> asyncio.Task[Any]:
    """Return the first write that blocks, which means that the script holds the partition."""
    for number in itertools.count():
        writing = asyncio.create_task(container.create_item({"id": str(number), "pk": "p"}))
        if not (await asyncio.wait([writing], timeout=0.2))[0]:
            return writing
    raise AssertionError


@pytest.mark.nightly
async def test_deleting_a_container_during_writes_leaves_no_files(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path, script_time_limit_s=2)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.scripts.create_stored_procedure({"id": "endless", "body": "function () { while (true) {} }"})
        running = asyncio.create_task(
            container.scripts.execute_stored_procedure("endless", partition_key="p", parameters=[])
        )
        writing = await _blocked_write(container)

        await database.delete_container("items")

        with fails_with(408):
            await running
        with suppress(AzureError):  # it can finish before the deletion or fail with 404
            await writing
        with pytest.raises(AzureError):
            await container.create_item({"id": "late", "pk": "p"})
    assert _directories(tmp_path) == []


async def test_a_container_whose_deletion_fails_is_kept(tmp_path: Path) -> None:
    """The disk can be full: a deletion is also a write."""
    settings = EmulatorSettings(data_dir=tmp_path)
    async with emulator_client(settings) as client:
        container = await (await client.create_database("db")).create_container(
            "items", PartitionKey("/pk"), offer_throughput=500
        )
        await container.scripts.create_stored_procedure({"id": "script", "body": "function () {}"})
        await container.create_item({"id": "1", "pk": "p"})
    refusal = "SELECT RAISE(ROLLBACK, 'database or disk is full')"
    _execute(tmp_path, f"CREATE TRIGGER full BEFORE DELETE ON resources WHEN old.kind = 'offers' BEGIN {refusal}; END")
    async with emulator_client(settings) as client:
        database = client.get_database_client("db")
        container = database.get_container_client("items")
        for _ in range(2):
            with fails_with(500):
                await database.delete_container("items")

        assert (await container.read_item("1", "p"))["id"] == "1"
        assert [script["id"] async for script in container.scripts.list_stored_procedures()] == ["script"]
        assert (await container.get_throughput()).offer_throughput == 500
    _execute(tmp_path, "DROP TRIGGER full")
    async with emulator_client(settings) as client:
        await client.get_database_client("db").delete_container("items")
    assert _directories(tmp_path) == []


def _execute(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / "account.sqlite")) as connection:
        connection.execute(statement)


async def test_a_second_deletion_of_a_database_finds_nothing(tmp_path: Path) -> None:
    account = Account(tmp_path, time.time, durable=False)
    database = account.add_database({"id": "db"})
    container = account.add_container(database, completed({"id": "items", "partitionKey": {"paths": ["/pk"]}}), 1)
    async with container.partitions[0].transaction():
        deletion = asyncio.create_task(account.remove_database(database))
        await asyncio.sleep(0)  # until it waits for the transaction

        assert account.resources.find("dbs", "", "db") is None
        assert account.resources.find("colls", database.rid, "items") is None

    await deletion
    assert _directories(tmp_path) == []
    await account.close()
