"""Spans, metrics and the log. The spans and metrics use OpenTelemetry's API; exporters and span processors handle them.

Without one, no SDK is loaded. Spans and metrics then record nothing, and spans only carry the caller's context.

With one, commands and fan-outs write their trace context to items, as `traceparent`. The change feed delivers it to the
function that handles the item, whose span links to it. Nothing else depends on the property, no copy has it, and the
API omits it.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from opentelemetry import context, metrics, trace
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes

from shared.platform import NAME

# The starts of partition keys and IDs that contain personal data, such as `email:`. Neither spans nor the log contain
# what follows. An app adds its own.
private_prefixes: Final[set[str]] = set()

# The app exports this logger's lines itself (exporters.py), because the host drops the lines of traces that it does not
# record (`EnableTraceBasedLogsSampler`: https://github.com/Azure/azure-sdk-for-net/issues/61704).
KEPT = f"{NAME}.kept"
_KEPT_EVENTS = ("not authenticated",)
_logger, _kept = logging.getLogger(NAME), logging.getLogger(KEPT)
# At INFO, they log each request with its URL and partition key, which can contain names, and each token and export.
_SDKS = ("azure.core", "azure.cosmos", "azure.identity", "azure.monitor")
# Whether the Functions host records the trace of this invocation: the decision of the outermost span's caller.
_host_records: ContextVar[bool | None] = ContextVar("host_records", default=None)

tracer = trace.get_tracer(NAME)
# On a link: how many items with this `traceparent` the span handles.
ITEMS = f"{NAME}.items"
_PROPERTY = "traceparent"
_PROPAGATOR = TraceContextTextMapPropagator()

meter = metrics.get_meter(NAME)

charge = meter.create_histogram(
    "azure.cosmosdb.client.operation.request_charge",
    "{request_unit}",
    "Charge of a call of the database",
    explicit_bucket_boundaries_advisory=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
)
lag = meter.create_histogram(
    f"{NAME}.change_feed.lag",
    "s",
    "Age of the oldest change of a delivery",
    explicit_bucket_boundaries_advisory=[1, 2, 5, 10, 30, 60, 300, 900, 3_600],
)
throttled = meter.create_counter(f"{NAME}.throttled", "{response}", "429 responses")
retries = meter.create_counter(f"{NAME}.retries", "{request}", "Requests that were sent again")
failures = meter.create_counter(f"{NAME}.change_feed.failures", "{change}", "Changes kept in `failures`")


def limit_sdks() -> None:
    """Log only warnings of the Azure SDKs, because Microsoft's worker sets the root logger to INFO."""
    for name in _SDKS:
        logging.getLogger(name).setLevel(logging.WARNING)


def log(level: int, event: str, *, exception: BaseException | None = None, **fields: object) -> None:
    """Log one line, `event name=value …`, with the trace of the current span. Never log bodies, keys, or whole items.

    Values are JSON, so input cannot end a line or forge a field.
    """
    if traceparent := current_traceparent():
        fields["traceparent"] = traceparent
    text = " ".join([event, *(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())])
    must_be_kept = level >= logging.WARNING or event in _KEPT_EVENTS
    logger = _kept if must_be_kept and _host_records.get() is False else _logger
    logger.log(level, "%s", text, exc_info=exception)


def private_key_hidden(key: str) -> str:
    """Return the key, or only its prefix and `…` if it is private."""
    return next((f"{prefix}…" for prefix in private_prefixes if key.startswith(prefix)), key)


def without_private(text: str) -> str:
    """Return the text with `…` instead of what follows a private prefix, up to a quotation mark or bracket."""
    for prefix in private_prefixes:
        written = re.escape(prefix).replace(":", "(:|%3A)")  # also in a URL
        text = re.sub(rf"{written}[^\"\]]*", f"{prefix}…", text, flags=re.IGNORECASE)
    return text


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
    decided = None
    if _host_records.get() is None:
        invoked = _context_of(str(caller))
        decided = _host_records.set(invoked.trace_flags.sampled or not invoked.is_valid)
    # Without the current context, an invalid `caller` would start a trace of its own.
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
            _host_records.reset(decided)


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
