"""Invocation of user code.

Rules: azure_functions_runtime handle_event.py, bindings/context.py and utils/threadpool.py.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from .errors import InvocationError
from .function_bindings import FunctionBindings
from .functions import HTTP, LoadedFunction
from .retry import RetryState
from .trigger_thread import run_on

_log = logging.getLogger("Host.General")
_thread_local = threading.local()
_TRACE_PARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})")


class TraceContext:
    """The W3C trace context of an invocation. It is empty without telemetry, as in the real host."""

    def __init__(self, trace_parent: str = "", trace_state: str = "") -> None:
        self.trace_parent = trace_parent
        self.trace_state = trace_state
        self.attributes: dict[str, str] = {}

    @classmethod
    def of_caller(cls, headers: Mapping[str, str]) -> TraceContext:
        """Return a new span in the trace of a request, or in a new trace. This host exports neither."""
        caller = _TRACE_PARENT.fullmatch(headers.get("traceparent", ""))
        trace, flags = caller.groups() if caller else (secrets.token_hex(16), "01")
        state = headers.get("tracestate", "") if caller else ""
        return cls(f"00-{trace}-{secrets.token_hex(8)}-{flags}", state)


class Context:
    """The `context` parameter, with the shape of `azure.functions.Context`."""

    def __init__(self, function: LoadedFunction, invocation_id: str, trace: TraceContext, retry: RetryState) -> None:
        self.invocation_id = invocation_id
        self.function_name = function.name
        self.function_directory = function.directory
        self.trace_context = trace
        self.retry_context = retry
        self.thread_local_storage = _thread_local


class Invoker:
    """Runs coroutines on the app's event loop and sync functions in a thread pool."""

    def __init__(
        self, timeout_s: float | None, threads: int | None, bindings: Mapping[str, FunctionBindings] | None = None
    ) -> None:
        """Create an invoker. With None, there is no timeout, and the thread count is Python's default.

        `bindings` are by function name.
        """
        self._timeout_s = timeout_s
        self._bindings = bindings or {}
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="function")
        # Start time and function name of each running call, by invocation ID. The oldest call is first.
        self._running: dict[str, tuple[float, str]] = {}
        # Includes calls that were cancelled: their threads still run and keep the process alive.
        self.running_threads = 0

    def open(self) -> None:
        """Run coroutines on the current event loop."""
        self._app_loop = asyncio.get_running_loop()

    async def invoke(
        self,
        function: LoadedFunction,
        arguments: Mapping[str, object],
        *,
        trace: TraceContext | None = None,
        retry: RetryState | None = None,
    ) -> object:
        """Run a function once; call it from any event loop.

        Raises InvocationError, already logged, for an exception or an unexpected return value.
        """
        call = self._invoke(function, arguments, trace, retry)
        if self._app_loop is asyncio.get_running_loop():
            return await call
        return await run_on(self._app_loop, call)

    async def _invoke(
        self,
        function: LoadedFunction,
        arguments: Mapping[str, object],
        trace: TraceContext | None,
        retry: RetryState | None,
    ) -> object:
        invocation_id = str(uuid.uuid4())
        if function.wants_context:
            context = Context(function, invocation_id, trace or TraceContext(), retry or RetryState())
            arguments = {**arguments, "context": context}
        log = logging.getLogger(f"Function.{function.name}")
        started = time.perf_counter()
        self._running[invocation_id] = (time.monotonic(), function.name)
        bindings = self._bindings.get(function.name)
        try:
            if bindings is not None:
                arguments = {**arguments, **await bindings.read(arguments)}
            result, error = await self._run(function, arguments, invocation_id)
            if error is None and result is not None and not function.returns_value:
                raise RuntimeError(f"function '{function.name}' without a $return binding returned a non-None value")
            if error is None and bindings is not None:
                await bindings.write(arguments, result)
        except (Exception, asyncio.CancelledError) as own:  # noqa: BLE001 - handled below
            result, error = None, own
        finally:
            del self._running[invocation_id]
        if error is not None:
            is_aborted = isinstance(error, asyncio.CancelledError) and _is_being_cancelled()
            outcome = "aborted" if is_aborted else "failed"
            shown = None if is_aborted else error
            log.error(_LINE, function.name, invocation_id, _elapsed_ms(started), outcome, exc_info=shown)
            if is_aborted:
                raise error
            raise InvocationError(f"{type(error).__name__}: {error}") from error
        # The HTTP server logs the request; a second line at INFO would only repeat it.
        level = logging.DEBUG if function.type == HTTP else logging.INFO
        log.log(level, _LINE, function.name, invocation_id, _elapsed_ms(started), "succeeded")
        return result

    async def _run(self, function: LoadedFunction, arguments: Mapping[str, object], invocation_id: str) -> _Outcome:
        if function.is_async:
            # In a task of its own, so that a function that cancels its task does not cancel the host's.
            return await asyncio.create_task(_outcome_of(function, arguments, invocation_id))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._run_in_thread, function, arguments, invocation_id)

    def _run_in_thread(self, function: LoadedFunction, arguments: Mapping[str, object], invocation_id: str) -> _Outcome:
        _thread_local.invocation_id = invocation_id
        self.running_threads += 1
        try:
            return function.call(**arguments), None
        except BaseException as error:  # noqa: BLE001 - see _Outcome
            return None, error
        finally:
            self.running_threads -= 1

    @property
    def running_calls(self) -> list[str]:
        """The names of the functions that are running, one for each call."""
        return [name for _, name in list(self._running.values())]

    async def enforce_timeout(self) -> None:
        """End the process with status 1 when a call exceeds the timeout; run this on another loop than the app's.

        Running code cannot be stopped otherwise. The leases expire, and their batches are delivered again. The real
        host waits 2 s longer and ends only the worker (azure-functions-host WebScriptHostExceptionHandler.cs).
        """
        while self._timeout_s is not None:
            now = time.monotonic()
            # A copy, because the app's thread changes the dictionary.
            started, name = next(iter(list(self._running.values())), (now, ""))
            left_s = started + self._timeout_s - now
            if left_s <= 0:
                timeout = timedelta(seconds=self._timeout_s)
                _log.error(
                    "Timeout value of %s exceeded by function '%s' (functionTimeout in host.json). The host ends; "
                    "running calls are lost",
                    timeout,
                    name,
                )
                logging.shutdown()
                os._exit(1)
            await asyncio.sleep(left_s)

    def close(self) -> None:
        """Reject new calls. Running threads cannot be stopped."""
        self._pool.shutdown(wait=False, cancel_futures=True)


_Outcome = tuple[object, BaseException | None]
"""What a function returned and raised. Raised in a task, KeyboardInterrupt and SystemExit would end the event loop, and
a future does not accept StopIteration."""


async def _outcome_of(function: LoadedFunction, arguments: Mapping[str, object], invocation_id: str) -> _Outcome:
    _thread_local.invocation_id = invocation_id
    try:
        return await function.call(**arguments), None  # type: ignore[misc]  # a coroutine function, see is_async
    except BaseException as error:  # noqa: BLE001 - see _Outcome
        return None, error


def _is_being_cancelled() -> bool:
    """Return whether the host cancels this call. Otherwise, the function itself raised CancelledError."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


_LINE = "function=%s id=%s duration_ms=%.1f outcome=%s"


def _elapsed_ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000
