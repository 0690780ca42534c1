"""The request charge: the request units of everything the database answered on behalf of one request or batch.

The SDK keeps the headers of the last answer on the client, which concurrent requests overwrite. Here each request opens
an account in a context variable, and the client's response hook adds the charge of every answer to the one of the task
that asked; tasks started by a request share its account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


@dataclass
class Charge:
    """`request_units` so far, over `answers` answers of the database."""

    request_units: float = 0.0
    answers: int = 0


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
    """Add to the charge of this request or batch its part of what was asked for several together."""
    current = _current.get()
    if current is not None:
        current.answers += charge.answers
        current.request_units += charge.request_units / sharers


class _HttpResponse(Protocol):
    headers: Mapping[str, str]


class _PipelineResponse(Protocol):
    http_response: _HttpResponse


def add_charge(response: _PipelineResponse) -> None:
    """The client's `raw_response_hook`: called by the SDK's pipeline for every answer, also those it retries."""
    charge = _current.get()
    if charge is None:
        return
    charge.answers += 1
    charge.request_units += float(response.http_response.headers.get("x-ms-request-charge") or 0)
