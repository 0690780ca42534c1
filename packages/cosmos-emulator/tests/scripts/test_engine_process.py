"""A single engine process: limits, exits and the pool."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cosmos_emulator.scripts import engine, engine_process
from cosmos_emulator.scripts.engine import EngineProcess
from cosmos_emulator.scripts.engine_pool import EnginePool
from cosmos_emulator.scripts.failures import ScriptEngineLostError, ScriptExhaustedError, ScriptTimedOutError
from cosmos_emulator.scripts.watchdog import Watchdog

MEMORY = 16 * 1024 * 1024
SLOW = '["f", "() => { const end = Date.now() + 300; while (Date.now() < end); return 1; }"]'
UNINTERRUPTIBLE = r'["f", "() => { for (;;) new RegExp(\"\\\\p{L}\".repeat(200), \"iu\"); }"]'


@pytest.fixture
def process() -> Iterator[EngineProcess]:
    started = EngineProcess()
    assert started.ready(MEMORY)
    yield started
    started.end()


def test_spent_time_excludes_the_transport(process: EngineProcess) -> None:
    process.define(SLOW, 5)

    assert process.call('["f"]', 5) == "=1"

    assert 0.25 < process.spent_s < 5


def test_a_process_past_its_time_limit_is_killed(process: EngineProcess) -> None:
    process.define(UNINTERRUPTIBLE, 60)
    started = time.monotonic()

    with pytest.raises(ScriptTimedOutError):
        process.call('["f"]', 0.1)

    assert time.monotonic() - started < 10
    assert not process.is_sound
    assert not process.ready(MEMORY)


def test_a_request_without_remaining_time_is_not_sent(process: EngineProcess) -> None:
    with pytest.raises(ScriptTimedOutError):
        process.define(SLOW, 0)

    assert process.is_sound


@pytest.mark.skipif(sys.platform == "win32", reason="requires POSIX signals")
@pytest.mark.parametrize(
    ("number", "failure"),
    [(signal.SIGSEGV, ScriptExhaustedError), (signal.SIGABRT, ScriptExhaustedError), (9, ScriptEngineLostError)],
)
def test_a_crash_is_blamed_on_the_script_and_a_kill_is_not(
    process: EngineProcess, number: int, failure: type[Exception]
) -> None:
    process.define(UNINTERRUPTIBLE, 5)
    killer = threading.Timer(0.1, os.kill, (process.pid, number))
    killer.start()

    with pytest.raises(failure):
        process.call('["f"]', 20)

    killer.join()


def test_the_process_limits_its_address_space_and_core_dumps(process: EngineProcess) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux shows the limits in /proc")
    limits = Path(f"/proc/{process.pid}/limits").read_text()

    assert f"Max address space         {engine_process._PROCESS_BYTES}" in limits
    assert "Max core file size        0" in limits


def test_closing_a_pool_ends_its_processes_and_later_use_starts_new_processes() -> None:
    pool = EnginePool()
    assert not pool.lacks_spare
    with pool.lent(MEMORY) as lent:
        first = lent.pid
    assert pool.lacks_spare
    pool.start_spares()
    assert not pool.lacks_spare

    pool.close()

    assert not pool.lacks_spare
    with pool.lent(MEMORY) as lent:
        assert lent.pid != first
        assert lent.define(SLOW, 5) == "?"
    pool.close()


def test_the_pool_reuses_processes_in_turn() -> None:
    pool = EnginePool()
    try:
        with pool.lent(MEMORY) as first, pool.lent(MEMORY) as second:
            pids = {first.pid, second.pid}
        for _ in range(4):
            with pool.lent(MEMORY) as first:
                assert first.pid in pids
        assert len(pids) == 2
    finally:
        pool.close()


def test_an_abandoned_script_ends_only_its_process() -> None:
    pool = EnginePool()
    try:
        with pool.lent(MEMORY) as left:
            left.is_sound = False  # as if an exception had occurred between a request and its response
            pid = left.pid
        with pool.lent(MEMORY) as other:
            assert other.pid != pid
    finally:
        pool.close()


def test_the_watchdog_wakes_for_an_earlier_deadline() -> None:
    watchdog, ended = Watchdog(), []

    class Watched:
        def __init__(self, name: str) -> None:
            self.name, self.killed = name, threading.Event()

        def kill_overdue(self) -> None:
            ended.append(self.name)
            self.killed.set()

    late, soon, spared = Watched("late"), Watched("soon"), Watched("spared")
    now = time.monotonic()
    watchdog.watch(late, now + 0.4)
    watchdog.watch(spared, now + 0.3)
    watchdog.watch(soon, now + 0.1)
    watchdog.release(spared)

    assert late.killed.wait(10)
    assert ended == ["soon", "late"]


def test_the_process_runs_on_systems_without_hang_up_polling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Systems other than Linux read requests in a thread. Set sys.platform so that the process does too.
    elsewhere = tmp_path / "elsewhere.py"
    run = f"runpy.run_path({engine_process.__file__!r}, run_name='__main__')"
    elsewhere.write_text(f"import runpy, sys\nsys.platform = 'elsewhere'\n{run}\n")
    monkeypatch.setattr(engine.wire, "__file__", str(elsewhere))
    process = EngineProcess()
    try:
        assert process.ready(MEMORY)
        assert process.define(UNINTERRUPTIBLE, 5) == "?"
        with pytest.raises(ScriptTimedOutError):
            process.call('["f"]', 0.1)
    finally:
        process.end()
    monkeypatch.undo()


def test_importing_engine_process_runs_nothing() -> None:
    assert runpy.run_path(engine_process.__file__)["main"]
