"""Keeps long work from blocking the event loop.

Work starts on the event loop, because a thread costs more than most requests need. Loops and large values call
`checkpoint` and `large_value`, which raise MovesToWorker on the loop if it would be blocked for long. The caller then
repeats the work in a worker thread. There, `checkpoint` raises OutOfTime at the deadline. It also lets only one worker
compute at a time, and only while the event loop does not: the loop releases Python's interpreter lock for each SQLite
statement, and would wait for it each time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from cosmos_emulator.errors import CosmosError

LARGE_BYTES: Final = 64 * 1024
"""Values from this size on are handled in worker threads."""

SLICE_S: Final = 0.005
"""Time between pauses for other requests."""

MAX_WORK_S: Final = 60.0
"""Time limit in a worker thread: azure-cosmos waits 65 s for a response."""

_LOOP_LIMIT_S: Final = 0.01  # reached twice before the work moves
_HANDOVER_S: Final = 0.0002  # otherwise, the thread that releases a lock acquires it again
_LOOP_FIRST_S: Final = 0.005  # a worker goes on after this time, even if the event loop still computes


class MovesToWorker(Exception):
    """The work takes too long for the event loop."""


class OutOfTime(CosmosError):
    """The work has reached its deadline, or the emulator stops."""

    def __init__(self) -> None:
        super().__init__(408, "The query takes too long: filter items first, or use fewer JOINs and subqueries.")


class Turns:
    """Lets the worker threads of an emulator compute in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[None] = []
        self.is_closed = False

    def take(self) -> None:
        """Wait for the turn."""
        self._waiting.append(None)
        self._lock.acquire()
        self._waiting.pop()

    def end(self) -> None:
        """Let another thread compute."""
        self._lock.release()

    def close(self) -> None:
        """Let all work end with OutOfTime."""
        self.is_closed = True

    def pass_on(self) -> None:
        """Let waiting threads compute first."""
        if self._waiting:
            self.end()
            time.sleep(_HANDOVER_S)
            self.take()


@dataclass(frozen=True, slots=True)
class Rest:
    """How work rests: `wait` returns when it may go on, each time for `after_s`."""

    after_s: float
    wait: Callable[[], None]


class _Work(threading.local):
    on_loop: bool = False
    deadline: float = math.inf
    turns: Turns | None = None
    rest: Rest | None = None
    rest_at: float = math.inf
    limit_s: float = math.inf
    next_stop: float = math.inf
    used_s: float | None = None  # CPU time at the first stop


_WORK: Final = _Work()
_LOOP_IS_FREE: Final = threading.Event()
_LOOP_IS_FREE.set()


def checkpoint() -> None:
    """Raise MovesToWorker or OutOfTime if the time is up. A loop must call this at least every millisecond."""
    if not _LOOP_IS_FREE.is_set() and not _WORK.on_loop:
        _LOOP_IS_FREE.wait(_LOOP_FIRST_S)
    if (now := time.monotonic()) > _WORK.next_stop:
        _stop(now)


def large_value() -> None:
    """Raise MovesToWorker on the event loop: operations on the value can take long."""
    if _WORK.on_loop:
        raise MovesToWorker


def remaining_s() -> float:
    """Return the time until the deadline, at least a millisecond."""
    return max(_WORK.deadline - time.monotonic(), 0.001)


def lower_deadline(deadline: float) -> None:
    """Lower the deadline of a worker thread, which then does not rest."""
    if _WORK.deadline < math.inf:
        _WORK.deadline, _WORK.rest = min(_WORK.deadline, deadline), None


def _stop(now: float) -> None:
    if _WORK.on_loop:
        # Only CPU time counts: on a busy machine, the thread can have waited.
        used_s = time.thread_time()
        if _WORK.used_s is None:
            _WORK.used_s = used_s
        elif used_s - _WORK.used_s > _LOOP_LIMIT_S / 2:
            raise MovesToWorker
        _WORK.next_stop = now + _LOOP_LIMIT_S
        return
    is_closed = _WORK.turns is not None and _WORK.turns.is_closed
    if _WORK.rest is not None and now > _WORK.rest_at and not is_closed:
        now = _rested(_WORK.rest, _WORK.turns)
    if now > _WORK.deadline or is_closed:
        raise OutOfTime
    if _WORK.turns is not None:
        _WORK.turns.pass_on()
        _WORK.next_stop = min(_WORK.deadline, time.monotonic() + SLICE_S)


def _rested(rest: Rest, turns: Turns | None) -> float:
    """Rest and return the time, from which the limits of the work count again."""
    if turns is not None:
        turns.end()
    try:
        rest.wait()
    finally:
        if turns is not None:
            turns.take()
    now = time.monotonic()
    _WORK.deadline, _WORK.rest_at = now + _WORK.limit_s, now + rest.after_s
    return now


class _OnLoop:
    def __enter__(self) -> None:
        _LOOP_IS_FREE.clear()
        _WORK.on_loop = True
        _WORK.next_stop = time.monotonic() + _LOOP_LIMIT_S
        _WORK.used_s = None

    def __exit__(self, *_: object) -> None:
        _WORK.on_loop = False
        _WORK.next_stop = math.inf
        _LOOP_IS_FREE.set()


ON_LOOP: Final = _OnLoop()
"""Limits a block that runs on the event loop without an await; faster than a generator."""


@contextmanager
def in_worker(turns: Turns | None, limit_s: float, rest: Rest | None = None) -> Iterator[None]:
    """Limit the block, which runs in a worker thread. Without `turns`, it does not wait for other workers.

    The limit is for the time between two rests.
    """
    if turns is not None:
        turns.take()
    now = time.monotonic()
    _WORK.turns, _WORK.deadline = turns, now + limit_s
    _WORK.limit_s, _WORK.rest = limit_s, rest
    _WORK.rest_at = math.inf if rest is None else now + rest.after_s
    _WORK.next_stop = now + min(limit_s, SLICE_S)
    try:
        yield
    finally:
        _WORK.turns, _WORK.deadline, _WORK.next_stop, _WORK.rest = None, math.inf, math.inf, None
        if turns is not None:
            turns.end()
