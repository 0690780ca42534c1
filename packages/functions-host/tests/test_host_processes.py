"""Host processes that share leases: balancing, kills, takeover, redelivery, shutdown."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import defaultdict
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession
from tests.cosmos_apps import Account, trigger
from tests.running import eventually, host_process, needs_sigterm, write_app

# Writes a line before and after each call. Hangs in between while a file named after the host exists.
RECORD = """
    record = {"host": os.environ["HOST_NAME"], "retry": retry_count,
              "items": [(doc["pk"], doc["id"], doc["_lsn"], doc.get("n")) for doc in docs]}
    with open("calls.jsonl", "a") as file:
        file.write(json.dumps({**record, "at": "begin"}) + "\\\\n")
    while os.path.exists("hang-" + os.environ["HOST_NAME"]):
        await asyncio.sleep(0.01)
    with open("calls.jsonl", "a") as file:
        file.write(json.dumps({**record, "at": "end"}) + "\\\\n")
""".replace("\\\\", "\\")


ENDLESS = "strategy='fixed_delay', max_retry_count='-1', delay_interval='00:00:00'"
HELLO = "@app.route(route='x', methods=['POST'])\ndef hello(req): return 'secret-answer'\n"


class Calls:
    """The calls recorded by the hosts of an app directory."""

    def __init__(self, app_dir: Path) -> None:
        self._path = app_dir / "calls.jsonl"

    def read(self, at: str = "begin", host: str | None = None) -> list[dict[str, Any]]:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        records = [json.loads(line) for line in lines]
        return [r for r in records if r["at"] == at and host in (None, r["host"])]

    def ids(self, at: str = "begin", host: str | None = None) -> list[str]:
        return [item[1] for record in self.read(at, host) for item in record["items"]]


@pytest.fixture
def app_dir(tmp_path: Path) -> Path:
    return write_app(tmp_path, trigger(start_from_beginning=True, body=RECORD.strip()))


async def shares(account: Account) -> list[int]:
    owners = [lease["Owner"] for lease in await account.lease_items()]
    return sorted(owners.count(owner) for owner in set(owners) if owner)


async def has_shares(account: Account, expected: list[int]) -> bool:
    return await shares(account) == expected


@pytest.mark.parametrize("partitions", [4])
async def test_another_host_takes_over_the_leases_and_the_batch_of_a_killed_host(
    app_dir: Path, account: Account
) -> None:
    async with host_process(app_dir, "a", account.environment) as first:
        async with host_process(app_dir, "b", account.environment):
            await eventually(lambda: has_shares(account, [2, 2]))
            calls = Calls(app_dir)
            (app_dir / "hang-a").touch()
            early = [f"early{n}" for n in range(30)]
            await account.write(*early)
            await eventually(lambda: calls.read(host="a") and calls.read("end", "b"))
            in_flight = set(calls.ids(host="a")) - set(calls.ids("end", "a"))

            await first.kill()
            (app_dir / "hang-a").unlink()
            await eventually(lambda: has_shares(account, [4]))
            late = [f"late{n}" for n in range(10)]
            await account.write(*late)
            await eventually(lambda: set(calls.ids("end")) == {*early, *late})

        assert in_flight
        assert in_flight <= set(calls.ids("end", "b"))
        assert {record["retry"] for record in calls.read()} == {0}


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", [4])
async def test_changes_arrive_in_order_per_logical_partition_while_hosts_start_and_stop(
    app_dir: Path, account: Account
) -> None:
    calls = Calls(app_dir)

    async def write(rounds: range) -> None:
        for n in rounds:
            for pk in range(8):
                await account.write(f"{pk}-{n}", pk=f"p{pk}", n=n)

    async with host_process(app_dir, "a", account.environment) as first:
        await write(range(5))
        async with host_process(app_dir, "b", account.environment):
            await write(range(5, 10))
            await first.kill()
            await write(range(10, 15))
            async with host_process(app_dir, "c", account.environment):
                await write(range(15, 20))
                await eventually(lambda: len(set(calls.ids("end"))) == 160)

    assert first_deliveries(calls) == {f"p{pk}": list(range(20)) for pk in range(8)}


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", [6])
async def test_two_of_three_hosts_take_over_when_the_third_is_killed(app_dir: Path, account: Account) -> None:
    last_round = 23
    partition_keys = [f"p{n}" for n in range(12)]
    async with AsyncExitStack() as hosts:
        starts = (hosts.enter_async_context(host_process(app_dir, name, account.environment)) for name in "abc")
        doomed, *_ = [await start for start in starts]
        await eventually(lambda: has_shares(account, [2, 2, 2]))
        calls = Calls(app_dir)
        for n in range(last_round + 1):
            if n == 8:
                (app_dir / "hang-a").touch()
            if n == 16:
                await eventually(lambda: set(calls.ids(host="a")) - set(calls.ids("end", "a")))
                await doomed.kill()
            for pk in partition_keys:
                await account.write(f"{pk}-{n}", pk=pk, n=n)
        in_flight = set(calls.ids(host="a")) - set(calls.ids("end", "a"))
        wanted = {f"{pk}-{n}" for pk in partition_keys for n in range(last_round + 1)}
        await eventually(lambda: set(calls.ids("end")) == wanted)
        await eventually(lambda: has_shares(account, [3, 3]))

    assert in_flight <= {*calls.ids("end", "b"), *calls.ids("end", "c")}
    assert all(calls.ids("end", host) for host in "abc")
    assert first_deliveries(calls) == {pk: list(range(last_round + 1)) for pk in partition_keys}


def first_deliveries(calls: Calls) -> dict[str, list[int]]:
    """Return the item numbers of each logical partition in order of first arrival."""
    arrived: dict[str, list[int]] = defaultdict(list)
    for record in calls.read("end"):
        for pk, _, _, n in record["items"]:
            if n not in arrived[pk]:
                arrived[pk].append(n)
    return arrived


@needs_sigterm
@pytest.mark.parametrize("partitions", [4])
async def test_sigterm_releases_the_leases_and_exits_0(app_dir: Path, account: Account) -> None:
    async with host_process(app_dir, "a", account.environment) as host:
        await eventually(lambda: has_shares(account, [4]))

        assert await host.terminate() == 0
        assert [lease["Owner"] for lease in await account.lease_items()] == [None] * 4
        assert "stopping" in host.log.read_text()


async def test_a_request_logs_one_line_without_query_and_bodies(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, HELLO)
    async with host_process(app_dir, "a", {}) as host, ClientSession() as http:
        await http.post(f"{host.url}/api/x?code=secret-key", data=b"secret-body")
        await http.get(f"{host.url}/api/missing")
        lines = await eventually(lambda: lines_after_two_requests(host.log))

    assert [re.sub(r"[\d.]+ ms$", "_ ms", line.partition("Host.Http ")[2]) for line in lines] == [
        "POST /api/x 200 _ ms",
        "GET /api/missing 404 _ ms",
    ]
    assert "secret" not in host.log.read_text()


def lines_after_two_requests(log: Path) -> list[str]:
    lines = [line for line in log.read_text().splitlines() if "/api/" in line or "function=hello id=" in line]
    return lines if any("missing" in line for line in lines) else []


async def test_quiet_omits_requests(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, HELLO)
    async with host_process(app_dir, "a", {}, "--quiet") as host, ClientSession() as http:
        await http.post(f"{host.url}/api/x")
        await host.terminate()

    assert "/api/x" not in host.log.read_text()


async def test_version_names_the_distribution() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "functions_host", "--version"), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()

    assert output.decode().split() == ["functions-host", version("functions-host")]


async def test_an_invalid_app_exits_1_with_the_reason(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "app = None\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "functions_host", "--port", "0", "--app-dir", str(app_dir)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, stderr = await process.communicate()

    assert process.returncode == 1
    assert b"Could not find top level function app" in stderr


@pytest.mark.nightly
@needs_sigterm
async def test_a_hanging_sync_function_does_not_block_the_exit(tmp_path: Path) -> None:
    source = "import logging, threading\n"
    source += "@app.timer_trigger(arg_name='t', schedule='0 0 0 1 1 *', run_on_startup=True)\n"
    source += "def hang(t: func.TimerRequest):\n    logging.warning('hanging')\n    threading.Event().wait()\n"
    async with host_process(write_app(tmp_path, source), "a", {}) as host:
        await eventually(lambda: "hanging" in host.log.read_text())

        assert await host.terminate() == 0


@needs_sigterm
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
async def test_a_second_signal_ends_the_host_at_once_and_names_the_running_calls(tmp_path: Path, number: str) -> None:
    source = "import signal, time\n@app.route(route='x')\nasync def block(req):\n"
    source += f"    for _ in range(2): signal.raise_signal(signal.{number})\n    time.sleep(600)\n"
    async with host_process(write_app(tmp_path, source), "a", {}) as host, ClientSession() as http:
        assert await status_of(http, f"{host.url}/api/x") is None

        assert await asyncio.wait_for(host.process.wait(), 60) == 1
        assert "aborted calls: block" in host.log.read_text()


async def status_of(http: ClientSession, url: str) -> int | None:
    """Return the status of the response, or None if the connection was lost."""
    try:
        async with http.get(url) as response:
            return response.status
    except ClientError:
        return None


@pytest.mark.parametrize("body", ["await asyncio.Event().wait()", "time.sleep(60)"])
async def test_a_batch_over_the_timeout_ends_the_host_and_is_delivered_again(
    tmp_path: Path, account: Account, body: str
) -> None:
    body = f"{RECORD.strip()}\n    if os.environ['HOST_NAME'] == 'a': {body}"
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, retry=ENDLESS, body=body))
    timeout = {"AzureFunctionsJobHost__functionTimeout": "00:00:01"}
    calls = Calls(app_dir)
    async with host_process(app_dir, "a", account.environment | timeout) as host:
        await account.write("x")

        assert await asyncio.wait_for(host.process.wait(), 60) == 1

        assert "Timeout value of 0:00:01 exceeded by function 'changed' (functionTimeout in host.json)" in (
            host.log.read_text()
        )
        assert [lease["Owner"] is None for lease in await account.lease_items()] == [False]
        assert await account.checkpoints() == [None]
    async with host_process(app_dir, "b", account.environment):
        await eventually(lambda: calls.ids("end", "b") == ["x"])


@pytest.mark.parametrize(
    "function",
    [
        "async def hang(req): await asyncio.Event().wait()",
        "async def hang(req): time.sleep(60)",
        "def hang(req): time.sleep(60)",
    ],
)
async def test_a_request_over_the_timeout_ends_the_host(tmp_path: Path, function: str) -> None:
    app_dir = write_app(tmp_path, f"import asyncio, time\n@app.route(route='x')\n{function}\n")
    (app_dir / "host.json").write_text('{"version": "2.0", "functionTimeout": "00:00:01"}')
    async with host_process(app_dir, "a", {}) as host, ClientSession() as http:
        assert await status_of(http, f"{host.url}/api/x") is None
        assert await asyncio.wait_for(host.process.wait(), 60) == 1

        assert "exceeded by function 'hang'" in host.log.read_text()


async def test_a_timer_over_the_timeout_ends_the_host(tmp_path: Path) -> None:
    source = "import os, time\n@app.timer_trigger(arg_name='t', schedule='* * * * * *')\n"
    source += "async def tick(t: func.TimerRequest):\n    if os.path.exists('hang'): time.sleep(60)\n"
    app_dir = write_app(tmp_path, source)
    (app_dir / "host.json").write_text('{"version": "2.0", "functionTimeout": "00:00:01"}')
    async with host_process(app_dir, "a", {}) as host:
        (app_dir / "hang").touch()
        assert await asyncio.wait_for(host.process.wait(), 60) == 1

        assert "exceeded by function 'tick'" in host.log.read_text()


@pytest.mark.nightly
@needs_sigterm
async def test_each_attempt_gets_the_whole_timeout(tmp_path: Path, account: Account) -> None:
    body = f"{RECORD.strip()}\n    await asyncio.sleep(1)\n    if retry_count < 3: raise ValueError"
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, retry=ENDLESS, body=body))
    timeout = {"AzureFunctionsJobHost__functionTimeout": "00:00:03"}
    async with host_process(app_dir, "a", account.environment | timeout) as host:
        await account.write("x")
        await eventually(account.has_checkpoint)

        assert [record["retry"] for record in Calls(app_dir).read()] == [0, 1, 2, 3]
        assert await host.terminate() == 0


async def test_a_host_keeps_its_lease_while_a_function_blocks_the_event_loop(tmp_path: Path, account: Account) -> None:
    # Computes, and holds the GIL, for more than twice the lease expiration (FAST).
    compute = "end = time.monotonic() + 4\n    while os.environ['HOST_NAME'] == 'a' and time.monotonic() < end: pass"
    body = f"{RECORD.strip()}\n    {compute}\n    open('done', 'w').close()"
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, body=body))
    calls = Calls(app_dir)
    async with host_process(app_dir, "a", account.environment):
        await account.write("x")
        await eventually(lambda: calls.ids("end", "a"))
        async with host_process(app_dir, "b", account.environment):
            await eventually((app_dir / "done").exists)
            await eventually(account.has_checkpoint)

            assert [(record["host"], record["items"][0][1]) for record in calls.read()] == [("a", "x")]
