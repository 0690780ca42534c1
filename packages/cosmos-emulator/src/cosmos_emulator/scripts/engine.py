"""The parent side of a script process (engine_process.py)."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cosmos_emulator.scripts import engine_process as wire
from cosmos_emulator.scripts.failures import ScriptEngineLostError, ScriptExhaustedError, ScriptTimedOutError
from cosmos_emulator.scripts.sources import function_runtime, transactional_runtime
from cosmos_emulator.scripts.watchdog import Watchdog

KILL_AFTER_S: Final = 0.25
"""Grace period after the limit: QuickJS can stop the script without losing the process."""

_START_S: Final = 30.0  # usually 0.05 s
_EXIT_S: Final = 5.0  # from end of output to process exit
_CRASHES: Final = {
    -getattr(signal, name) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE") if hasattr(signal, name)
}
_LEAST_NTSTATUS: Final = 0xC0000000  # Windows exit codes for crashes
_TEXT_ERRORS: Final = "surrogatepass"

_WATCHDOG: Final = Watchdog()


class EngineProcess:
    """A child process that runs one script at a time.

    Use it from one thread at a time, except `kill_overdue` and `end`. After `ScriptTimedOutError`,
    `ScriptExhaustedError` or `ScriptEngineLostError`, `is_sound` is False and the caller must end the process.
    """

    def __init__(self) -> None:
        """Start the process without waiting for it."""
        self.is_sound = False
        self.spent_s = 0.0
        """Seconds that the current script's requests took, excluding transport."""
        self._is_overdue = False
        self._process = _started()
        self._memory_bytes = 0
        for source in (transactional_runtime(), function_runtime()):
            with contextlib.suppress(OSError):  # `ready` reports it
                self._send(wire.SOURCE, source, 0.0)

    @property
    def pid(self) -> int:
        """Return the process ID."""
        return self._process.pid

    def ready(self, memory_bytes: int) -> bool:
        """Wait until the process accepts scripts; return False if it has exited."""
        self._memory_bytes, self.spent_s = memory_bytes, 0.0
        try:
            outcome, _ = self._receive(_START_S)
        except (OSError, EOFError):
            return False
        self.is_sound = outcome == wire.READY and self._process.poll() is None
        return self.is_sound

    def run(self, settings: str, limit_s: float) -> str:
        """Start a script and return its first step."""
        return self._ask(wire.RUN, settings, limit_s)

    def resume(self, reply: str, limit_s: float) -> str:
        """Send the reply to the last step; return the next."""
        return self._ask(wire.RESUME, reply, limit_s)

    def define(self, function: str, limit_s: float) -> str:
        """Compile a user-defined function."""
        return self._ask(wire.DEFINE, function, limit_s)

    def call(self, arguments: str, limit_s: float) -> str:
        """Call a user-defined function."""
        return self._ask(wire.CALL, arguments, limit_s)

    def drop(self) -> None:
        """End the script; the process prepares for the next."""
        try:
            self._send(wire.DROP, "", 0.0)
        except (OSError, ValueError):  # ValueError: the pool is closed
            self.is_sound = False

    def kill_overdue(self) -> None:
        """Kill the process because its script is overdue."""
        self._is_overdue = True
        self._process.kill()

    def end(self) -> None:
        """Kill the process and wait for its exit."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # unsent data
                    pipe.close()

    def _ask(self, what: int, text: str, limit_s: float) -> str:
        if limit_s <= 0:
            raise ScriptTimedOutError
        self.is_sound = False
        try:
            self._send(what, text, limit_s)
            outcome, answer = self._receive(limit_s + KILL_AFTER_S)
        except (OSError, EOFError):
            raise self._loss() from None
        if outcome == wire.TIMED_OUT:
            raise ScriptTimedOutError
        if outcome == wire.EXHAUSTED:
            raise ScriptExhaustedError
        self.is_sound = True
        return answer

    def _send(self, what: int, text: str, limit_s: float) -> None:
        data = text.encode(errors=_TEXT_ERRORS)
        pipe = self._process.stdin
        if pipe is None:
            raise EOFError
        pipe.write(wire.REQUEST.pack(what, limit_s, self._memory_bytes, len(data)) + data)
        pipe.flush()

    def _receive(self, within_s: float) -> tuple[int, str]:
        _WATCHDOG.watch(self, time.monotonic() + within_s)
        try:
            outcome, spent_s, length = wire.REPLY.unpack(self._read(wire.REPLY.size))
            text = self._read(length).decode(errors=_TEXT_ERRORS)
        finally:
            _WATCHDOG.release(self)
        self.spent_s += spent_s
        return outcome, text

    def _read(self, length: int) -> bytes:
        pipe = self._process.stdout
        data = b"" if pipe is None else pipe.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def _loss(self) -> Exception:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_S)
        code = self._process.returncode
        if self._is_overdue:
            return ScriptTimedOutError()
        if code is not None and (code in _CRASHES or code == wire.EXIT_EXHAUSTED or code >= _LEAST_NTSTATUS):
            return ScriptExhaustedError()
        return ScriptEngineLostError(code)


def _started() -> subprocess.Popen[bytes]:
    """Start the process without site-packages, which are slow to scan."""
    package = find_spec("quickjs")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("Scripts need the package quickjs-ng.", name="quickjs")
    command = [sys.executable, "-S", "-s", "-P", wire.__file__, str(Path(package.origin).parents[1])]
    # In a separate process group, so that Ctrl-C cannot arrive before the signal is ignored.
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        return subprocess.Popen(  # noqa: S603 - this interpreter, with a file of this package
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, creationflags=flags
        )
    return subprocess.Popen(  # noqa: S603 - this interpreter, with a file of this package
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
