"""The process in which scripts run: QuickJS behind a pipe, to be killed when nothing else stops a script.

Started as a file by engine.py, with the folder of the package quickjs as its argument. It imports nothing of the
emulator, so that it starts quickly, and learns the runtimes of sources.py through the pipe. The emulator's side imports
the layout of the frames from here.

Requests come one at a time on stdin: `REQUEST` and a UTF-8 text. SOURCE, twice, brings the two runtimes; RUN and RESUME
are commands of runtime/engine.js, answered with the step that the script takes next; DEFINE and CALL are those of
runtime/functions.js; DROP ends the script. Each is answered by a `REPLY` and a text: READY once the next script can
come (after the second SOURCE and every DROP), else one of the other outcomes. The end of stdin ends the process
whatever a script is doing, so that it does not outlive a killed emulator.
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
"""What is asked; the seconds and the bytes of memory that it may use; the length of the text."""
SOURCE, RUN, RESUME, DEFINE, CALL, DROP = range(6)

REPLY: Final = struct.Struct("<BdI")
"""The outcome; the seconds that were used; the length of the text."""
READY, ANSWERED, TIMED_OUT, EXHAUSTED = range(4)

EXIT_EXHAUSTED: Final = 3
"""The exit code when the process itself has run out of memory."""

_COMMANDS: Final = {RUN: "run", RESUME: "resume", DEFINE: "define", CALL: "call"}
_TRANSACTIONAL, _FUNCTIONS = range(2)
_STACK_BYTES: Final = 1024 * 1024  # QuickJS's own default; a main thread has 2 MB under Windows, elsewhere more
_PROCESS_BYTES: Final = 2 * 1024**3  # of addresses, most of them reserved only: a defence behind QuickJS's own limit
_INTERRUPTED: Final = "InternalError: interrupted"
_LAST_STEPS: Final = ('{"step":"done"', '{"step":"failed"')  # of engine.js: what comes after them is DROP
_TEXT_ERRORS: Final = "surrogatepass"  # halves of surrogate pairs are for the two ends to judge

Result = TypeVar("Result")


class TimeIsUpError(Exception):
    """QuickJS has interrupted the script."""


class OutOfBoundsError(Exception):
    """The script exceeded its memory or its stack in a way that it could not handle itself."""


class _Context(Protocol):
    """The part of `quickjs.Context` that is used; the package has no type information."""

    def eval(self, source: str, /) -> object: ...
    def execute_pending_job(self) -> bool: ...
    def set_memory_limit(self, limit_bytes: int, /) -> None: ...
    def set_max_stack_size(self, limit_bytes: int, /) -> None: ...
    def set_time_limit(self, limit_s: float, /) -> None: ...


class Engine:
    """A fresh context of QuickJS in which one of the runtimes was evaluated, bounded in time, memory and stack.

    No Python function is ever put into a context: QuickJS could not call it while a time limit is set. A context
    offers one function, `dispatch(command, text) -> text`, and everything crosses as text. A script can throw nothing
    at the caller of `dispatch` but what QuickJS itself raises (interrupted, out of memory): the binding turns an
    exception into text without any limit, and must never do that with a value of the script's making.

    QuickJS looks at the time only once in some 10,000 calls and jumps, and counts the CPU time of this process: who
    needs an end by the clock kills the process.
    """

    def __init__(self, runtime: str) -> None:
        # Found only in the process that runs scripts, by the path that it is given.
        import quickjs  # type: ignore[import-untyped]  # the package has no types; see _Context

        self._exception = cast("type[Exception]", quickjs.JSException)
        self._context = cast(_Context, quickjs.Context())
        self._context.set_max_stack_size(_STACK_BYTES)
        self._dispatch = cast("Callable[[str, str], object]", self._context.eval(runtime))

    def limit_memory(self, memory_bytes: int) -> None:
        """Bounds all that the context has allocated and will allocate."""
        self._context.set_memory_limit(memory_bytes)

    def answer(self, what: int, text: str, limit_s: float) -> str:
        """The runtime's answer; for RUN and RESUME the script's next step, with the promise jobs before it."""
        if what in (DEFINE, CALL):
            return self._asked(_COMMANDS[what], text, limit_s)
        end = time.monotonic() + limit_s
        self._asked(_COMMANDS[what], text, limit_s)
        while self._bounded(self._context.execute_pending_job, end - time.monotonic()):
            pass
        return self._asked("next", "", end - time.monotonic())

    def _asked(self, command: str, text: str, limit_s: float) -> str:
        answer = self._bounded(lambda: self._dispatch(command, text), limit_s)
        if not isinstance(answer, str):  # the binding gives None for a text that memory did not suffice to hand over
            raise OutOfBoundsError
        return answer

    def _bounded(self, action: Callable[[], Result], limit_s: float) -> Result:
        if limit_s <= 0:
            raise TimeIsUpError
        self._context.set_time_limit(limit_s)
        try:
            return action()
        except self._exception as error:
            if str(error).startswith(_INTERRUPTED):
                raise TimeIsUpError from None
            raise OutOfBoundsError from None


class Spares:
    """An engine of each kind made ahead, once one was asked for: that takes longer than most scripts."""

    def __init__(self, transactional: str, functions: str) -> None:
        self._runtimes = {_TRANSACTIONAL: transactional, _FUNCTIONS: functions}
        self._ready: dict[int, Engine | None] = {_TRANSACTIONAL: None}

    def prepare(self) -> None:
        """Makes what is missing."""
        for kind, engine in self._ready.items():
            if engine is None:
                self._ready[kind] = Engine(self._runtimes[kind])

    def take(self, what: int) -> Engine:
        """An unused engine for a script that begins with this request."""
        kind = _FUNCTIONS if what == DEFINE else _TRANSACTIONAL
        engine = self._ready.get(kind) or Engine(self._runtimes[kind])
        self._ready[kind] = None
        return engine


Request = tuple[int, float, int, str]


def serve(next_request: Callable[[], Request]) -> None:
    """Answers requests for as long as there are any."""
    spares = Spares(next_request()[-1], next_request()[-1])
    while True:
        spares.prepare()
        _be_woken(at_once=True)
        _reply(READY)
        what, limit_s, memory_bytes, text = next_request()
        engine = spares.take(what)
        engine.limit_memory(memory_bytes)
        while what != DROP:
            outcome = _outcome(engine, what, text, limit_s)
            _be_woken(at_once=not outcome[-1].startswith(_LAST_STEPS))
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
    """The next from stdin, None at its end."""
    header = sys.stdin.buffer.read(REQUEST.size)
    if len(header) < REQUEST.size:
        return None
    what, limit_s, memory_bytes, length = REQUEST.unpack(header)
    return what, limit_s, memory_bytes, sys.stdin.buffer.read(length).decode(errors=_TEXT_ERRORS)


def _requests() -> Callable[[], Request]:
    """Gives the next request. A thread ends the process with stdin, which only so is noticed while a script runs."""
    if sys.platform == "linux":
        _in_thread(_wait_for_the_end)
        return _read_or_end
    # For systems on which nobody has tried to wait for the end alone; handing requests over between threads takes
    # longer than most requests.
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
    poll.register(sys.stdin.fileno(), 0)  # for nothing but the hang-up, which is always told
    poll.poll()
    os._exit(0)


def _ending_with_memory(action: Callable[[], None]) -> None:
    """The process cannot go on without one of its threads."""
    try:
        action()
    except MemoryError:
        os._exit(EXIT_EXHAUSTED)


def _bound_process() -> None:
    """A defence behind the limits of QuickJS, where the system has one. No core is left of a process that crashes."""
    if sys.platform == "win32":
        return
    import resource

    for limit, most in ((resource.RLIMIT_AS, _PROCESS_BYTES), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some; QuickJS's own limit holds all the same
            resource.setrlimit(limit, (allowed, allowed))


def _be_woken(*, at_once: bool) -> None:
    """Whether this process, once it is woken, may take the processor of the emulator that wakes it.

    It should where the emulator waits for its answer. To prepare for the next script it should not: Linux would run
    that before the emulator could send the answer of this one, which then took almost 2 ms longer.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # some sandboxes refuse it, and are slower
            os.sched_setscheduler(0, os.SCHED_OTHER if at_once else os.SCHED_BATCH, os.sched_param(0))


def main() -> None:
    """Runs scripts until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the emulator, which may let a script end
    _bound_process()
    sys.path.append(sys.argv[1])
    next_request = _requests()
    with contextlib.suppress(BrokenPipeError):  # the emulator has ended
        _ending_with_memory(lambda: serve(next_request))


if __name__ == "__main__":
    main()
