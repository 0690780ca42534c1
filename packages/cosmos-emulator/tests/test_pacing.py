"""The event loop and worker threads share Python's interpreter lock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from cosmos_emulator.runtime import pacing
from cosmos_emulator.runtime.pacing import ON_LOOP, checkpoint, in_worker

DEADLINE_S = 10.0


def test_a_worker_rests_while_the_event_loop_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_LOOP_FIRST_S", DEADLINE_S)  # on a busy machine, the loop computes for long
    steps, ends = 0, threading.Event()

    def work() -> None:
        nonlocal steps
        with in_worker(None, 2 * DEADLINE_S):
            while not ends.is_set():
                checkpoint()
                steps += 1

    worker = threading.Thread(target=work)
    worker.start()
    try:
        _wait_for_steps(lambda: steps)
        with ON_LOOP:
            before = steps
            for _ in range(20):
                time.sleep(0.0001)  # releases the interpreter lock, as an SQLite statement does
            during = steps - before
        _wait_for_steps(lambda: steps - before - during)
    finally:
        ends.set()
        worker.join(DEADLINE_S)

    assert during <= 1


def _wait_for_steps(count: Callable[[], int]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while count() < 100:
        assert time.monotonic() < deadline
        time.sleep(0.001)
