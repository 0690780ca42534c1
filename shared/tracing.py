"""Spans: a request, a batch of changes, or a fan-out, and the trace that it belongs to.

shared/telemetry.py exports them and the metrics. function_app.py imports it only if telemetry is on. Without it, a span
carries its caller's `traceparent` to the log, and nothing of OpenTelemetry is imported.

With it, commands and fan-outs write their `traceparent` to items. The change feed then delivers it to the function that
handles the item, whose span links to them. No reader depends on the property, no copy has it, and the API omits it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from shared.models.base import Item

if TYPE_CHECKING:
    from shared.telemetry import Telemetry, Trace

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_PROPERTY = "traceparent"

# Set by function_app.py.
telemetry: Telemetry | None = None


class Span:
    """Work of `function`. Telemetry gives it a `trace` when it first has something to record.

    `traceparent` is the caller's, or empty, and then its own. `links` are the contexts of what else caused the work.
    """

    def __init__(self, function: str, name: str, traceparent: object, links: Iterable[object]) -> None:
        self.function, self.name = function, name
        self.traceparent = _valid(traceparent)
        # Most changes of a batch can have one writer. A set has another order in each run.
        self.links = list(dict.fromkeys(filter(None, map(_valid, links))))
        self.started_ns = time.time_ns()
        self.attributes: dict[str, str | int | float | bool] = {}
        self.error = ""
        self.trace: Trace | None = None


current_span: ContextVar[Span | None] = ContextVar("span", default=None)


@contextmanager
def span(function: str, *, name: str = "", traceparent: object = "", links: Iterable[object] = ()) -> Iterator[Span]:
    """Record the block as a span, called as its function unless it has a name. Invalid trace contexts are ignored."""
    opened = Span(function, name or function, traceparent, links)
    token = current_span.set(opened)
    try:
        yield opened
    except BaseException as error:
        opened.error = type(error).__name__
        raise
    finally:
        current_span.reset(token)
        if telemetry is not None:
            telemetry.end(opened)


@contextmanager
def shared_span(spans: Sequence[Span | None]) -> Iterator[None]:
    """Record what several requests do together in the first one's span, and link it and the others to each other."""
    first, *others = spans
    if telemetry is not None and first is not None:
        for other in filter(None, others):
            telemetry.link(first, other)
    token = current_span.set(first)
    try:
        yield
    finally:
        current_span.reset(token)


def stamp() -> Item:
    """Return the property of the items that the current span writes; nothing without telemetry."""
    current = current_span.get()
    if telemetry is None or current is None:
        return {}
    telemetry.begin(current)
    return {_PROPERTY: current.traceparent}


def writer_of(item: Mapping[str, object]) -> object:
    """Return the trace context of the span that wrote the item, if it has one. Anyone can have written it."""
    return item.get(_PROPERTY)


def _valid(traceparent: object) -> str:
    return traceparent if isinstance(traceparent, str) and _TRACEPARENT.fullmatch(traceparent) else ""
