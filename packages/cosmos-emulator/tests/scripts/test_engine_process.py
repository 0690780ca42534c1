"""One engine process by itself: what becomes of it, and how its end is told."""

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
OUTLASTING = r'["f", "() => { for (;;) new RegExp(\"\\\\p{L}\".repeat(200), \"iu\"); }"]'


@pytest.fixture
def process() -> Iterator[EngineProcess]:
    started = EngineProcess()
    assert started.ready(MEMORY)
    yield started
    started.end()


def test_the_time_of_the_calls_is_told_without_the_way(process: EngineProcess) -> None:
    process.define(SLOW, 5)

    assert process.call('["f"]', 5) == "=1"

    assert 0.25 < process.spent_s < 5


def test_what_outlasts_its_time_is_killed(process: EngineProcess) -> None:
    process.define(OUTLASTING, 5)
    started = time.monotonic()

    with pytest.raises(ScriptTimedOutError):
        process.call('["f"]', 0.1)

    assert time.monotonic() - started < 1.1
    assert not process.is_sound
    assert not process.ready(MEMORY)


def test_a_request_without_time_is_not_sent(process: EngineProcess) -> None:
    with pytest.raises(ScriptTimedOutError):
        process.define(SLOW, 0)

    assert process.is_sound


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "failure"),
    [(signal.SIGSEGV, ScriptExhaustedError), (signal.SIGABRT, ScriptExhaustedError), (9, ScriptEngineLostError)],
)
def test_a_crash_is_the_scripts_and_a_kill_is_not(
    process: EngineProcess, number: int, failure: type[Exception]
) -> None:
    process.define(OUTLASTING, 5)
    killer = threading.Timer(0.1, os.kill, (process.pid, number))
    killer.start()

    with pytest.raises(failure):
        process.call('["f"]', 20)

    killer.join()


def test_more_addresses_than_the_process_may_have_are_the_scripts_fault(process: EngineProcess) -> None:
    if sys.platform != "linux":
        pytest.skip("other systems may have no such limit")
    limits = Path(f"/proc/{process.pid}/limits").read_text()

    assert f"Max address space         {engine_process._PROCESS_BYTES}" in limits
    assert "Max core file size        0" in limits


def test_a_pool_that_is_closed_has_ended_its_processes_and_starts_others() -> None:
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


def test_processes_are_used_in_turn_and_no_more_are_kept_than_needed() -> None:
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


def test_a_script_that_is_left_halfway_costs_its_process_and_no_other() -> None:
    pool = EnginePool()
    try:
        with pool.lent(MEMORY) as left:
            left.is_sound = False  # as an exception between a request and its answer leaves it
            pid = left.pid
        with pool.lent(MEMORY) as other:
            assert other.pid != pid
    finally:
        pool.close()


def test_a_watchdog_is_woken_for_what_is_due_sooner() -> None:
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


def test_it_also_runs_where_its_end_must_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On other systems than Linux a thread reads the requests; the same process, told that it is elsewhere."""
    elsewhere = tmp_path / "elsewhere.py"
    run = f"runpy.run_path({engine_process.__file__!r}, run_name='__main__')"
    elsewhere.write_text(f"import runpy, sys\nsys.platform = 'elsewhere'\n{run}\n")
    monkeypatch.setattr(engine.wire, "__file__", str(elsewhere))
    process = EngineProcess()
    try:
        assert process.ready(MEMORY)
        assert process.define(OUTLASTING, 5) == "?"
        with pytest.raises(ScriptTimedOutError):
            process.call('["f"]', 0.1)
    finally:
        process.end()
    monkeypatch.undo()


def test_importing_its_file_runs_nothing() -> None:
    assert runpy.run_path(engine_process.__file__)["main"]
