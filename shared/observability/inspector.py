"""The inspector: the last requests and deliveries of changes of this process, with their database calls.

It is for readers of the article, and keeps no content of items, no keys and no tokens.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

KEPT_RECORDS = 200
# Per record: a rename can touch thousands of posts.
KEPT_CALLS = 100
# Spans whose calls are kept until they end.
_OPEN_SPANS = 1_000
_PATH_LENGTH = 200
_NOT_FOUND = 404

# The first line of a handler's docstring, such as "Like a post (C4)."
_SUMMARY = re.compile(r"(?P<title>.+?)(?: \((?P<name>[CQ]\d(?:, [CQ]\d)*)\))?[.;]")


@dataclass
class _Calls:
    """The first calls of the database in a span, as JSON values, and how many there were."""

    first: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0


class Inspector(SpanProcessor):
    """Keeps the last records of a process, oldest first.

    A record is a request or a delivery. Its calls are those of its span, and its part of the calls of a span that links
    to it: a fan-out belongs to its delivery, and a group commit to all of its commands.
    """

    def __init__(self, kept: int = KEPT_RECORDS) -> None:
        self._records: deque[dict[str, Any]] = deque(maxlen=kept)
        self._open: OrderedDict[int, _Calls] = OrderedDict()
        # Numbers must grow even if the process restarts, because clients ask for those after the last one.
        self._last = time.time_ns() // 1_000_000

    def start(self) -> None:
        """Receive the spans of this process. The sampler of an exporter can drop some."""
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            provider = TracerProvider(ALWAYS_ON)
            trace.set_tracer_provider(provider)
        provider.add_span_processor(self)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep the span's calls for the span that it belongs to, or record it."""
        attributes = dict(span.attributes or {})
        if "db.system.name" in attributes:
            if span.parent is not None:
                self._add(span.parent.span_id, [_call(span, attributes)], 1)
            return
        calls = self._open.pop(span.context.span_id, _Calls())
        if "http.response.status_code" in attributes:
            self._record_request(span, attributes, calls)
        elif "blog.changes" in attributes:
            about = {"name": span.name, "title": f"{attributes['db.collection.name']} change feed"}
            done = {name: attributes[f"blog.{name}"] for name in ("changes", "finished")}
            self._record(span, "delivery", {**about, **done}, attributes, calls)
        else:
            for link in span.links:
                shared = [_shared(one, len(span.links)) for one in calls.first]
                self._add(link.context.span_id, shared, calls.count)

    def since(self, number: int) -> Sequence[dict[str, Any]]:
        """Return the records after the one with this number."""
        return [record for record in self._records if record["number"] > number]

    def _add(self, span_id: int, calls: Sequence[dict[str, Any]], count: int) -> None:
        kept = self._open.setdefault(span_id, _Calls())
        kept.first += calls[: KEPT_CALLS - len(kept.first)]
        kept.count += count
        # Without a limit, the calls of a span that has already ended would be kept forever.
        while len(self._open) > _OPEN_SPANS:
            self._open.popitem(last=False)

    def _record_request(self, span: ReadableSpan, attributes: Mapping[str, Any], calls: _Calls) -> None:
        """Record a request of the article, or one that used the database."""
        summary = _SUMMARY.match(attributes["blog.summary"])
        title, name = (summary["title"], summary["name"]) if summary else (span.name, None)
        status = attributes["http.response.status_code"]
        if calls.count or (name and status != _NOT_FOUND):
            path = attributes["url.path"][:_PATH_LENGTH]
            about = {"name": name or "", "title": title, "method": attributes["http.request.method"]}
            self._record(span, "request", {**about, "path": path, "status": status}, attributes, calls)

    def _record(
        self, span: ReadableSpan, kind: str, about: Mapping[str, object], attributes: Mapping[str, Any], calls: _Calls
    ) -> None:
        self._last += 1
        self._records.append(
            {
                "number": self._last,
                "kind": kind,
                **about,
                "trace": trace.format_trace_id(span.context.trace_id),
                # The traces of the commands that wrote the changes of a delivery.
                "causes": list({trace.format_trace_id(link.context.trace_id): None for link in span.links}),
                "finishedAt": (span.end_time or 0) // 1_000_000,
                "durationMs": _duration_ms(span),
                "charge": attributes["blog.charge_ru"],
                "operations": calls.first,
                "operationCount": calls.count,
            }
        )


def _call(span: ReadableSpan, attributes: Mapping[str, Any]) -> dict[str, Any]:
    kind, batch = attributes["db.operation.name"], attributes.get("blog.batch")
    return {
        "kind": "point read by the primary" if batch == "1 read" else f"{kind}: {batch}" if batch else kind,
        "container": attributes.get("db.collection.name", ""),
        "partitionKey": attributes.get("blog.partition_key"),
        "status": int(attributes.get("db.response.status_code", 0)),
        "charge": attributes.get("azure.cosmosdb.operation.request_charge", 0.0),
        "durationMs": _duration_ms(span),
        "sharers": 1,
    }


def _shared(call: Mapping[str, Any], sharers: int) -> dict[str, Any]:
    return {**call, "charge": round(call["charge"] / sharers, 4), "sharers": sharers}


def _duration_ms(span: ReadableSpan) -> float:
    return round(((span.end_time or 0) - (span.start_time or 0)) / 1e6, 1)
