"""How long a request may still wait for a throttled database.

The SDK waits as long as a 429 advises, knowing nothing of the request that waits. So the client's response hook looks
at every 429 first, and ends the request with the database's advice where the wait would outlast the client's patience.
What is done without a client, in reactions and from the terminal, has as much patience as the SDK.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from shared.errors import DatabaseThrottled

_THROTTLED = 429
_UNADVISED_S = 1.0

_end: ContextVar[float | None] = ContextVar("end_of_patience", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Inside this block, waits for a throttled database end within so many seconds from now."""
    with patience_until(time.monotonic() + seconds):
        yield


def end_of_patience() -> float | None:
    """When the patience of this request ends, by `time.monotonic`; None without a client."""
    return _end.get()


@contextmanager
def patience_until(end: float | None) -> Iterator[None]:
    """Inside this block, waits for a throttled database end until then; for what several requests wait for."""
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


class _HttpResponse(Protocol):
    status_code: int
    headers: Mapping[str, str]


class _PipelineResponse(Protocol):
    http_response: _HttpResponse


def check_patience(response: _PipelineResponse) -> None:
    """Called for every answer of the database. Raises DatabaseThrottled, which the SDK lets pass, for a 429 whose wait
    is too long for the request."""
    end, answer = _end.get(), response.http_response
    if end is None or answer.status_code != _THROTTLED:
        return
    wait_s = advised_wait_s(answer.headers)
    if time.monotonic() + wait_s > end:
        raise DatabaseThrottled(wait_s)


def advised_wait_s(headers: Mapping[str, str]) -> float:
    """The wait that a 429 advises, in seconds; a second where it says nothing."""
    milliseconds = headers.get("x-ms-retry-after-ms")
    return _UNADVISED_S if milliseconds is None else float(milliseconds) / 1000
