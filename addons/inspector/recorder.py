"""The recorder: the last requests and deliveries of changes of this process, with their database calls.

It is for readers of the article, and keeps no content of items, no keys and no tokens.
"""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from shared.platform.telemetry import ITEMS

KEPT_RECORDS = 200
# Different operations of a record, and partition keys of an operation. A rename can touch thousands of posts.
KEPT_OPERATIONS = 100
KEPT_KEYS = 12
_MOST_KEYS = 10_000
# Spans whose calls are kept until they end, and traces whose origin is known.
_OPEN_SPANS = 1_000
_PATH_LENGTH = 200
_NOT_FOUND = 404

_BATCH_PART = re.compile(r"(\d+) \w+")


@dataclass
class _Operation:
    """Calls of one kind on one container with one outcome, which repeat. The kind of a batch names its operations.

    `cause` is the trace of the span that made the calls; `sharers` is the number of requests that share them.
    """

    kind: str
    container: str
    status: int
    cause: str
    sharers: int = 1
    count: float = 1
    items: float = 0
    charge: float = 0.0
    start_ns: int = 0
    end_ns: int = 0
    keys: dict[str, None] = field(default_factory=dict)
    physical: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, span: ReadableSpan, attributes: Mapping[str, Any]) -> _Operation:
        kind, batch = attributes["db.operation.name"], attributes.get("blog.batch", "")
        if batch:
            kind = "point read by the primary" if batch == "1 read" else f"batch: {batch}"
        physical = filter(None, attributes.get("blog.physical_partitions", "").split(","))
        key = attributes.get("blog.partition_key")
        return cls(
            kind=kind,
            container=attributes.get("db.collection.name", ""),
            status=int(attributes.get("db.response.status_code", 0)),
            cause=trace.format_trace_id(span.context.trace_id),
            items=sum(map(int, _BATCH_PART.findall(batch))) or attributes.get("db.response.returned_rows", 1),
            charge=attributes.get("azure.cosmosdb.operation.request_charge", 0.0),
            start_ns=span.start_time or 0,
            end_ns=span.end_time or 0,
            keys={} if key is None else {key: None},
            physical=dict.fromkeys(physical),
        )

    @property
    def identity(self) -> tuple[object, ...]:
        """What equal operations have in common."""
        return (self.kind, self.container, self.status, self.cause, self.sharers)

    def add(self, other: _Operation) -> None:
        """Count the calls of an equal operation."""
        for name in ("count", "items", "charge"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.start_ns, self.end_ns = min(self.start_ns, other.start_ns), max(self.end_ns, other.end_ns)
        if len(self.keys) < _MOST_KEYS:
            self.keys |= other.keys
        self.physical |= other.physical

    def shared(self, sharers: int) -> _Operation:
        """Return the part of one of several requests."""
        parts = {name: round(getattr(self, name) / sharers, 4) for name in ("count", "items", "charge")}
        copies: dict[str, Any] = {"keys": {**self.keys}, "physical": {**self.physical}}
        return replace(self, sharers=sharers, **parts, **copies)

    def as_json(self, start_ns: int, causes: Iterable[str]) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("kind", "container", "status", "sharers", "count", "items")},
            "partitionKeys": list(self.keys)[:KEPT_KEYS],
            "partitions": len(self.keys),
            "physical": list(self.physical),
            "charge": round(self.charge, 4),
            "atMs": round((self.start_ns - start_ns) / 1e6, 1),
            "untilMs": round((self.end_ns - start_ns) / 1e6, 1),
            "cause": self.cause if self.cause in causes else "",
        }


# The different operations of a span.
_Calls = dict[tuple[object, ...], _Operation]


class Recorder(SpanProcessor):
    """Keeps the last records of a process, oldest first.

    A record is a request or a delivery. It has the calls of its span, and its part of the calls of a span that links
    to it: a fan-out belongs to its delivery, and a group commit to all of its commands.

    A delivery has `causes`: the commands that wrote its changes, by trace, each with its items and its share of the
    charge. A fan-out or correction is charged to its rename. Commands share everything else by their items. If another
    delivery wrote a change, its commands caused it.
    """

    def __init__(self, kept: int = KEPT_RECORDS) -> None:
        self._records: deque[dict[str, Any]] = deque(maxlen=kept)
        self._open: OrderedDict[int, _Calls] = OrderedDict()
        # The commands behind a delivery, and the visitor who sent a command, by trace.
        self._origins: OrderedDict[str, Mapping[str, float]] = OrderedDict()
        self._visitors: OrderedDict[str, str] = OrderedDict()
        # Numbers must grow even if the process restarts, because clients ask for those after the last one.
        self.last = time.time_ns() // 1_000_000

    def start(self) -> None:
        """Receive the spans of this process. The sampler of an exporter can drop some."""
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            provider = TracerProvider(ALWAYS_ON)
            trace.set_tracer_provider(provider)
        provider.add_span_processor(self)

    def remember(self, span: trace.Span, visitor: str) -> None:
        """Remember who sent a command when it arrives, because the delivery of its changes can end first."""
        if visitor:
            _keep(self._visitors, trace.format_trace_id(span.get_span_context().trace_id), visitor)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep the span's calls for the span that it belongs to, or record it."""
        attributes = dict(span.attributes or {})
        if "db.system.name" in attributes:
            if span.parent is not None:
                self._add(span.parent.span_id, [_Operation.of(span, attributes)])
            return
        calls = self._open.pop(span.context.span_id, {})
        if "http.response.status_code" in attributes:
            self._record_request(span, attributes, calls)
        elif "blog.changes" in attributes:
            self._record_delivery(span, attributes, calls)
        else:
            for link in span.links:
                shared = [operation.shared(len(span.links)) for operation in calls.values()]
                self._add(link.context.span_id, shared)

    def since(self, number: int, visitor: str | None = None) -> Sequence[dict[str, Any]]:
        """Return the records after the one with this number: a visitor's requests and what they caused, or all."""
        return [record for record in self._records if record["number"] > number and self._is_of(record, visitor)]

    def claim(self, path: str, visitor: str) -> None:
        """Give a visitor the last request for a page that has none: their first page, requested without a cookie."""
        for record in reversed(self._records):
            if record["kind"] == "request" and record["path"] == path and record["trace"] not in self._visitors:
                _keep(self._visitors, record["trace"], visitor)
                return

    def _is_of(self, record: Mapping[str, Any], visitor: str | None) -> bool:
        return visitor is None or any(
            self._visitors.get(trace_id) == visitor for trace_id in (record["trace"], *record.get("causes", ()))
        )

    def _add(self, span_id: int, operations: Sequence[_Operation]) -> None:
        calls = self._open.setdefault(span_id, {})
        for operation in operations:
            if known := calls.get(operation.identity):
                known.add(operation)
            elif len(calls) < KEPT_OPERATIONS:
                calls[operation.identity] = operation
        # Without a limit, the calls of a span that has already ended would be kept forever.
        while len(self._open) > _OPEN_SPANS:
            self._open.popitem(last=False)

    def _record_request(self, span: ReadableSpan, attributes: Mapping[str, Any], calls: _Calls) -> None:
        """Record a request of the article, or one that used the database."""
        name = attributes["blog.request"]
        status = attributes["http.response.status_code"]
        if calls or (name and status != _NOT_FOUND):
            path = attributes["url.path"][:_PATH_LENGTH]
            described = {"name": name, "title": attributes["blog.title"], "method": attributes["http.request.method"]}
            self._record(span, "request", {**described, "path": path, "status": status}, attributes, calls)

    def _record_delivery(self, span: ReadableSpan, attributes: Mapping[str, Any], calls: _Calls) -> None:
        items: Counter[str] = Counter()
        for link in span.links:
            writer, written = trace.format_trace_id(link.context.trace_id), (link.attributes or {}).get(ITEMS, 1)
            for cause, share in self._origins.get(writer, {writer: 1.0}).items():
                items[cause] += written * share  # type: ignore[operator,assignment]  # telemetry.py sets a number
        total, delivery = items.total() or 1, trace.format_trace_id(span.context.trace_id)
        _keep(self._origins, delivery, {cause: n / total for cause, n in items.items()})
        if not calls and attributes["blog.finished"]:
            return  # changes that nothing follows from
        fan_outs: Counter[str] = Counter()
        for operation in calls.values():
            if operation.cause != delivery:
                fan_outs[operation.cause] += operation.charge  # type: ignore[assignment]  # a Counter of floats
        common = attributes["blog.charge_ru"] - fan_outs.total()
        causes = {
            cause: {
                "items": round(items[cause], 2),
                "share": items[cause] / total,
                "charge": round(fan_outs[cause] + common * items[cause] / total, 4),
            }
            for cause in items | fan_outs
        }
        described = {"name": span.name, "title": f"{attributes['db.collection.name']} change feed", "causes": causes}
        done = {name: attributes[f"blog.{name}"] for name in ("changes", "finished")}
        self._record(span, "delivery", {**described, **done}, attributes, calls)

    def _record(
        self, span: ReadableSpan, kind: str, described: Mapping[str, Any], attributes: Mapping[str, Any], calls: _Calls
    ) -> None:
        self.last += 1
        start_ns, end_ns, causes = span.start_time or 0, span.end_time or 0, described.get("causes", ())
        self._records.append(
            {
                "number": self.last,
                "kind": kind,
                **described,
                "trace": trace.format_trace_id(span.context.trace_id),
                "startedAt": start_ns // 1_000_000,
                "finishedAt": end_ns // 1_000_000,
                "charge": attributes["blog.charge_ru"],
                "operations": [operation.as_json(start_ns, causes) for operation in calls.values()],
            }
        )


def _keep(known: OrderedDict[str, Any], trace_id: str, value: object) -> None:
    known[trace_id] = value
    while len(known) > _OPEN_SPANS:
        known.popitem(last=False)
