"""The Cosmos DB trigger on one host: delivery, checkpoints, retries, restarts."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from functions_host.cosmos_trigger.change_feed import FeedPage, FeedReader
from tests.cosmos_apps import Account, Clock, calls, emulator_process, ids_of, trigger
from tests.ports import free_port
from tests.running import app_module, eventually, running, write_app


async def test_changes_are_delivered_with_system_properties(account: Account, tmp_path: Path) -> None:
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        await host.ready()
        await account.write("a", value={"n": [1, 2.5, None]}, when="2024-01-01T00:00:00Z")
        await eventually(calls)
        item = calls()[0][2][0]

    assert (item["id"], item["value"], item["when"]) == ("a", {"n": [1, 2.5, None]}, "2024-01-01T00:00:00Z")
    assert isinstance(item["_ts"], int)
    assert isinstance(item["_lsn"], int)
    assert item["_etag"].startswith('"')


async def test_a_netrc_file_does_not_replace_the_key(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login ada password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    await account.write("a")
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["a"]


async def test_changes_before_the_start_are_not_delivered_by_default(
    account: Account, clock: Clock, tmp_path: Path
) -> None:
    # The start is pinned to one second ago, and the service compares whole seconds.
    clock.offset_s = -10
    await account.write("old")
    clock.offset_s = 0
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        await host.ready()
        await account.write("new")
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["new"]


async def test_start_from_beginning_delivers_each_item_once_in_order(account: Account, tmp_path: Path) -> None:
    await account.write("a", "b", "c")
    await account.write("a", again=True)
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(lambda: len(ids_of(calls())) >= 3)
        delivered = [item for _, _, items in calls() for item in items]

    assert [item["id"] for item in delivered] == ["b", "c", "a"]
    assert [item["_lsn"] for item in delivered] == sorted(item["_lsn"] for item in delivered)


async def test_start_from_time_delivers_only_later_changes(account: Account, clock: Clock, tmp_path: Path) -> None:
    clock.offset_s = -30
    await account.write("old")
    moment = datetime.now(UTC) - timedelta(seconds=20)
    clock.offset_s = -10
    await account.write("new")
    source = trigger(start_from_time="%SINCE%")
    async with running(write_app(tmp_path, source), {**account.environment, "SINCE": moment.isoformat()}):
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["new"]


async def test_a_checkpoint_overrides_the_start_options(account: Account, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True))
    await account.write("first")
    async with running(app_dir, account.environment):
        await eventually(calls)
        await eventually(account.has_checkpoint)
    await account.write("while down")
    async with running(app_dir, account.environment):
        await eventually(calls)
        delivered = ids_of(calls())

    assert delivered == ["while down"]


async def test_full_pages_are_delivered_without_a_delay(account: Account, tmp_path: Path) -> None:
    await account.write(*(f"i{n:02}" for n in range(25)))
    source = trigger(start_from_beginning=True, max_items_per_invocation=10, feed_poll_delay=60_000)
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: len(ids_of(calls())) == 25)
        sizes = [len(ids) for ids, _, _ in calls()]
        delivered = ids_of(calls())

    assert sizes == [10, 10, 5]
    assert delivered == [f"i{n:02}" for n in range(25)]


async def test_an_idle_feed_is_polled_after_the_delay_without_empty_batches(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    """One read of the feed. Times are in seconds."""

    began: float
    ended: float
    is_new: bool


def record_reads(monkeypatch: pytest.MonkeyPatch) -> list[Read]:
    """Return a list that records every read of a feed."""
    reads: list[Read] = []
    read = FeedReader.read

    async def recorded(self: FeedReader, continuation: str | None) -> FeedPage:
        began = time.monotonic()
        page = await read(self, continuation)
        reads.append(Read(began, time.monotonic(), page.is_new))
        return page

    monkeypatch.setattr(FeedReader, "read", recorded)
    return reads


async def test_without_a_retry_policy_a_failed_batch_is_skipped(account: Account, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="assert ids != ['bad'], 'no'")
    async with running(write_app(tmp_path, source), account.environment):
        for item_id in ("bad", "good"):
            await account.write(item_id)
            await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
        seen = [(ids, retry_count) for ids, retry_count, _ in calls()]

    assert seen == [(["bad"], 0), (["good"], 0)]


async def test_a_batch_is_skipped_after_its_retries(account: Account, tmp_path: Path) -> None:
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


async def test_a_successful_retry_writes_a_checkpoint(account: Account, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True, body="assert retry_count == 1", retry="'fixed_delay', '5', delay_interval='00:00:00'"
    )
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(account.has_checkpoint)
        await eventually(lambda: len(calls()) == 2)


async def test_host_json_sets_the_default_retry_policy(account: Account, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, body="assert retry_count == 1"))
    policy = {"strategy": "fixedDelay", "maxRetryCount": 3, "delayInterval": "00:00:00"}
    (app_dir / "host.json").write_text(json.dumps({"version": "2.0", "retry": policy}))
    async with running(app_dir, account.environment):
        await account.write("a")
        await eventually(lambda: len(calls()) == 2)


async def test_returning_a_value_fails_the_call(account: Account, tmp_path: Path) -> None:
    source = trigger(start_from_beginning=True, body="return 1", retry="'fixed_delay', '1', delay_interval='00:00:00'")
    source = source.replace(") -> None:", "):")
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(lambda: len(calls()) == 2)


@pytest.mark.parametrize("partitions", [4])
async def test_unlimited_retries_block_only_their_lease(account: Account, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True,
        body="assert 'poison' not in ids",
        retry="'fixed_delay', '-1', delay_interval='00:00:00'",
        max_items_per_invocation=1,
    ).replace("assert 'poison'", "await asyncio.sleep(0.05)\n    assert 'poison'")
    await account.write("poison")
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: sum(ids == ["poison"] for ids, _, _ in calls()) > 5)
        others = [f"i{n}" for n in range(40)]
        await account.write(*others)
        leases = await eventually(lambda: delivered_ranges(account, others))
        behind_poison = set(others) - set(ids_of(calls()))

    assert leases == 3
    assert behind_poison


async def delivered_ranges(account: Account, others: list[str]) -> int:
    """Return the number of leases with a checkpoint once the unblocked ones have made progress."""
    done = [checkpoint for checkpoint in await account.checkpoints() if checkpoint is not None]
    return len(done) if len(done) >= 3 and len(set(ids_of(calls())) & set(others)) > 10 else 0


async def test_drain_checkpoints_the_running_batch(account: Account, tmp_path: Path, http: ClientSession) -> None:
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


async def test_stop_interrupts_the_wait_for_a_retry(account: Account, tmp_path: Path) -> None:
    source = trigger(
        start_from_beginning=True, body="assert False", retry="'fixed_delay', '-1', delay_interval='01:00:00'"
    )
    async with running(write_app(tmp_path, source), account.environment):
        await account.write("a")
        await eventually(calls)
        stopped_at = time.monotonic()

    assert time.monotonic() - stopped_at < 10
    assert await account.checkpoints() == [None]


async def test_raw_json_is_delivered_to_str_and_bytes_parameters(account: Account, tmp_path: Path) -> None:
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


async def test_the_admin_api_triggers_a_cosmos_function(account: Account, tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        body = {"input": json.dumps([{"id": "manual"}])}
        statuses = [
            (await http.post(f"{host.url}/admin/functions/changed", json=body)).status,
            (await http.post(f"{host.url}/admin/functions/changed", json={"input": "{}"})).status,
        ]
        await eventually(calls)
        delivered = ids_of(calls())

    assert (statuses, delivered) == ([202, 400], ["manual"])


@pytest.mark.nightly
async def test_an_unavailable_account_is_retried_and_its_feed_continued(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data_dir = tmp_path / "data"
    app_dir = write_app(tmp_path / "app", trigger(start_from_beginning=True, lease_expiration_interval=60_000))
    port = free_port()
    async with emulator_process(data_dir, port) as account:
        await account.write("a")
        environment = account.environment

    async with running(app_dir, environment) as host:
        await eventually(lambda: "unable to start" in caplog.text)
        assert not host.is_listening("changed")
        for item_id in ("b", "c"):
            async with emulator_process(data_dir, port) as account:
                await account.write(item_id)
                await eventually(lambda item_id=item_id: item_id in ids_of(calls()))
                await eventually(account.has_checkpoint)
        delivered = ids_of(calls())

    assert sorted(set(delivered)) == ["a", "b", "c"]


async def test_changes_are_delivered_after_every_operation_returned_410(
    cosmos: Any, account: Account, tmp_path: Path
) -> None:
    async with running(write_app(tmp_path, trigger()), account.environment) as host:
        await host.ready()
        await account.write("before")
        await eventually(calls)
        with cosmos.faults.during("410 operation=list-ranges") as ranges, cosmos.faults.during("410"):
            await eventually(lambda: ranges.struck)
        await account.write("after")
        await eventually(lambda: "after" in ids_of(calls()))


@pytest.mark.parametrize(
    "fault",
    [
        "404 sub-status=1002 operation=change-feed container=items",
        "404 sub-status=1003 operation=change-feed container=items",
        "403 operation=replace container=leases",
    ],
)
async def test_refused_feeds_and_leases_lose_no_change(
    account: Account, tmp_path: Path, cosmos: Any, fault: str
) -> None:
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment) as host:
        await host.ready()
        await account.write("before")
        await eventually(lambda: ids_of(calls()) == ["before"])
        await eventually(account.has_checkpoint)

        with cosmos.faults.during(fault) as struck:
            await account.write("during")
            await eventually(lambda: struck.struck >= 3)
        await account.write("after")

        await eventually(lambda: {"during", "after"} <= set(ids_of(calls())))
