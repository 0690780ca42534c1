"""What the database reports for one request or batch: request charge, throttling and session tokens.

The SDK keeps only the last response's headers, which concurrent requests overwrite. Here each request has a `Charge` in
a context variable, shared with the tasks it starts. The client's response hook updates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shared.sessions import Session

if TYPE_CHECKING:
    from shared.inspector import Inspector, Operation

_THROTTLED = 429
_DEFAULT_RETRY_AFTER_S = 1.0

# Set by functions/inspector.py, which is imported only if BLOG_INSPECTOR=1.
inspector: Inspector | None = None


@dataclass
class Charge:
    """Request units, responses, 429s among them and session so far; `retry_after_s` if the last response was a 429.

    `operations` stays empty without an inspector.
    """

    request_units: float = 0.0
    answers: int = 0
    throttled: int = 0
    retry_after_s: float | None = None
    session: Session = field(default_factory=Session)
    operations: list[Operation] = field(default_factory=list)


current_charge: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def metered() -> Iterator[Charge]:
    """Count what the database charges inside this block."""
    charge = Charge()
    token = current_charge.set(charge)
    try:
        yield charge
    finally:
        current_charge.reset(token)


def add_share(charge: Charge, sharers: int) -> None:
    """Add this request's share of work that it waited for together with other requests, and its session."""
    own = current_charge.get()
    if own is not None:
        own.answers += charge.answers
        own.throttled += charge.throttled
        own.request_units += charge.request_units / sharers
        own.retry_after_s = charge.retry_after_s
        own.session.update(charge.session)
        for one in charge.operations:
            own.operations.append(replace(one, charge=one.charge / sharers, sharers=sharers))


def record_answer(answer: Any) -> None:
    """Add an HTTP response to the current charge, also one that is then retried."""
    charge = current_charge.get()
    if charge is None:
        return
    charge.answers += 1
    charge.request_units += float(answer.headers.get("x-ms-request-charge") or 0)
    is_throttled = answer.status_code == _THROTTLED
    charge.throttled += is_throttled
    charge.retry_after_s = retry_after_s(answer.headers) if is_throttled else None
    if inspector is not None:
        inspector.received(answer, charge.operations)


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the wait that a 429 requests, in seconds; 1 if it names none."""
    milliseconds = headers.get("x-ms-retry-after-ms")
    return _DEFAULT_RETRY_AFTER_S if milliseconds is None else float(milliseconds) / 1000
