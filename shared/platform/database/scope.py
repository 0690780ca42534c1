"""The scope of one API request or one delivery of changes: the request units it uses, its session, and its deadline.

The SDK keeps only the last response's headers, which concurrent requests overwrite. Here, each scope is in a context
variable, which the tasks of a request inherit. The client's transport adds every response to the current scope.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from shared.platform import NAME, telemetry
from shared.platform.database.sessions import Session
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable

_THROTTLED = 429
_DEFAULT_RETRY_AFTER_S = 1.0

_current: ContextVar[Scope | None] = ContextVar("scope", default=None)


@dataclass(eq=False)
class Scope:
    """The request units, responses, 429 responses and session of `function` so far.

    `retry_after_s` is set if the last response was a 429.
    """

    function: str = ""
    request_units: float = 0.0
    responses: int = 0
    throttled: int = 0
    retry_after_s: float | None = None
    session: Session = field(default_factory=Session)

    def add(self, other: Scope, *, share: float = 1.0) -> None:
        """Add the work of another scope and its session, with this `share` of its request units."""
        self.request_units += share * other.request_units
        self.responses += other.responses
        self.throttled += other.throttled
        if other.responses:
            self.retry_after_s = other.retry_after_s
        self.session.update(other.session)


def current_scope() -> Scope | None:
    return _current.get()


@contextmanager
def request_scope(function: str = "") -> Iterator[Scope]:
    """Run the block in a scope of its own, of `function` or of the function around it, with an empty session."""
    outer = _current.get()
    scope = Scope(function or (outer.function if outer else ""))
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)


@contextmanager
def nested_scope() -> Iterator[Scope]:
    """A `request_scope` that adds the scope to the one around it, if any, when the block ends."""
    outer = _current.get()
    with request_scope() as scope:
        try:
            yield scope
        finally:
            if outer is not None:
                outer.add(scope)


def record_response(response: Any, container: str = "") -> float:
    """Add an HTTP response to the current scope and to the metrics, and return its request charge.

    Includes responses after which the request is sent again.
    """
    scope = _current.get()
    request_units = float(response.headers.get("x-ms-request-charge") or 0)
    of_container = {"db.collection.name": container}
    telemetry.charge.record(request_units, of_container | {f"{NAME}.function": scope.function if scope else ""})
    is_throttled = response.status_code == _THROTTLED
    if is_throttled:
        telemetry.throttled.add(1, of_container)
    if scope is not None:
        scope.responses += 1
        scope.request_units += request_units
        scope.throttled += is_throttled
        scope.retry_after_s = retry_after_s(response.headers) if is_throttled else None
    return request_units


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the wait that a 429 requests, in seconds; 1 if it names none."""
    milliseconds = headers.get("x-ms-retry-after-ms")
    return _DEFAULT_RETRY_AFTER_S if milliseconds is None else float(milliseconds) / 1000


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after `seconds`; use inside a scope.

    Applied writes are not undone. The SDK waits as long as a 429 demands. If the block is throttled when time runs out,
    it raises DatabaseThrottled with that Retry-After. Otherwise it raises DatabaseUnavailable.
    """
    try:
        async with asyncio.timeout(seconds) as timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        if (scope := _current.get()) is not None and scope.retry_after_s is not None:
            raise DatabaseThrottled(scope.retry_after_s) from error
        raise DatabaseUnavailable(f"no answer within {seconds:g} s") from error
