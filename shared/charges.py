"""What the database answers to one request or batch: the request charge, and whether it throttles.

The SDK keeps the headers of the last response on the client, where concurrent requests overwrite them. Here each
request has an account in a context variable, shared with the tasks it starts. The client's response hook updates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_THROTTLED = 429
_DEFAULT_RETRY_AFTER_S = 1.0


@dataclass
class Charge:
    """Request units and number of responses so far; `retry_after_s` if the last response was a 429."""

    request_units: float = 0.0
    answers: int = 0
    retry_after_s: float | None = None


_current: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def metered() -> Iterator[Charge]:
    """Count what the database charges inside this block."""
    charge = Charge()
    token = _current.set(charge)
    try:
        yield charge
    finally:
        _current.reset(token)


def add_share(charge: Charge, sharers: int) -> None:
    """Add this request's share of work that it waited for together with other requests."""
    current = _current.get()
    if current is not None:
        current.answers += charge.answers
        current.request_units += charge.request_units / sharers
        current.retry_after_s = charge.retry_after_s


def last_retry_after_s() -> float | None:
    """Return the Retry-After of the request's last response, or None if that was not a 429."""
    current = _current.get()
    return None if current is None else current.retry_after_s


def record_response(response: Any) -> None:
    """Update the account. The SDK calls this with every pipeline response, including those it retries."""
    charge = _current.get()
    if charge is None:
        return
    answer = response.http_response
    charge.answers += 1
    charge.request_units += float(answer.headers.get("x-ms-request-charge") or 0)
    charge.retry_after_s = retry_after_s(answer.headers) if answer.status_code == _THROTTLED else None


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the wait that a 429 requests, in seconds; 1 if it names none."""
    milliseconds = headers.get("x-ms-retry-after-ms")
    return _DEFAULT_RETRY_AFTER_S if milliseconds is None else float(milliseconds) / 1000
