"""Spans, with OpenTelemetry's API: a request, a delivery of changes, a fan-out, or a call of the database.

Without an exporter or another span processor, no SDK is loaded. Spans then record nothing, and only carry the caller's
context.

With one of them, commands and fan-outs write their trace context to items, as `traceparent`. The change feed delivers
it to the function that handles the item, whose span links to it. Nothing else depends on the property, no copy has it,
and the API omits it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import context, trace
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes

from shared.platform.name import NAME

tracer = trace.get_tracer(NAME)

# On a link: how many items with this `traceparent` the span handles.
ITEMS = f"{NAME}.items"
_PROPERTY = "traceparent"
_PROPAGATOR = TraceContextTextMapPropagator()
# Whether the Functions host records the trace of this invocation: the decision of the outermost span's caller.
_is_recorded: ContextVar[bool | None] = ContextVar("is_recorded", default=None)


@contextmanager
def span(
    name: str,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    caller: object = "",
    links: Iterable[object] = (),
    attributes: Attributes = None,
) -> Iterator[Span]:
    """Run the block in a span whose parent is `caller`, or the current span without one.

    `caller` and `links` are values of `traceparent`. Invalid ones are ignored, because anyone can have written them.
    """
    # One link per writer with the number of its items, because most changes of a delivery can have the same one.
    counts = Counter(map(str, links)).items()
    writers = [Link(linked, {ITEMS: n}) for text, n in counts if (linked := _context_of(text)).is_valid]
    # Without the current context, an invalid `caller` would start a trace of its own.
    invoked = _context_of(str(caller))
    decided = None
    if _is_recorded.get() is None:
        decided = _is_recorded.set(invoked.trace_flags.sampled or not invoked.is_valid)
    attached = context.attach(_PROPAGATOR.extract({_PROPERTY: str(caller)}, context.get_current()))
    try:
        # The message of an exception can quote input, so only its type is recorded.
        with tracer.start_as_current_span(
            name,
            kind=kind,
            links=writers,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as started:
            try:
                yield started
            except BaseException as error:
                fail(started, type(error).__name__)
                raise
    finally:
        context.detach(attached)
        if decided is not None:
            _is_recorded.reset(decided)


def is_recorded_by_host() -> bool:
    """Whether the Functions host records the trace of the current invocation."""
    return _is_recorded.get() is not False


def fail(failed: Span, reason: str) -> None:
    """Mark a span as failed; `reason` is a status or the type of an exception."""
    failed.set_attribute("error.type", reason)
    failed.set_status(StatusCode.ERROR)


def trace_property() -> dict[str, str]:
    """Return the property for the items that the current span writes, or nothing if this process records no span."""
    current = trace.get_current_span().get_span_context()
    # Without an SDK, the current span is the caller's.
    return {} if current.is_remote or not current.is_valid else {_PROPERTY: current_traceparent()}


def writer_of(item: Mapping[str, object]) -> object:
    """Return the `traceparent` that the item has, if any. Anyone can have written it."""
    return item.get(_PROPERTY, "")


def current_traceparent() -> str:
    """Return the context of the current span, or nothing. Without an SDK, the current span is the caller's."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get(_PROPERTY, "")


def _context_of(traceparent: str) -> SpanContext:
    extracted = _PROPAGATOR.extract({_PROPERTY: traceparent}, context.Context())
    return trace.get_current_span(extracted).get_span_context()
