"""Receives OTLP over HTTP (protobuf), for the trace command and the tests."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

INTERNAL, CLIENT = 1, 3  # opentelemetry.proto.trace.v1.Span.SpanKind
_ERROR = 2


@dataclass(frozen=True)
class ReceivedSpan:
    """A span. IDs are in hexadecimal digits; `links` are pairs of trace ID and span ID."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]
    links: Sequence[tuple[str, str]]
    is_error: bool


@dataclass(frozen=True)
class ReceivedPoint:
    """The last value of a metric for one set of attributes. A counter has only a sum."""

    attributes: Mapping[str, Any]
    sum: float
    count: int = 0
    max: float = 0.0


class TelemetrySink:
    """Listens on a free local port in its own thread. `bodies` are the requests as received."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.spans: list[ReceivedSpan] = []
        self.points: dict[str, dict[tuple[tuple[str, Any], ...], ReceivedPoint]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, name="telemetry sink", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def named(self, name: str) -> list[ReceivedSpan]:
        """Return the spans with this name, in the order of their arrival."""
        return [span for span in self.spans if span.name == name]

    def metric(self, name: str) -> list[ReceivedPoint]:
        """Return the last point of each attribute set of a metric."""
        return list(self.points.get(name, {}).values())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sink._receive(self.path, body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        return Handler

    def _receive(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            self.spans += _spans(ExportTraceServiceRequest.FromString(body))
        elif path == "/v1/metrics":
            for name, point in _points(ExportMetricsServiceRequest.FromString(body)):
                self.points.setdefault(name, {})[tuple(sorted(point.attributes.items()))] = point


def _spans(request: ExportTraceServiceRequest) -> list[ReceivedSpan]:
    return [
        ReceivedSpan(
            span.name,
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.kind,
            span.start_time_unix_nano,
            span.end_time_unix_nano,
            _values(span.attributes),
            [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
            span.status.code == _ERROR,
        )
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _points(request: ExportMetricsServiceRequest) -> list[tuple[str, ReceivedPoint]]:
    found = []
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                found += [
                    (metric.name, ReceivedPoint(_values(one.attributes), one.sum, one.count, one.max))
                    for one in metric.histogram.data_points
                ]
                found += [
                    (metric.name, ReceivedPoint(_values(one.attributes), one.as_int)) for one in metric.sum.data_points
                ]
    return found


def _values(attributes: Sequence[KeyValue]) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in attributes}
