"""Exports spans and metrics with OpenTelemetry: to Application Insights, an OTLP endpoint, or both.

Imported only if telemetry is on. OpenTelemetry reads its other settings from the environment (docs/settings.md).

A span is built once, at its end: the SDK's own spans cost five times as much. A request that uses no database, such as
a cached front page, has none. Names, IDs and content of items, users and tokens are never recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from shared.database_requests import container_and_kind
from shared.settings import SettingsError
from shared.tracing import Span, current_span

_NAME = "blog"
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_OK, _FAILED = Status(), Status(StatusCode.ERROR)
_THROTTLED = 429
# The libraries that the app uses and Azure Monitor would instrument.
_INSTRUMENTED = ("azure_sdk", "requests", "urllib", "urllib3")
# Outcomes that the app expects: not modified, not found, exists, condition failed.
_EXPECTED = {304, 404, 409, 412}

_CHARGE = "azure.cosmosdb.client.operation.request_charge"
_CHARGE_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000]
_LAG_BOUNDS = [1, 2, 5, 10, 30, 60, 300, 900, 3_600]
_ITEMS_BOUNDS = [0, 1, 10, 100, 1_000, 10_000, 100_000]


@dataclass(frozen=True, slots=True)
class Trace:
    """A span's own context, its parent's, and what the sampler adds to the attributes."""

    context: SpanContext
    parent: SpanContext | None
    attributes: Mapping[str, Any]


class Telemetry:
    """Records the spans and metrics of this process."""

    def __init__(self, traces: TracerProvider, meters: metrics.MeterProvider) -> None:
        self._sampler, self._resource, self._ids = traces.sampler, traces.resource, traces.id_generator
        # Finished spans go here directly. The provider has no public way to add one.
        self._finished: SpanProcessor = traces._active_span_processor
        self._scope = InstrumentationScope(_NAME)
        meter = meters.get_meter(_NAME)
        self._charge = meter.create_histogram(
            _CHARGE, "{request_unit}", "Charge of a request", explicit_bucket_boundaries_advisory=_CHARGE_BOUNDS
        )
        self._lag = meter.create_histogram(
            "blog.change_feed.lag", "s", "Age of the oldest change", explicit_bucket_boundaries_advisory=_LAG_BOUNDS
        )
        self._items = meter.create_histogram(
            "blog.fan_out.items", "{item}", "Items per rename", explicit_bucket_boundaries_advisory=_ITEMS_BOUNDS
        )
        self._throttled = meter.create_counter("blog.throttled", "{response}", "429 responses")
        self._retries = meter.create_counter("blog.retries", "{request}", "Requests that were sent again")
        self._failures = meter.create_counter("blog.change_feed.failures", "{change}", "Changes kept in `failures`")

    @classmethod
    def start(cls) -> Self:
        """Start the exporters that the environment configures. Raises SettingsError."""
        processors: list[SpanProcessor] = []
        readers: list[MetricReader] = []
        if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

            from shared.otlp import SpanExporter

            processors.append(BatchSpanProcessor(SpanExporter()))
            readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
        if os.environ.get("APPLICATIONINSIGHTS_CONNECTION_STRING"):
            _start_azure_monitor(processors, readers)
            traces = trace.get_tracer_provider()
            # It is not the SDK's if OTEL_TRACES_EXPORTER is none.
            provider = traces if isinstance(traces, TracerProvider) else TracerProvider(sampler=ALWAYS_OFF)
            return cls(provider, metrics.get_meter_provider())
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or _NAME})
        has_traces = os.environ.get("OTEL_TRACES_EXPORTER") != "none"
        provider = TracerProvider(None if has_traces else ALWAYS_OFF, resource)
        for processor in processors:
            provider.add_span_processor(processor)
        return cls(provider, MeterProvider(readers, resource))

    def begin(self, span: Span) -> Trace:
        """Return the span's trace, which starts here unless its caller has one. The sampler decides once per span."""
        if span.trace is None:
            parent = _context(span.traceparent)
            trace_id = parent.trace_id if parent else self._ids.generate_trace_id()
            around = trace.set_span_in_context(trace.NonRecordingSpan(parent)) if parent else None
            sampled = self._sampler.should_sample(around, trace_id, span.name)
            flags = _SAMPLED if sampled.decision is Decision.RECORD_AND_SAMPLE else TraceFlags()
            own = SpanContext(trace_id, self._ids.generate_span_id(), is_remote=False, trace_flags=flags)
            span.trace = Trace(own, parent, sampled.attributes or {})
            span.traceparent = f"00-{trace_id:032x}-{own.span_id:016x}-{flags:02x}"
        return span.trace

    def end(self, span: Span) -> None:
        """Export a span that made calls, wrote items, or failed."""
        if span.error:
            self.begin(span)
        if span.trace is not None:
            links = [Link(context) for context in map(_context, span.links) if context and context.trace_flags.sampled]
            self._export(span.name, span.trace, span.attributes, span.started_ns, links=links, error=span.error)

    def link(self, one: Span, other: Span) -> None:
        """Link two spans to each other."""
        for span in (one, other):
            self.begin(span)
        one.links.append(other.traceparent)
        other.links.append(one.traceparent)

    async def call(self, request: Any, send: Callable[[], Awaitable[Any]]) -> Any:
        """Send a request to the database, and record it as a call of the current span."""
        span = current_span.get()
        if span is None:
            return await send()
        started_ns, sent = time.time_ns(), vars(request).get("sent", 0)
        vars(request)["sent"] = sent + 1
        container, kind = container_and_kind(request)
        attributes: dict[str, Any] = {"db.system.name": "azure.cosmosdb", "db.operation.name": kind}
        if container:
            attributes["db.collection.name"] = container
        if sent:
            attributes["http.request.resend_count"] = sent
            self.retried(container)
        error = ""
        try:
            response = await send()
            error = self._answered(response, span.function, container, attributes)
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            parent = self.begin(span)
            if parent.context.trace_flags.sampled:
                own = SpanContext(
                    parent.context.trace_id, self._ids.generate_span_id(), is_remote=False, trace_flags=_SAMPLED
                )
                called = Trace(own, parent.context, parent.attributes)
                name = f"{kind} {container}".rstrip()
                self._export(name, called, attributes, started_ns, kind=SpanKind.CLIENT, error=error)
        return response

    def _answered(self, response: Any, function: str, container: str, attributes: dict[str, Any]) -> str:
        """Record a response; return the error that it is, or nothing."""
        status, headers = response.status_code, response.headers
        charge = float(headers.get("x-ms-request-charge") or 0)
        self._charge.record(charge, {"db.collection.name": container, "blog.function": function})
        attributes["db.response.status_code"] = str(status)
        attributes["azure.cosmosdb.operation.request_charge"] = charge
        if sub_status := headers.get("x-ms-substatus"):
            attributes["azure.cosmosdb.response.sub_status_code"] = sub_status
        if status < 400 or status in _EXPECTED:
            return ""
        if status == _THROTTLED:
            self._throttled.add(1, {"db.collection.name": container})
        return str(status)

    def retried(self, container: str) -> None:
        """Count a request that is sent again."""
        self._retries.add(1, {"db.collection.name": container})

    def lag(self, function: str, seconds: float) -> None:
        """Record the lag of a change-feed function."""
        self._lag.record(seconds, {"blog.function": function})

    def failed(self, function: str) -> None:
        """Count a change that is kept in `failures`."""
        self._failures.add(1, {"blog.function": function})

    def renamed(self, items: int) -> None:
        """Record the size of a fan-out."""
        self._items.record(items)

    def _export(
        self,
        name: str,
        own: Trace,
        attributes: Mapping[str, Any],
        started_ns: int,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        links: list[Link] | None = None,
        error: str = "",
    ) -> None:
        """Hand a finished span to the exporters. The reason of an error is not recorded, because it can quote input."""
        if not own.context.trace_flags.sampled:
            return
        values = {**attributes, **own.attributes}
        if error:
            values["error.type"] = error
        self._finished.on_end(
            ReadableSpan(
                name,
                own.context,
                own.parent,
                self._resource,
                values,
                links=links or (),
                kind=kind,
                status=_FAILED if error else _OK,
                start_time=started_ns,
                end_time=time.time_ns(),
                instrumentation_scope=self._scope,
            )
        )


def _start_azure_monitor(processors: list[SpanProcessor], readers: list[MetricReader]) -> None:
    """Export to Application Insights, signed in as APPLICATIONINSIGHTS_AUTHENTICATION_STRING says.

    The Functions host exports requests, the log and live metrics. The instrumentations would record the same requests
    to the database again, with their addresses, which have usernames. Raises SettingsError.
    """
    os.environ["OTEL_LOGS_EXPORTER"] = "none"
    from azure.monitor.opentelemetry import configure_azure_monitor

    try:
        configure_azure_monitor(
            span_processors=processors,
            metric_readers=readers,
            enable_live_metrics=False,
            enable_performance_counters=False,
            instrumentation_options={library: {"enabled": False} for library in _INSTRUMENTED},
        )
    except ValueError as error:
        raise SettingsError(
            f"set APPLICATIONINSIGHTS_CONNECTION_STRING to that of Application Insights ({error})"
        ) from error


def _context(traceparent: str) -> SpanContext | None:
    """Return the context in a header, as far as it is valid."""
    if not traceparent:
        return None
    _, trace_id, span_id, flags = traceparent.split("-")
    context = SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))
    return context if context.is_valid else None
