"""Test controls: reset, snapshots, exported files and the clock."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.runtime.clock import AdjustableClock
from cosmos_emulator.store.contents import current_directory
from cosmos_emulator.store.schema import UnsupportedFormat
from tests.errors import fails_with
from tests.processes import emulator_process

from tests.polling import eventually


@pytest.fixture(params=["memory", "disk"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, partitions: int) -> EmulatorSettings:
    return EmulatorSettings(data_dir=tmp_path if request.param == "disk" else None, partitions=partitions)


@pytest.fixture
async def session(emulator: CosmosEmulator) -> AsyncIterator[ClientSession]:
    async with ClientSession(emulator.endpoint) as opened:
        yield opened


async def send(session: ClientSession, method: str, path: str, **options: Any) -> tuple[int, Any]:
    async with session.request(method, f"/_emulator/{path}", **options) as response:
        text = await response.text()
        return response.status, json.loads(text) if text else None


async def ids_in(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


def root_of(emulator: CosmosEmulator) -> Path:
    """The data directory."""
    root: Path = emulator.controls._root
    return root


def own(body: dict[str, Any]) -> dict[str, Any]:
    """A resource without system properties."""
    return {name: value for name, value in body.items() if not name.startswith("_")}


def pair(number: int) -> list[Any]:
    """A batch that writes the same number to two items."""
    return [("upsert", ({"id": name, "pk": "p", "n": number},)) for name in "ab"]


async def changed_ids(container: ContainerProxy, continuation: str | None = None) -> tuple[list[str], str]:
    """Read the change feed to its end; return the ids and the continuation."""
    start: dict[str, Any] = {"start_time": "Beginning"} if continuation is None else {"continuation": continuation}
    pages = container.query_items_change_feed(**start).by_page()
    found = [item["id"] async for page in pages async for item in page]
    return sorted(found), pages.continuation_token


# reset


async def test_a_reset_deletes_everything_and_clients_stay_usable(
    session: ClientSession, client: CosmosClient, database: DatabaseProxy, container: ContainerProxy
) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    assert await send(session, "POST", "reset") == (204, None)

    assert [found async for found in client.list_databases()] == []
    with fails_with(404, 1003):
        await container.read_item("a", "p")
    database = await client.create_database("db")
    container = await database.create_container("items", PartitionKey("/other"))
    await container.create_item({"id": "a", "other": "q"})
    assert (await container.read_item("a", "q"))["other"] == "q"
    assert await ids_in(container) == ["a"]


# snapshots


@pytest.mark.parametrize("small_bytes", [0, 1 << 20])
async def test_a_restore_brings_back_every_resource(
    session: ClientSession,
    client: CosmosClient,
    database: DatabaseProxy,
    container: ContainerProxy,
    monkeypatch: pytest.MonkeyPatch,
    small_bytes: int,
) -> None:
    monkeypatch.setattr("cosmos_emulator.contents.controls._SMALL_BYTES", small_bytes)
    item = await container.create_item({"id": "a", "pk": "p"})
    definition = await container.read()
    await container.scripts.create_stored_procedure({"id": "s", "body": "function () { __.response.setBody(1); }"})
    await container.replace_throughput(500)
    await database.create_user({"id": "ada"})
    assert await send(session, "PUT", "snapshots/seeded") == (204, None)

    await container.upsert_item({"id": "a", "pk": "p", "changed": True})
    await container.create_item({"id": "b", "pk": "p"})
    await container.scripts.delete_stored_procedure("s")
    await database.delete_user("ada")
    await container.replace_throughput(600)
    await client.create_database("other")
    assert await send(session, "POST", "snapshots/seeded/restore") == (204, None)

    assert await container.read_item("a", "p") == item
    assert await container.read() == definition
    assert await ids_in(container) == ["a"]
    assert await container.scripts.execute_stored_procedure("s", partition_key="p") == 1
    assert (await container.get_throughput()).offer_throughput == 500
    assert [user["id"] async for user in database.list_users()] == ["ada"]
    assert [found["id"] async for found in client.list_databases()] == ["db"]


async def test_snapshots_can_be_listed_replaced_and_deleted(
    session: ClientSession, container: ContainerProxy, emulator: CosmosEmulator
) -> None:
    assert await send(session, "GET", "snapshots") == (200, {"snapshots": []})
    await send(session, "PUT", "snapshots/two")
    await send(session, "PUT", "snapshots/one")
    await container.create_item({"id": "a", "pk": "p"})
    await send(session, "PUT", "snapshots/one")
    assert await send(session, "GET", "snapshots") == (200, {"snapshots": ["one", "two"]})

    await send(session, "POST", "reset")
    await send(session, "POST", "snapshots/one/restore")
    assert await ids_in(container) == ["a"]
    assert await send(session, "DELETE", "snapshots/one") == (204, None)

    assert emulator.controls.snapshots() == ["two"]
    assert (await send(session, "POST", "snapshots/one/restore"))[0] == 404
    assert (await send(session, "DELETE", "snapshots/one"))[0] == 404


@pytest.mark.parametrize("name", ["", "Upper", "..", "a/b", "a%2Fb", "-a", "x" * 65, "é"])
async def test_an_invalid_name_of_a_snapshot_is_refused(emulator: CosmosEmulator, name: str) -> None:
    with pytest.raises(CosmosError, match="name") as refusal:
        await emulator.controls.snapshot(name)

    assert refusal.value.status == 400
    assert emulator.controls.snapshots() == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "reset"),
        ("POST", "reset/now"),
        ("POST", "snapshots"),
        ("PATCH", "snapshots/a"),
        ("POST", "snapshots/a/b"),
        ("POST", "export"),
        ("GET", "import"),
        ("PUT", "clock"),
    ],
)
async def test_other_methods_and_paths_are_not_allowed(session: ClientSession, method: str, path: str) -> None:
    assert (await send(session, method, path))[0] == 405


async def test_pages_of_other_sites_cannot_use_the_controls(session: ClientSession, container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    assert (await send(session, "POST", "reset", headers={"Origin": "http://evil.example"}))[0] == 403

    assert await ids_in(container) == ["a"]


# clients that stay open during a restore


async def test_sessions_and_etags_continue_after_a_restore(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    kept = await container.create_item({"id": "a", "pk": "p"})
    await emulator.controls.snapshot("seeded")
    newer = await container.replace_item("a", {"id": "a", "pk": "p", "n": 1})
    for number in range(20):
        await container.create_item({"id": str(number), "pk": "p"})

    await emulator.controls.restore("seeded")

    # The client's session token is ahead of the snapshot, but not of the restored account.
    assert (await container.read_item("a", "p"))["_etag"] == kept["_etag"]
    with fails_with(412):
        await container.replace_item(
            "a", {"id": "a", "pk": "p"}, etag=newer["_etag"], match_condition=MatchConditions.IfNotModified
        )
    later = await container.replace_item(
        "a", {"id": "a", "pk": "p", "n": 2}, etag=kept["_etag"], match_condition=MatchConditions.IfNotModified
    )
    assert later["_etag"] not in (kept["_etag"], newer["_etag"])
    assert (await container.read_item("a", "p"))["n"] == 2


async def test_a_change_feed_position_ahead_of_the_snapshot_sees_later_writes(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item({"id": "before", "pk": "p"})
    await emulator.controls.snapshot("seeded")
    for number in range(20):
        await container.create_item({"id": str(number), "pk": f"p{number}"})
    found, ahead = await changed_ids(container)
    assert len(found) == 21

    await emulator.controls.restore("seeded")

    assert (await changed_ids(container, ahead))[0] == []
    await container.create_item({"id": "after", "pk": "p"})
    found, ahead = await changed_ids(container, ahead)
    assert found == ["after"]
    assert (await changed_ids(container))[0] == ["after", "before"]


@pytest.mark.parametrize("partitions", [1])
async def test_a_change_feed_position_before_the_snapshot_sees_what_the_snapshot_has(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    """A lease in the account is restored with it: its changes are delivered again."""
    await container.create_item({"id": "before", "pk": "p"})
    _, lease = await changed_ids(container)
    await container.create_item({"id": "in the snapshot", "pk": "p"})
    await emulator.controls.snapshot("seeded")
    await container.create_item({"id": "lost", "pk": "p"})

    await emulator.controls.restore("seeded")

    assert (await changed_ids(container, lease))[0] == ["in the snapshot"]


@pytest.mark.parametrize("partitions", [1])
async def test_the_feed_of_all_versions_continues_after_a_restore(
    emulator: CosmosEmulator, database: DatabaseProxy
) -> None:
    container = await database.create_container(
        "logged", PartitionKey("/pk"), change_feed_policy={"retentionDuration": 60}
    )

    async def operations(continuation: str | None = None) -> tuple[list[str], str]:
        start = {} if continuation is None else {"continuation": continuation}
        feed = container.query_items_change_feed(mode="AllVersionsAndDeletes", **start)
        found = [change["metadata"]["operationType"] async for change in feed]
        headers: Any = container.client_connection.last_response_headers
        return found, headers["etag"]

    _, start = await operations()
    await container.create_item({"id": "a", "pk": "p"})
    await emulator.controls.snapshot("seeded")
    await container.delete_item("a", "p")
    found, ahead = await operations(start)
    assert found == ["create", "delete"]

    await emulator.controls.restore("seeded")

    assert (await operations(ahead))[0] == []
    await container.replace_item("a", {"id": "a", "pk": "p", "n": 1})
    assert (await operations(ahead))[0] == ["replace"]
    assert (await operations(start))[0] == ["create", "replace"]


async def test_a_client_follows_a_container_back_to_its_former_rid(
    emulator: CosmosEmulator, database: DatabaseProxy, container: ContainerProxy
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    before = (await container.read())["_rid"]
    await emulator.controls.snapshot("seeded")
    await database.delete_container("items")
    container = await database.create_container("items", PartitionKey("/other"))
    await container.create_item({"id": "b", "other": "q"})

    await emulator.controls.restore("seeded")

    await container.create_item({"id": "c", "pk": "p"})
    assert await ids_in(container) == ["a", "c"]
    assert (await container.read())["_rid"] == before
    created = await database.create_container("new", PartitionKey("/pk"))
    assert (await created.read())["_rid"] > before


@pytest.mark.parametrize("partitions", [1])
async def test_a_client_follows_a_container_back_to_before_a_split(
    emulator: CosmosEmulator, database: DatabaseProxy
) -> None:
    container = await database.create_container("items", PartitionKey("/pk"), offer_throughput=1000)
    for number in range(20):
        await container.create_item({"id": f"{number:02}", "pk": f"p{number}"})
    await emulator.controls.snapshot("seeded")
    await container.replace_throughput(20_000)
    assert len([one async for one in container.read_feed_ranges()]) == 2
    assert len(await ids_in(container)) == 20
    await container.create_item({"id": "split", "pk": "p1"})

    await emulator.controls.restore("seeded")

    ordered = container.query_items("SELECT VALUE c.id FROM c ORDER BY c.id")
    assert [one async for one in ordered] == [f"{number:02}" for number in range(20)]
    await container.create_item({"id": "later", "pk": "p1"})
    assert (await container.read_item("later", "p1"))["id"] == "later"
    assert (await container.read_item("03", "p3"))["id"] == "03"


async def test_rids_are_not_used_again_after_a_restore(emulator: CosmosEmulator, database: DatabaseProxy) -> None:
    await emulator.controls.snapshot("empty")
    lost = await database.create_container("lost", PartitionKey("/pk"))
    rid = (await lost.read())["_rid"]

    await emulator.controls.restore("empty")

    created = await database.create_container("created", PartitionKey("/pk"))
    assert (await created.read())["_rid"] != rid


async def test_the_next_page_of_a_query_follows_a_restore(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    for number in range(10):
        await container.create_item({"id": str(number), "pk": "p", "n": number})
    await emulator.controls.snapshot("seeded")
    pages = container.query_items("SELECT DISTINCT VALUE c.n FROM c", partition_key="p", max_item_count=4).by_page()
    first = [row async for row in await anext(pages)]

    await emulator.controls.restore("seeded")

    rest = [row async for page in pages async for row in page]
    assert sorted(first + rest) == list(range(10))


# concurrency and failures


async def test_requests_see_the_account_before_or_after_a_restore(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    """Both items of a batch have the same number, however many restores interrupt."""
    await container.execute_item_batch(pair(0), "p")
    await emulator.controls.snapshot("seeded")
    is_done, reads = asyncio.Event(), 0

    async def write() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            await container.execute_item_batch(pair(number), "p")

    async def read() -> None:
        nonlocal reads
        while not is_done.is_set():
            query = container.query_items("SELECT VALUE c.n FROM c WHERE IS_DEFINED(c.n)", partition_key="p")
            found = [number async for number in query]
            assert len(found) == 2, found
            assert found[0] == found[1]
            reads += 1

    async with asyncio.TaskGroup() as group:
        for work in (write, write, read, read):
            group.create_task(work())
        for _ in range(20):
            await emulator.controls.restore("seeded")
            after = reads + 2
            await eventually(lambda: reads >= after)  # noqa: B023 - awaited in this round
        is_done.set()

    await emulator.controls.restore("seeded")
    assert [item["n"] async for item in container.read_all_items()] == [0, 0]


async def test_a_snapshot_can_be_restored_while_it_is_replaced(
    emulator: CosmosEmulator, container: ContainerProxy
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    await emulator.controls.snapshot("seeded")

    for _ in range(5):
        await asyncio.gather(emulator.controls.snapshot("seeded"), emulator.controls.restore("seeded"))

    assert await ids_in(container) == ["a"]


async def test_a_restore_waits_for_a_running_script(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    await container.scripts.create_stored_procedure(
        {
            "id": "slow",
            "body": "function () { __.createDocument(__.getSelfLink(), {id: 'a', pk: 'p'}, () => {"
            " const end = Date.now() + 300; while (Date.now() < end); __.response.setBody('created'); }); }",
        }
    )
    await emulator.controls.snapshot("empty")
    counted = emulator.faults.add("500 operation=execute skip=1000")  # strikes nothing
    running = asyncio.create_task(container.scripts.execute_stored_procedure("slow", partition_key="p"))
    await eventually(lambda: counted.matched > 0)

    await emulator.controls.restore("empty")

    assert await running == "created"
    assert await ids_in(container) == []


async def test_a_request_that_hangs_does_not_delay_a_restore(
    emulator: CosmosEmulator, client: CosmosClient, container: ContainerProxy
) -> None:
    await emulator.controls.snapshot("seeded")
    fault = emulator.faults.add("hang operation=read-resource")
    hanging = asyncio.create_task(client.get_database_client("db").read())
    await eventually(lambda: fault.hanging == 1)

    await asyncio.wait_for(emulator.controls.restore("seeded"), 10)

    hanging.cancel()
    with suppress(asyncio.CancelledError):
        await hanging


async def test_a_restore_that_fails_changes_nothing(
    emulator: CosmosEmulator, container: ContainerProxy, settings: EmulatorSettings
) -> None:
    await emulator.controls.snapshot("broken")
    await container.create_item({"id": "a", "pk": "p"})
    root = root_of(emulator)
    with closing(sqlite3.connect(current_directory(root / "snapshots/broken") / "account.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 999")

    with pytest.raises(UnsupportedFormat):
        await emulator.controls.restore("broken")

    assert await ids_in(container) == ["a"]
    await container.create_item({"id": "b", "pk": "p"})
    assert list(root.glob("contents-*")) == []


async def test_a_canceled_restore_runs_to_its_end(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    await emulator.controls.snapshot("empty")
    await container.create_item({"id": "a", "pk": "p"})
    restoring = asyncio.create_task(emulator.controls.restore("empty"))
    await asyncio.sleep(0)

    restoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restoring

    assert await ids_in(container) == []


async def test_a_restored_account_and_its_snapshots_survive_a_restart(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})
        await emulator.controls.snapshot("seeded")
        await container.create_item({"id": "b", "pk": "p"})
        await emulator.controls.restore("seeded")

    (tmp_path / "contents-of a killed process").mkdir()
    (tmp_path / "account.sqlite").write_bytes(b"")  # as if killed before the old files were deleted
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        container = client.get_database_client("db").get_container_client("items")
        assert await ids_in(container) == ["a"]
        assert [*tmp_path.glob("account*"), *tmp_path.glob("contents-of*")] == []  # noqa: ASYNC240 - brief
        await container.create_item({"id": "c", "pk": "p"})
        await emulator.controls.restore("seeded")
        assert await ids_in(container) == ["a"]


@pytest.mark.nightly
async def test_a_kill_leaves_the_account_before_or_after_a_restore(tmp_path: Path) -> None:
    """The process is killed while it restores again and again, and the account changes in between."""
    contents = {"small": ["a"], "large": [f"{number:02}" for number in range(30)]}
    settings = EmulatorSettings(data_dir=tmp_path)
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        for name, ids in contents.items():
            await emulator.controls.reset()
            database = await client.create_database("db")
            container = await database.create_container("items", PartitionKey("/pk"))
            for item_id in ids:
                await container.create_item({"id": item_id, "pk": "p"})
            await emulator.controls.snapshot(name)

    for delay_s in (0.1, 0.13, 0.17):
        async with (
            emulator_process("--data-dir", str(tmp_path)) as (process, endpoint),
            ClientSession(endpoint) as session,
        ):

            async def restore_all(session: ClientSession = session) -> None:
                while True:
                    for name in contents:
                        assert await send(session, "POST", f"snapshots/{name}/restore") == (204, None)

            restoring = asyncio.create_task(restore_all())
            await asyncio.sleep(delay_s)  # the moment of the kill, not a wait for a state
            process.kill()
            await process.wait()
            with pytest.raises(ClientError):
                await restoring
        async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
            found = await ids_in(client.get_database_client("db").get_container_client("items"))
            assert found in contents.values()
            assert len(list(tmp_path.glob("contents-*"))) == 1  # noqa: ASYNC240 - brief


SNAPSHOT_KILLED = """
import asyncio, itertools, os, pathlib, sys
from cosmos_emulator import CosmosEmulator, EmulatorSettings

calls = itertools.count()

def killing(call):
    def killed_or_called(*arguments, **options):
        if next(calls) == int(sys.argv[2]):
            os._exit(9)
        return call(*arguments, **options)
    return killed_or_called

async def main():
    async with CosmosEmulator(EmulatorSettings(data_dir=pathlib.Path(sys.argv[1]))) as emulator:
        os.rename, os.replace = killing(os.rename), killing(os.replace)
        await emulator.controls.snapshot("seeded")

asyncio.run(main())
"""


@pytest.mark.nightly
async def test_a_kill_leaves_a_snapshot_before_or_after_its_replacement(tmp_path: Path) -> None:
    """The process is killed before each of the renames that replace the snapshot."""
    before = tmp_path / "before"
    settings = EmulatorSettings(data_dir=before)
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})
        await emulator.controls.snapshot("seeded")
        await container.create_item({"id": "b", "pk": "p"})

    found, is_killed = [], True
    while is_killed:
        directory = tmp_path / str(len(found))
        shutil.copytree(before, directory)
        command = [sys.executable, "-c", SNAPSHOT_KILLED, str(directory), str(len(found))]
        is_killed = (await asyncio.to_thread(subprocess.run, command, check=False)).returncode == 9
        settings = EmulatorSettings(data_dir=directory)
        async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
            assert len(list(directory.glob("**/contents-*"))) == 1
            await emulator.controls.restore("seeded")
            found.append(await ids_in(client.get_database_client("db").get_container_client("items")))

    assert len(found) > 1
    assert found == [["a"]] * (len(found) - 1) + [["a", "b"]]


async def test_a_second_emulator_cannot_open_a_restored_directory(tmp_path: Path) -> None:
    settings = EmulatorSettings(data_dir=tmp_path)
    async with CosmosEmulator(settings) as emulator:
        await emulator.controls.reset()

        with pytest.raises(OSError, match="in use by another emulator"):
            await CosmosEmulator(EmulatorSettings(data_dir=tmp_path)).__aenter__()


async def test_a_small_account_is_restored_in_milliseconds(emulator: CosmosEmulator, client: CosmosClient) -> None:
    database = await client.create_database("shop")
    for name in ("orders", "customers"):
        container = await database.create_container(name, PartitionKey("/pk"))
        for number in range(20):
            await container.create_item({"id": str(number), "pk": f"p{number}"})
    await emulator.controls.snapshot("seeded")
    times_s = []
    for _ in range(30):
        await container.upsert_item({"id": "1", "pk": "p1", "changed": True})
        started = time.perf_counter()
        await emulator.controls.restore("seeded")
        times_s.append(time.perf_counter() - started)
    assert statistics.median(times_s) < 0.1  # a median of 1 to 4 ms, on a machine that can be busy


# exported files


async def test_an_export_can_be_imported(
    session: ClientSession, client: CosmosClient, database: DatabaseProxy, container: ContainerProxy
) -> None:
    items = [{"id": str(number), "pk": f"p{number}", "n": number / 2, "_own": "ü"} for number in range(30)]
    for item in items:
        await container.create_item(item)
    limited = await database.create_container(
        "limited",
        PartitionKey(["/tenant", "/user"], kind="MultiHash"),
        default_ttl=60,
        unique_key_policy={"uniqueKeys": [{"paths": ["/name"]}]},
        indexing_policy={"includedPaths": [{"path": "/name/?"}], "excludedPaths": [{"path": "/*"}]},
        offer_throughput=700,
    )
    await limited.create_item({"id": "a", "tenant": "t", "user": "u", "name": "n"})
    await container.scripts.create_stored_procedure({"id": "s", "body": "function () { __.response.setBody(1); }"})
    await container.scripts.create_user_defined_function({"id": "f", "body": "function (x) { return x; }"})
    await container.scripts.create_trigger(
        {"id": "t", "body": "function () {}", "triggerType": "Pre", "triggerOperation": "All"}
    )
    user = await database.create_user({"id": "ada"})
    await user.create_permission({"id": "reads", "permissionMode": "Read", "resource": "dbs/db/colls/items"})
    shared = await client.create_database("shared", offer_throughput=1000)
    await shared.create_container("small", PartitionKey("/pk"))
    async with session.get("/_emulator/export") as response:
        assert (response.status, response.content_type) == (200, "application/x-ndjson")
        exported = await response.read()
    definition = own(await limited.read())

    await send(session, "POST", "reset")
    assert await send(session, "POST", "import", data=exported) == (204, None)

    for item in items:
        read = await container.read_item(item["id"], item["pk"])
        assert {name: read[name] for name in item} == item
    assert own(await limited.read()) == definition
    with fails_with(409):
        await limited.create_item({"id": "b", "tenant": "t", "user": "u", "name": "n"})
    assert (await limited.get_throughput()).offer_throughput == 700
    shared = client.get_database_client("shared")  # the former object has the former rid
    assert (await shared.get_throughput()).offer_throughput == 1000
    assert await container.scripts.execute_stored_procedure("s", partition_key="p") == 1
    assert [one["id"] async for one in container.scripts.list_user_defined_functions()] == ["f"]
    assert [one["id"] async for one in container.scripts.list_triggers()] == ["t"]
    user = client.get_database_client("db").get_user_client("ada")
    assert [one["id"] async for one in user.list_permissions()] == ["reads"]
    async with session.get("/_emulator/export") as response:
        assert sorted((await response.read()).splitlines()) == sorted(exported.splitlines())


async def test_an_export_can_be_written_and_read_in_process(
    emulator: CosmosEmulator, container: ContainerProxy, tmp_path: Path
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    file = tmp_path / "shop.jsonl"

    await emulator.controls.export_to(file)
    await container.create_item({"id": "b", "pk": "p"})
    await emulator.controls.import_from(file)

    assert await ids_in(container) == ["a"]


async def test_an_import_can_exceed_the_size_of_a_request(session: ClientSession, container: ContainerProxy) -> None:
    large = [{"id": str(number), "pk": "p", "text": "x" * 1_000_000} for number in range(20)]
    lines = [{"cosmosEmulatorExport": 1}, {"database": {"id": "db"}}]
    lines += [{"container": {"id": "items", "partitionKey": {"paths": ["/pk"]}}}, *({"item": one} for one in large)]

    assert await send(session, "POST", "import", data=io.BytesIO("\n".join(map(json.dumps, lines)).encode())) == (
        204,
        None,
    )

    assert len(await ids_in(container)) == 20


# The other files are invalid in themselves, which is 400.
CONFLICTS = ("Line 3: .*already exists", "Lines 4 to 5: .*has the id of another item")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "The file is empty"),
        (['{"id": "1"}'], "Line 1: This is not an export of an account"),
        (["{}}"], "Line 1: .*not a JSON text"),
        ([{"cosmosEmulatorExport": 2}], "Line 1: This is not an export"),
        ([{"item": {"id": "1"}}], "Line 2: A line with 'item' must follow one with its 'container'"),
        ([{"container": {"id": "c"}}], "Line 2: A line with 'container' must follow one with its 'database'"),
        ([{"database": {"id": "a/b"}}], "Line 2: .*'a/b'"),
        ([{"database": {"id": "d"}}, {"database": {"id": "d"}}], "Line 3: .*already exists"),
        ([{"database": {"id": "d"}, "offer": {"offerThroughput": 1}}], "Line 2: .*valid throughput"),
        ([{"database": {"id": "d"}}, {"container": {"id": "c"}}], "Line 3: "),
        ([{"database": {"id": "d"}}, {"permission": {"id": "p"}}], "Line 3: .*its 'user'"),
        ([{"database": {"id": "d"}}, {"trigger": {"id": "t"}}], "Line 3: .*its 'container'"),
        ([{"database": {"id": "d"}}, {"view": {"id": "v"}}], "Line 3: Expected an object with one of these: database"),
        (["DC", {"trigger": {"id": "t"}}], "Line 4: .*body; triggerType"),
        (["DC", {"item": {"id": 1}}], "Lines 4 to 4: .*'id; '"),
        (["DC", {"item": {"id": "1"}}, {"item": {"id": "1"}}], "Lines 4 to 5: .*has the id of another item"),
    ],
)
async def test_an_invalid_file_names_its_line_and_changes_nothing(
    session: ClientSession, emulator: CosmosEmulator, container: ContainerProxy, lines: list[Any], message: str
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    if lines and not isinstance(lines[0], str) and "cosmosEmulatorExport" not in lines[0]:
        lines = [{"cosmosEmulatorExport": 1}, *lines]
    if lines[:1] == ["DC"]:
        definition = {"id": "c", "partitionKey": {"paths": ["/pk"]}}
        lines = [{"cosmosEmulatorExport": 1}, {"database": {"id": "d"}}, {"container": definition}, *lines[1:]]
    data = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)

    status, error = await send(session, "POST", "import", data=data.encode())

    assert status == (409 if message in CONFLICTS else 400)
    assert re.search(message, json.loads(error["message"].partition(": ")[2].partition("\r")[0])["Errors"][0])
    assert await ids_in(container) == ["a"]
    assert list(root_of(emulator).glob("contents*")) == []


# the clock


@pytest.mark.parametrize("settings", [EmulatorSettings(partitions=1)])
async def test_the_clock_can_be_frozen_and_advanced(
    session: ClientSession, emulator: CosmosEmulator, database: DatabaseProxy
) -> None:
    carts = await database.create_container("carts", PartitionKey("/id"), default_ttl=3600)
    assert await send(session, "PATCH", "clock", json={"now": 1767225600, "frozen": True}) == (
        200,
        {"now": 1767225600.0, "frozen": True},
    )
    assert (await carts.create_item({"id": "1"}))["_ts"] == 1767225600
    await send(session, "PATCH", "clock", json={"advanceS": 3599})
    assert await ids_in(carts) == ["1"]
    await send(session, "PATCH", "clock", json={"advanceS": 1})
    assert await ids_in(carts) == []

    status, now = await send(session, "PATCH", "clock", json={"frozen": False})
    assert (status, now["frozen"], now["now"] - 1767229200 < 60) == (200, False, True)
    assert emulator.clock() > now["now"]
    await send(session, "DELETE", "clock")
    assert abs((await send(session, "GET", "clock"))[1]["now"] - time.time()) < 60


@pytest.mark.parametrize("settings", [EmulatorSettings(partitions=1)])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"now": "today"}, "now must be seconds since the epoch, not 'today'"),
        ({"now": -1}, "not a time from 1970 to 9999"),
        ({"now": 1e300}, "not a time from 1970 to 9999"),
        ({"frozen": 1}, "frozen must be true or false"),
        ({"advanceS": True}, "advanceS must be a number of seconds"),
        ({"advanceS": -5}, "cannot advance by -5 s"),
        ({"now": 5, "speed": 2}, "'speed' is not a property of the clock; use now, frozen, advanceS"),
    ],
)
async def test_an_invalid_time_changes_nothing(session: ClientSession, change: Any, message: str) -> None:
    status, error = await send(session, "PATCH", "clock", json={"frozen": True, **change})

    assert (status, message in error["message"]) == (400, True), error
    assert (await send(session, "GET", "clock"))[1]["frozen"] is False


async def test_a_clock_of_the_settings_cannot_be_changed() -> None:
    settings = EmulatorSettings(clock=lambda: 1_000_000_000.0)
    async with CosmosEmulator(settings) as emulator, ClientSession(emulator.endpoint) as session:
        assert (await send(session, "GET", "clock"))[0] == 400
        with pytest.raises(TypeError, match="a clock of their own"):
            _ = emulator.clock


def test_a_clock_runs_stops_and_runs_on() -> None:
    clock = AdjustableClock()
    clock.advance(100)
    assert 99 < clock() - time.time() < 101
    clock.freeze()
    stopped = clock()
    assert clock() == stopped
    clock.advance(0.5)
    assert clock() == stopped + 0.5
    clock.resume()
    clock.resume()
    assert stopped + 0.5 <= clock() < stopped + 60
    clock.reset()
    assert abs(clock() - time.time()) < 60
    for invalid in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"advance|time"):
            clock.advance(invalid)
