"""Background work: purges, changes of TTL, trims of the log and index builds."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.documents.create import create
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.store import budget
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.index_definition import IndexDefinition, IndexPart
from cosmos_emulator.store.items import ItemScope
from cosmos_emulator.store.resources import ResourceTable
from tests.clock import Clock
from tests.emulator_client import emulator_client

COUNT = 300
BY_NUMBER = IndexDefinition((IndexPart(("n",)),), is_local=False)
STEP_BYTES = 2000
LOGGED = {"changeFeedPolicy": {"retentionDuration": 10}}


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_STEP_BYTES", STEP_BYTES)


@pytest.fixture
async def open_account(tmp_path: Path, clock: Clock) -> AsyncIterator[Callable[[], Account]]:
    opened: list[Account] = []

    def open_again() -> Account:
        opened.append(Account(tmp_path, clock, durable=False))
        return opened[-1]

    yield open_again
    await opened[-1].close()


def _new_container(account: Account, **definition: Any) -> Container:
    database = account.add_database({"id": "db"})
    body = completed({"id": "items", "partitionKey": {"paths": ["/pk"]}, **definition})
    return account.add_container(database, body, partitions=1)


async def _fill(container: Container, clock: Clock) -> None:
    (partition,) = container.partitions
    key = container.definition.partition_key.of_values(["p"])
    async with partition.transaction() as items:
        target = LogicalPartition(container, partition, key, items, ChargeModel("service-2026"), int(clock()))
        for number in range(COUNT):
            create(target, {"id": str(number), "pk": "p", "n": number})


def _rows(container: Container, table: str = "items") -> int:
    with closing(sqlite3.connect(container.directory / "0.sqlite")) as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a constant
    return int(count)


async def _pauses_until_idle(account: Account) -> int:
    """Return how often other tasks ran until the background work was done."""
    pauses = 0
    working = asyncio.create_task(account.background.idle())
    while not working.done():
        pauses += 1
        await asyncio.sleep(0)
    return pauses


async def test_a_purge_pauses_and_deletes_all_expired_items(open_account: Callable[[], Account], clock: Clock) -> None:
    account = open_account()
    container = _new_container(account, defaultTtl=5)
    await _fill(container, clock)
    clock.advance(6)

    account.background.purge()

    assert await _pauses_until_idle(account) > COUNT * 100 // STEP_BYTES
    assert _rows(container) == 0


async def test_an_index_build_pauses_after_some_bytes(open_account: Callable[[], Account], clock: Clock) -> None:
    account = open_account()
    container = _new_container(account)
    await _fill(container, clock)
    (partition,) = container.partitions

    partition.want_index(BY_NUMBER)

    assert await _pauses_until_idle(account) > COUNT * 100 // STEP_BYTES
    assert [one.definition for one in partition.indexes] == [BY_NUMBER]
    assert _rows(container, partition.indexes[0].table) == COUNT


async def test_an_index_is_complete_after_sqlite_has_rolled_back_a_part(
    open_account: Callable[[], Account], clock: Clock
) -> None:
    """As it does by itself if the disk is full."""
    account = open_account()
    container = _new_container(account)
    await _fill(container, clock)
    (partition,) = container.partitions
    file = container.directory / "0.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "CREATE TRIGGER full AFTER UPDATE ON indexes WHEN old.built_to > 0"
            " BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END"
        )

    partition.want_index(BY_NUMBER)
    await account.background.idle()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TRIGGER full")
    partition.want_index(IndexDefinition((IndexPart(("pk",)),), is_local=False))
    await account.background.idle()

    assert len(partition.indexes) == 2
    assert [_rows(container, one.table) for one in partition.indexes] == [COUNT, COUNT]


async def test_old_changes_leave_the_log_in_steps(
    open_account: Callable[[], Account], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_STEP_S", 0.0001)
    account = open_account()
    container = _new_container(account, **LOGGED)
    await _fill(container, clock)
    start = container.partitions[0].committed.log_start()
    clock.advance(11 * 60)

    account.background.purge()

    assert await _pauses_until_idle(account) > 2
    assert _rows(container, "changes") == 0
    assert start != container.partitions[0].committed.log_start() == container.partitions[0].lsn


async def test_the_changes_of_an_ended_log_are_removed(open_account: Callable[[], Account], clock: Clock) -> None:
    account = open_account()
    container = _new_container(account, **LOGGED)
    await _fill(container, clock)

    await account.replace_container(container, {**container.resource.body, "changeFeedPolicy": None})

    await account.background.idle()
    assert _rows(container, "changes") == 0
    assert container.partitions[0].committed.log_start() is None


async def test_a_change_of_ttl_continues_after_a_restart(open_account: Callable[[], Account], clock: Clock) -> None:
    account = open_account()
    container = _new_container(account)
    await _fill(container, clock)
    changing = asyncio.create_task(account.replace_container(container, {**container.resource.body, "defaultTtl": 5}))
    for _ in range(5):
        await asyncio.sleep(0)
    with closing(sqlite3.connect(container.directory / "0.sqlite")) as connection:
        (done,) = connection.execute("SELECT count(*) FROM items WHERE expires_at IS NOT NULL").fetchone()
    assert 0 < done < COUNT
    changing.cancel()
    with suppress(asyncio.CancelledError):
        await changing
    await account.close()
    clock.advance(6)

    account = open_account()
    (partition,) = account.containers[0].partitions
    assert partition.committed.count_up_to(ItemScope(), COUNT + 1) == COUNT
    await account.background.idle()

    assert partition.committed.count_all() == 0


async def test_a_change_of_ttl_that_a_crash_interrupted_is_applied_at_the_next_start(
    tmp_path: Path, clock: Clock
) -> None:
    settings = EmulatorSettings(data_dir=tmp_path, clock=clock)
    async with emulator_client(settings) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        for number in range(5):
            await container.create_item({"id": str(number), "pk": "p"})
    with closing(ResourceTable(tmp_path / "account.sqlite", durable=True)) as resources:  # as committed before a crash
        (stored,) = resources.children("dbs", "")
        (stored,) = resources.children("colls", stored.rid)
        resources.replace(stored, {**stored.body, "defaultTtl": 5})

    clock.advance(1000)

    async with emulator_client(settings) as client:
        container = client.get_database_client("db").get_container_client("items")
        async with asyncio.timeout(20):
            while await _ids(container):
                pass


async def _ids(container: ContainerProxy) -> list[str]:
    return [item["id"] async for item in container.read_all_items()]
