"""One JavaScript context of QuickJS, bounded in time, memory and stack.

No Python function is ever put into a context: QuickJS could not call it while a time limit is set. A context offers
one function, `dispatch(command, text) -> text`, and everything crosses as text. A script can throw nothing at the
caller of `dispatch` but what the engine itself raises (interrupted, out of memory): the binding turns an exception
into text without any limit, and must never do that with a value of the script's making.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar, cast

from local.cosmos.scripts.failures import ScriptExhaustedError, ScriptTimedOutError

_STACK_BYTES: Final = 1024 * 1024  # QuickJS's own default; the smallest thread stack we meet is 2 MB (Windows)
_INTERRUPTED: Final = "InternalError: interrupted"

Result = TypeVar("Result")


class _Context(Protocol):
    """The part of `quickjs.Context` that is used; the package has no type information."""

    def eval(self, source: str, /) -> object: ...
    def execute_pending_job(self) -> bool: ...
    def set_memory_limit(self, limit_bytes: int, /) -> None: ...
    def set_max_stack_size(self, limit_bytes: int, /) -> None: ...
    def set_time_limit(self, limit_s: float, /) -> None: ...


class JavaScriptEngine:
    """A fresh context in which one of the runtimes of sources.py was evaluated. For one thread at a time.

    Every method takes the time that it may use, in seconds, and raises `ScriptTimedOutError` or
    `ScriptExhaustedError`; the engine is of no use after that.
    """

    def __init__(self, runtime: str, memory_bytes: int) -> None:
        # Imported here because importing it starts a thread, for an executor that is not used.
        import quickjs  # type: ignore[import-untyped]  # the package has no types; see _Context

        self._exception = cast("type[Exception]", quickjs.JSException)
        self._context = cast(_Context, quickjs.Context())
        self._context.set_max_stack_size(_STACK_BYTES)
        self._dispatch = cast("Callable[[str, str], object]", self._context.eval(runtime))
        self._context.set_memory_limit(memory_bytes)

    def dispatch(self, command: str, text: str, limit_s: float) -> str:
        """The runtime's answer to a command."""
        answer = self._bounded(lambda: self._dispatch(command, text), limit_s)
        if not isinstance(answer, str):  # the binding gives None for a text that memory did not suffice to hand over
            raise ScriptExhaustedError
        return answer

    def run_job(self, limit_s: float) -> bool:
        """Run the next promise job; False when there is none."""
        return self._bounded(self._context.execute_pending_job, limit_s)

    def _bounded(self, action: Callable[[], Result], limit_s: float) -> Result:
        if limit_s <= 0:
            raise ScriptTimedOutError
        self._context.set_time_limit(limit_s)
        try:
            return action()
        except self._exception as error:
            if str(error).startswith(_INTERRUPTED):
                raise ScriptTimedOutError from None
            raise ScriptExhaustedError from None
