"""The Cosmos DB trigger of one host: what is delivered, when, how often, and what is remembered."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from yarl import URL

from local.functions_host import FunctionsHost
from local.functions_host.cosmos_trigger.change_feed import FeedPage, FeedReader
from tests.local.functions_host.cosmos_apps import Watched, ids_of, trigger, watched
from tests.local.functions_host.running import app_module, eventually, running, settings, write_app


@pytest.fixture
async def account() -> AsyncIterator[Watched]:
    async with watched() as account:
        yield account


def calls(name: str = "changed") -> list[tuple[list[str], int, list[dict[str, Any]]]]:
    return getattr(app_module(), f"{name}_calls")  # type: ignore[no-any-return]


async def test_changes_after_the_start_are_delivered_with_their_system_properties(
    account: Watched, tmp_path: Path
) -> None:
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        await host.ready()
        await account.write("a", value={"n": [1, 2.5, None]}, when="2024-01-01T00:00:00Z")
        await eventually(calls)
        item = calls()[0][2][0]

    assert (item["id"], item["value"], item["when"]) == ("a", {"n": [1, 2.5, None]}, "2024-01-01T00:00:00Z")
    assert isinstance(item["_ts"], int)
    assert isinstance(item["_lsn"], int)
    assert item["_etag"].startswith('"')


async def test_by_default_what_was_written_before_the_start_is_not_delivered(account: Watched, tmp_path: Path) -> None:
    # The start is pinned to one second ago and the service compares whole seconds.
    account.clock.offset_s = -10
    await account.write("old")
    account.clock.offset_s = 0
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        await host.ready()
        await account.write("new")
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["new"]


async def test_from_the_beginning_everything_is_delivered_once_in_order(account: Watched, tmp_path: Path) -> None:
    await account.write("a", "b", "c")
    await account.write("a", again=True)
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(lambda: len(ids_of(calls())) >= 3)
        delivered = [item for _, _, items in calls() for item in items]

    assert [item["id"] for item in delivered] == ["b", "c", "a"]
    assert [item["_lsn"] for item in delivered] == sorted(item["_lsn"] for item in delivered)


async def test_from_a_time_only_later_changes_are_delivered(account: Watched, tmp_path: Path) -> None:
    account.clock.offset_s = -30
    await account.write("old")
    moment = datetime.now(UTC) - timedelta(seconds=20)
    account.clock.offset_s = -10
    await account.write("new")
    source = trigger(start_from_time="%SINCE%")
    async with running(write_app(tmp_path, source), {**account.environment, "SINCE": moment.isoformat()}):
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["new"]


async def test_a_continuation_wins_over_the_start_options(account: Watched, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True))
    await account.write("first")
    async with running(app_dir, account.environment):
        await eventually(calls)
        await eventually(account.checkpoints)
    await account.write("while down")
    async with running(app_dir, account.environment):
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["while down"]


async def test_batches_keep_to_the_maximum_and_follow_each_other_without_a_delay(
    account: Watched, tmp_path: Path
) -> None:
    await account.write(*(f"i{n:02}" for n in range(25)))
    source = trigger(start_from_beginning=True, max_items_per_invocation=10, feed_poll_delay=60_000)
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: len(ids_of(calls())) == 25)
        sizes = [len(ids) for ids, _, _ in calls()]
        delivered = ids_of(calls())

    assert sizes == [10, 10, 5]
    assert delivered == [f"i{n:02}" for n in range(25)]


async def test_an_idle_feed_is_polled_after_the_delay_and_never_delivers_an_empty_batch(
    account: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = record_reads(monkeypatch)
    source = trigger(start_from_beginning=True, feed_poll_delay=300)
    async with running(write_app(tmp_path, source), account.environment):
        for item_id in ("a", "b"):
            await account.write(item_id)
            await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
        seen = len(reads)
        await eventually(lambda: len(reads) > seen + 2)
        batches = [ids for ids, _, _ in calls()]

    assert batches == [["a"], ["b"]]
    waits = [after.began - before.ended for before, after in pairwise(reads) if not before.is_new]
    assert min(waits) > 0.29


@dataclass(frozen=True)
class Read:
    """One read of the feed: its moments in seconds, and whether it found changes."""

    began: float
    ended: float
    is_new: bool


def record_reads(monkeypatch: pytest.MonkeyPatch) -> list[Read]:
    """The reads of every feed from now on."""
    reads: list[Read] = []
    read = FeedReader.read

    async def recorded(self: FeedReader, continuation: str | None) -> FeedPage:
        began = time.monotonic()
        page = await read(self, continuation)
        reads.append(Read(began, time.monotonic(), page.is_new))
        return page

    monkeypatch.setattr(FeedReader, "read", recorded)
    return reads


async def test_without_a_retry_policy_a_failed_batch_is_skipped(account: Watched, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="assert ids != ['bad'], 'no'")
    async with running(write_app(tmp_path, source), account.environment):
        for item_id in ("bad", "good"):
            await account.write(item_id)
            await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
        seen = [(ids, retry_count) for ids, retry_count, _ in calls()]

    assert seen == [(["bad"], 0), (["good"], 0)]


async def test_a_retry_policy_of_n_makes_one_and_n_calls_and_then_skips(account: Watched, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True,
        body="docs.clear(); assert ids != ['bad']",
        retry="'fixed_delay', '2', delay_interval='00:00:00'",
    )
    async with running(write_app(tmp_path, source), account.environment):
        for item_id in ("bad", "good"):
            await account.write(item_id)
            await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
        seen = [(ids, retry_count) for ids, retry_count, _ in calls()]

    assert seen == [(["bad"], 0), (["bad"], 1), (["bad"], 2), (["good"], 0)]


async def test_a_success_on_a_retry_is_a_success(account: Watched, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True, body="assert retry_count == 1", retry="'fixed_delay', '5', delay_interval='00:00:00'"
    )
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(account.checkpoints)
        await eventually(lambda: len(calls()) == 2)


async def test_host_json_gives_a_policy_to_functions_without_one(account: Watched, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, body="assert retry_count == 1"))
    policy = {"strategy": "fixedDelay", "maxRetryCount": 3, "delayInterval": "00:00:00"}
    (app_dir / "host.json").write_text(json.dumps({"version": "2.0", "retry": policy}))
    async with running(app_dir, account.environment):
        await account.write("a")
        await eventually(lambda: len(calls()) == 2)


async def test_a_returned_value_is_a_failure(account: Watched, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="return 1", retry="'fixed_delay', '1', delay_interval='00:00:00'")
    source = source.replace(") -> None:", "):")
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(lambda: len(calls()) == 2)


async def test_an_endless_policy_blocks_only_its_lease(tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True,
        body="assert 'poison' not in ids",
        retry="'fixed_delay', '-1', delay_interval='00:00:00'",
        max_items_per_invocation=1,
    ).replace("assert 'poison'", "await asyncio.sleep(0.05)\n    assert 'poison'")
    async with watched(partitions=4) as account:
        await account.write("poison")
        async with running(write_app(tmp_path, source), account.environment):
            await eventually(lambda: sum(ids == ["poison"] for ids, _, _ in calls()) > 5)
            others = [f"i{n}" for n in range(40)]
            await account.write(*others)
            leases = await eventually(lambda: delivered_ranges(account, others))
            behind_poison = set(others) - set(ids_of(calls()))

    assert leases == 3
    assert behind_poison


async def delivered_ranges(account: Watched, others: list[str]) -> int:
    """How many leases have a checkpoint, once the free ones are through."""
    done = [checkpoint for checkpoint in await account.checkpoints() if checkpoint is not None]
    return len(done) if len(done) >= 3 and len(set(ids_of(calls())) & set(others)) > 10 else 0


async def test_the_lease_container_is_made_as_the_real_host_makes_it(account: Watched, tmp_path: Path) -> None:
    source = trigger(lease_container_name="mine", lease_database_name="other", lease_container_prefix="p-%HOST%")
    async with running(write_app(tmp_path, source), {**account.environment, "HOST": "x"}) as host:
        await host.ready()
        made = account.items.client_connection
        container = await made.ReadContainer("dbs/other/colls/mine")

    assert container["partitionKey"]["paths"] == ["/id"]
    assert container["defaultTtl"] == -1


async def test_lease_documents_have_the_change_feed_processors_shape(tmp_path: Path) -> None:
    async with watched(partitions=4) as account:
        rid = (await account.items.read())["_rid"]
        database_rid = (await account.database.read())["_rid"]
        source = trigger(start_from_beginning=True, lease_container_prefix="pre")
        async with running(write_app(tmp_path, source), account.environment):
            await account.write("a")
            await eventually(calls)
            leases = await eventually(lambda: all_owned(account, 4))
            await eventually(lambda: any_checkpoint(account))
            leases = await account.lease_items()
            proxy = account.database.get_container_client("leases")
            others = {item["id"] async for item in proxy.read_all_items() if "LeaseToken" not in item}

    prefix = f"pre127.0.0.1_{database_rid}_{rid}"
    assert others == {f"{prefix}.info"}
    assert [lease["id"] for lease in leases] == [f"{prefix}..{lease['LeaseToken']}" for lease in leases]
    for lease in leases:
        assert set(lease["FeedRange"]["Range"]) == {"min", "max"}
        assert (lease["version"], lease["Mode"], lease["properties"]) == (0, "Incremental Feed", {})
        assert len(lease["timestamp"]) == len("2024-01-01T00:00:00.0000000Z")
    assert len({lease["Owner"] for lease in leases}) == 1
    assert [lease["ContinuationToken"][0] for lease in leases if lease["ContinuationToken"]] == ['"']


async def all_owned(account: Watched, count: int) -> list[dict[str, Any]]:
    leases = await account.lease_items()
    return leases if len(leases) == count and all(lease["Owner"] for lease in leases) else []


async def any_checkpoint(account: Watched) -> bool:
    return any(await account.checkpoints())


async def test_a_missing_lease_container_is_an_error_that_is_tried_again(
    account: Watched, tmp_path: Path, http: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    source = trigger(create_lease_container_if_not_exists=False, start_from_beginning=True)
    source += "\n@app.route(route='hello')\ndef hello(req): return 'x'\n"
    await account.write("a")
    async with running(write_app(tmp_path, source), account.environment) as host:
        await eventually(lambda: "does not exist" in caplog.text)
        assert "'leases'" in caplog.text
        assert (await http.get(f"{host.url}/api/hello")).status == 200
        assert not host.is_listening("changed")
        await account.database.create_container("leases", PartitionKey("/id"))
        await eventually(calls)


async def test_a_lease_container_of_another_key_is_refused_and_one_by_partition_key_works(
    account: Watched, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await account.database.create_container("wrong", PartitionKey("/other"))
    await account.database.create_container("keyed", PartitionKey("/partitionKey"))
    source = trigger("a", lease_container_name="wrong") + trigger(
        "b", lease_container_name="keyed", start_from_beginning=True
    )
    await account.write("x")
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: calls("b"))
        await eventually(lambda: "must be partitioned by /id" in caplog.text)
        leases = await account.lease_items("keyed")

    assert [lease["partitionKey"] for lease in leases] == [lease["id"] for lease in leases]


async def test_two_functions_with_prefixes_both_see_every_change(account: Watched, tmp_path: Path) -> None:
    source = trigger("one", start_from_beginning=True, lease_container_prefix="one")
    source += trigger("two", start_from_beginning=True, lease_container_prefix="two")
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a", "b")
        await eventually(lambda: ids_of(calls("one")) == ids_of(calls("two")) == ["a", "b"])


async def test_two_functions_with_the_same_prefix_split_the_changes(tmp_path: Path) -> None:
    source = trigger("one", start_from_beginning=True) + trigger("two", start_from_beginning=True)
    async with watched(partitions=4) as account, running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: owners_with(account, [2, 2]))
        rounds = iter(range(100))
        # Until the loser of a lease notices, it reads on: the first rounds may be delivered to both.
        await eventually(lambda: is_split_cleanly(account, f"r{next(rounds)}-"))


async def is_split_cleanly(account: Watched, prefix: str) -> bool:
    """Write a round of items, wait until all are delivered; True if each went to one function and both got some."""
    wanted = {f"{prefix}{n}" for n in range(20)}
    await account.write(*wanted)

    def of_round(name: str) -> list[str]:
        return [item_id for item_id in ids_of(calls(name)) if item_id.startswith(prefix)]

    await eventually(lambda: {*of_round("one"), *of_round("two")} == wanted)
    one, two = of_round("one"), of_round("two")
    return bool(one and two) and len(one) + len(two) == len(wanted)


async def owners_with(account: Watched, shares: list[int]) -> bool:
    owners = [lease["Owner"] for lease in await account.lease_items()]
    return sorted(owners.count(owner) for owner in set(owners) if owner) == shares


async def test_a_stop_releases_the_leases_and_does_not_check_point_the_batch_under_way(
    account: Watched, tmp_path: Path
) -> None:
    app_dir = write_app(
        tmp_path, trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    )
    host = FunctionsHost(settings(app_dir, account.environment))
    await host.start()
    module = app_module()
    await account.write("a")
    await eventually(lambda: module.changed_calls)

    stop = asyncio.create_task(host.stop())
    await asyncio.wait([stop], timeout=0.2)
    assert not stop.done()
    module.gate.set()
    await stop

    assert [(lease["Owner"], lease["ContinuationToken"]) for lease in await account.lease_items()] == [(None, None)]
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(calls)
        assert (calls()[0][0], calls()[0][1]) == (["a"], 0)


async def test_a_drain_lets_the_batch_under_way_count(account: Watched, tmp_path: Path, http: ClientSession) -> None:
    source = trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    async with running(write_app(tmp_path, source), account.environment) as host:
        await account.write("a")
        await eventually(calls)
        drain = asyncio.create_task(http.post(f"{host.url}/admin/host/drain"))
        await asyncio.wait([drain], timeout=0.2)
        app_module().gate.set()
        await drain
        leases = await account.lease_items()

    assert [lease["Owner"] for lease in leases] == [None]
    assert leases[0]["ContinuationToken"]


async def test_a_stop_interrupts_the_wait_for_a_retry(account: Watched, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True, body="assert False", retry="'fixed_delay', '-1', delay_interval='01:00:00'"
    )
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        stopped_at = time.monotonic()

    assert time.monotonic() - stopped_at < 5
    assert await account.checkpoints() == [None]


async def test_a_lease_is_renewed_while_its_function_runs(account: Watched, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        first = (await account.lease_items())[0]["timestamp"]
        await eventually(lambda: renewed_after(account, first))
        app_module().gate.set()


async def renewed_after(account: Watched, timestamp: str) -> bool:
    return bool((await account.lease_items())[0]["timestamp"] > timestamp)


async def test_a_lease_taken_by_another_owner_ends_here_and_its_batch_is_not_check_pointed(
    account: Watched, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = trigger(start_from_beginning=True, body="await gate.wait()") + "gate = asyncio.Event()"
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        lease = (await account.lease_items())[0]
        far = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z"
        stolen = {**lease, "Owner": "somebody", "timestamp": far}
        await account.database.get_container_client("leases").upsert_item(stolen)
        app_module().gate.set()
        await account.write("b")
        await eventually(lambda: "taken over by somebody" in caplog.text)
        delivered = ids_of(calls())
        after = (await account.lease_items())[0]

    assert delivered == ["a"]
    assert (after["Owner"], after["ContinuationToken"]) == ("somebody", None)


async def test_a_split_partitions_lease_is_replaced_by_its_childrens(tmp_path: Path) -> None:
    async with watched(partitions=4) as account:
        app_dir = write_app(tmp_path, trigger(start_from_beginning=True))
        async with running(app_dir, account.environment):
            await eventually(lambda: all_owned(account, 4))
        leases = account.database.get_container_client("leases")
        children = await account.lease_items()
        for child in children:
            await leases.delete_item(child["id"], child["id"])
        parent = {**children[0], "id": children[0]["id"].rpartition("..")[0] + "..parent", "LeaseToken": "parent"}
        parent["FeedRange"] = {"Range": {"min": "", "max": "FF"}}
        await leases.create_item({name: value for name, value in parent.items() if not name.startswith("_")})

        wanted = {f"i{n}" for n in range(20)}
        await account.write(*wanted)
        async with running(app_dir, account.environment):
            await eventually(lambda: set(ids_of(calls())) == wanted)
            after = await all_owned(account, 4)

    assert [lease["LeaseToken"] for lease in after] == [lease["LeaseToken"] for lease in children]


async def test_raw_json_is_delivered_to_str_and_bytes_parameters(account: Watched, tmp_path: Path) -> None:
    source = ""
    for kind in ("str", "bytes"):
        source += trigger(f"as_{kind}", start_from_beginning=True, lease_container_prefix=kind).replace(
            "docs: func.DocumentList", f"docs: {kind}"
        )
    source = source.replace('[doc["id"] for doc in docs]', "type(docs).__name__").replace(
        "[doc.to_dict() for doc in docs]", "json.loads(docs)"
    )
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(lambda: calls("as_str") and calls("as_bytes"))
        kinds = [calls(f"as_{kind}")[0][0] for kind in ("str", "bytes")]
        items = [calls(f"as_{kind}")[0][2][0]["id"] for kind in ("str", "bytes")]

    assert kinds == ["str", "bytes"]
    assert items == ["a", "a"]


async def test_a_cosmos_function_is_triggered_by_hand(account: Watched, tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        given = {"input": json.dumps([{"id": "by hand"}])}
        answers = [
            (await http.post(f"{host.url}/admin/functions/changed", json=given)).status,
            (await http.post(f"{host.url}/admin/functions/changed", json={"input": "{}"})).status,
        ]
        await eventually(calls)
        delivered = ids_of(calls())

    assert (answers, delivered) == ([202, 400], ["by hand"])


async def test_an_account_that_is_down_is_tried_again_and_one_that_comes_back_is_read_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data_dir = tmp_path / "data"
    app_dir = write_app(tmp_path / "app", trigger(start_from_beginning=True, lease_expiration_interval=60_000))
    async with watched(data_dir=data_dir) as account:
        await account.write("a")
        environment, port = account.environment, URL(account.endpoint).port

    async with running(app_dir, environment) as host:
        await eventually(lambda: "unable to start" in caplog.text)
        assert not host.is_listening("changed")
        for item_id in ("b", "c"):
            async with watched(data_dir=data_dir, port=port or 0) as account:
                await account.write(item_id)
                await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
                await eventually(account.checkpoints)
        delivered = ids_of(calls())

    assert sorted(set(delivered)) == ["a", "b", "c"]
