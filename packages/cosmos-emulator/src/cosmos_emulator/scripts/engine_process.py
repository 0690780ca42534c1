"""The child process that runs scripts: QuickJS behind a pipe.

engine.py starts this file with the folder of the quickjs package. To start quickly, it imports nothing from the
emulator.

Requests arrive one at a time on stdin, each a `REQUEST` and UTF-8 text. Two SOURCE requests deliver the runtimes
(sources.py). RUN and RESUME are commands of runtime/engine.js, DEFINE and CALL of runtime/functions.js. DROP ends the
script. Each reply is a `REPLY` and text. READY, after the second SOURCE and each DROP, precedes the next script. The
process exits when stdin closes, even while a script runs.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol, TypeVar, cast

REQUEST: Final = struct.Struct("<BdQI")
"""Command, time limit in seconds, memory limit in bytes, length of the text."""
SOURCE, RUN, RESUME, DEFINE, CALL, DROP = range(6)

REPLY: Final = struct.Struct("<BdI")
"""Outcome, seconds used, length of the text."""
READY, ANSWERED, TIMED_OUT, EXHAUSTED = range(4)

EXIT_EXHAUSTED: Final = 3
"""The exit code if the process itself runs out of memory."""

_COMMANDS: Final = {RUN: "run", RESUME: "resume", DEFINE: "define", CALL: "call"}
_TRANSACTIONAL, _FUNCTIONS = range(2)
_STACK_BYTES: Final = 1024 * 1024  # QuickJS's default; the main thread has at least 2 MB
_PROCESS_BYTES: Final = 2 * 1024**3  # address space, if QuickJS's limit fails
_INTERRUPTED: Final = "InternalError: interrupted"
_LAST_STEPS: Final = ('{"step":"done"', '{"step":"failed"')  # DROP comes next
_TEXT_ERRORS: Final = "surrogatepass"
_OVERDUE_S: Final = 1.0  # after the limit; the watchdog kills sooner

Result = TypeVar("Result")


class TimeIsUpError(Exception):
    """QuickJS interrupted the script."""


class OutOfBoundsError(Exception):
    """The script exhausted its memory or stack, or a promise job threw a custom class."""


class _Context(Protocol):
    def eval(self, source: str, /) -> object: ...
    def execute_pending_job(self) -> bool: ...
    def set_memory_limit(self, limit_bytes: int, /) -> None: ...
    def set_max_stack_size(self, limit_bytes: int, /) -> None: ...
    def set_time_limit(self, limit_s: float, /) -> None: ...


class Engine:
    """A QuickJS context with one of the runtimes, limited in time, memory and stack.

    It offers one function, `dispatch(command, text) -> text`, and contains no Python functions: QuickJS cannot call
    them under a time limit. QuickJS checks CPU time about every 10,000 calls and jumps, but not in some built-ins, nor
    while the binding holds the GIL to convert a thrown value. The emulator's watchdog enforces the limit in all cases.
    """

    def __init__(self, runtime: str) -> None:
        # main() adds its folder to sys.path.
        import quickjs  # type: ignore[import-untyped]  # has no types

        self._exception = cast("type[Exception]", quickjs.JSException)
        self._context = cast(_Context, quickjs.Context())
        self._context.set_max_stack_size(_STACK_BYTES)
        self._dispatch = cast("Callable[[str, str], object]", self._context.eval(runtime))

    def limit_memory(self, memory_bytes: int) -> None:
        """Limit the context's allocations, including current memory."""
        self._context.set_memory_limit(memory_bytes)

    def answer(self, what: int, text: str, limit_s: float) -> str:
        """Return the runtime's result. RUN and RESUME also run pending promise jobs."""
        if what in (DEFINE, CALL):
            return self._asked(_COMMANDS[what], text, limit_s)
        end = time.monotonic() + limit_s
        self._asked(_COMMANDS[what], text, limit_s)
        while self._bounded(self._context.execute_pending_job, end - time.monotonic()):
            pass
        return self._asked("next", "", end - time.monotonic())

    def _asked(self, command: str, text: str, limit_s: float) -> str:
        answer = self._bounded(lambda: self._dispatch(command, text), limit_s)
        if not isinstance(answer, str):  # None if memory was too low for the text
            raise OutOfBoundsError
        return answer

    def _bounded(self, action: Callable[[], Result], limit_s: float) -> Result:
        if limit_s <= 0:
            raise TimeIsUpError
        started = time.monotonic()
        self._context.set_time_limit(limit_s)
        try:
            return action()
        except self._exception as error:
            # A script can change the interrupt's text, so also check the clock.
            if str(error).startswith(_INTERRUPTED) or time.monotonic() - started >= limit_s:
                raise TimeIsUpError from None
            raise OutOfBoundsError from None


class Spares:
    """One spare engine of each used kind: creating one takes longer than most scripts."""

    def __init__(self, transactional: str, functions: str) -> None:
        self._runtimes = {_TRANSACTIONAL: transactional, _FUNCTIONS: functions}
        self._ready: dict[int, Engine | None] = {_TRANSACTIONAL: None}

    def prepare(self) -> None:
        """Create missing spares."""
        for kind, engine in self._ready.items():
            if engine is None:
                self._ready[kind] = Engine(self._runtimes[kind])

    def take(self, what: int) -> Engine:
        """Return an unused engine for this command."""
        kind = _FUNCTIONS if what == DEFINE else _TRANSACTIONAL
        engine = self._ready.get(kind) or Engine(self._runtimes[kind])
        self._ready[kind] = None
        return engine


Request = tuple[int, float, int, str]


def serve(next_request: Callable[[], Request]) -> None:
    """Serve requests until the process ends."""
    spares = Spares(next_request()[-1], next_request()[-1])
    while True:
        spares.prepare()
        _prefer_running_now(True)
        _reply(READY)
        what, limit_s, memory_bytes, text = next_request()
        engine = spares.take(what)
        engine.limit_memory(memory_bytes)
        while what != DROP:
            _exit_after(limit_s + _OVERDUE_S)
            outcome = _outcome(engine, what, text, limit_s)
            _exit_after(0)
            _prefer_running_now(not outcome[-1].startswith(_LAST_STEPS))
            _reply(*outcome)
            what, limit_s, _, text = next_request()
        del engine


def _outcome(engine: Engine, what: int, text: str, limit_s: float) -> tuple[int, float, str]:
    started = time.perf_counter()
    answer = ""
    try:
        answer = engine.answer(what, text, limit_s)
        outcome = ANSWERED
    except TimeIsUpError:
        outcome = TIMED_OUT
    except OutOfBoundsError:
        outcome = EXHAUSTED
    return outcome, time.perf_counter() - started, answer


def _reply(outcome: int, spent_s: float = 0.0, text: str = "") -> None:
    data = text.encode(errors=_TEXT_ERRORS)
    sys.stdout.buffer.write(REPLY.pack(outcome, spent_s, len(data)) + data)
    sys.stdout.buffer.flush()


def _read_request() -> Request | None:
    header = sys.stdin.buffer.read(REQUEST.size)
    if len(header) < REQUEST.size:
        return None
    what, limit_s, memory_bytes, length = REQUEST.unpack(header)
    return what, limit_s, memory_bytes, sys.stdin.buffer.read(length).decode(errors=_TEXT_ERRORS)


def _requests() -> Callable[[], Request]:
    """Return a function that reads requests. The process exits if stdin closes during a script."""
    if sys.platform == "linux":
        _in_thread(_wait_for_the_end)
        return _read_or_end
    # On other systems, polling only for the hang-up is untested, so use a slower queue between threads.
    arrived: SimpleQueue[Request] = SimpleQueue()

    def read() -> None:
        while True:
            arrived.put(_read_or_end())

    _in_thread(read)
    return arrived.get


def _in_thread(action: Callable[[], None]) -> None:
    threading.Thread(target=_ending_with_memory, args=(action,), name="stdin", daemon=True).start()


def _read_or_end() -> Request:
    request = _read_request()
    if request is None:
        os._exit(0)
    return request


def _wait_for_the_end() -> None:
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # reports only the hang-up
    poll.poll()
    os._exit(0)


def _ending_with_memory(action: Callable[[], None]) -> None:
    try:
        action()
    except MemoryError:
        os._exit(EXIT_EXHAUSTED)


def _bound_process() -> None:
    if sys.platform == "win32":
        return
    import resource

    for limit, most in ((resource.RLIMIT_AS, _PROCESS_BYTES), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS rejects some limits
            resource.setrlimit(limit, (allowed, allowed))


def _exit_after(seconds: float) -> None:
    """Let the system kill this process after `seconds`; 0 cancels. Not on Windows.

    While QuickJS holds the GIL, no thread can notice that the emulator has exited.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _prefer_running_now(now: bool) -> None:
    """Choose whether this process preempts the emulator when woken.

    It should while the emulator waits for a reply, but not while it prepares for the next script: Linux would run the
    preparation first and delay this script's response by almost 2 ms.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some sandboxes forbid it
            os.sched_setscheduler(0, os.SCHED_OTHER if now else os.SCHED_BATCH, os.sched_param(0))


def main() -> None:
    """Run scripts until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the emulator handles Ctrl-C
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _bound_process()
    sys.path.append(sys.argv[1])
    next_request = _requests()
    with contextlib.suppress(BrokenPipeError):  # the emulator has exited
        _ending_with_memory(lambda: serve(next_request))


if __name__ == "__main__":
    main()
