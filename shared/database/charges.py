"""The request charge, the throttling, the session tokens and the deadline of one request or delivery.

The SDK keeps only the last response's headers, which concurrent requests overwrite. Here each request has a `Charge` in
a context variable, shared with the tasks it starts. The client's transport updates it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from shared.database.sessions import Session
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.observability import metrics

_THROTTLED = 429
_DEFAULT_RETRY_AFTER_S = 1.0


@dataclass
class Charge:
    """The request units, responses, 429 responses and session of `function` so far.

    `retry_after_s` is set if the last response was a 429.
    """

    function: str = ""
    request_units: float = 0.0
    answers: int = 0
    throttled: int = 0
    retry_after_s: float | None = None
    session: Session = field(default_factory=Session)


current_charge: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def metered(function: str = "") -> Iterator[Charge]:
    """Count the charges of this block for `function`, or for the function of the block around it."""
    outer = current_charge.get()
    charge = Charge(function or (outer.function if outer else ""))
    token = current_charge.set(charge)
    try:
        yield charge
    finally:
        current_charge.reset(token)


def add_share(charge: Charge, sharers: int) -> None:
    """Add this request's share of work that was metered apart, by one or several requests, and the work's session."""
    own = current_charge.get()
    if own is not None:
        own.answers += charge.answers
        own.throttled += charge.throttled
        own.request_units += charge.request_units / sharers
        own.retry_after_s = charge.retry_after_s
        own.session.update(charge.session)


def request_session() -> Session:
    """Return the session of the current request or delivery; a new one if there is none."""
    charge = current_charge.get()
    return Session() if charge is None else charge.session


def record_answer(answer: Any, container: str = "") -> float:
    """Add an HTTP response to the current charge and to the metrics, and return its request charge.

    Includes responses after which the request is sent again.
    """
    charge = current_charge.get()
    request_units = float(answer.headers.get("x-ms-request-charge") or 0)
    of_container = {"db.collection.name": container}
    metrics.charge.record(request_units, of_container | {"blog.function": charge.function if charge else ""})
    is_throttled = answer.status_code == _THROTTLED
    if is_throttled:
        metrics.throttled.add(1, of_container)
    if charge is not None:
        charge.answers += 1
        charge.request_units += request_units
        charge.throttled += is_throttled
        charge.retry_after_s = retry_after_s(answer.headers) if is_throttled else None
    return request_units


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the wait that a 429 requests, in seconds; 1 if it names none."""
    milliseconds = headers.get("x-ms-retry-after-ms")
    return _DEFAULT_RETRY_AFTER_S if milliseconds is None else float(milliseconds) / 1000


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after `seconds`; use inside `metered`.

    Applied writes are not undone. The SDK waits as long as a 429 demands. If the block is throttled when time runs out,
    it raises DatabaseThrottled with that Retry-After. Otherwise it raises DatabaseUnavailable.
    """
    try:
        async with asyncio.timeout(seconds) as timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        if (charge := current_charge.get()) is not None and charge.retry_after_s is not None:
            raise DatabaseThrottled(charge.retry_after_s) from error
        raise DatabaseUnavailable(f"no answer within {seconds:g} s") from error
