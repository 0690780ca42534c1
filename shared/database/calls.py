"""Calls of the database: one client span for each HTTP request that the SDK sends, including retries.

The attributes are those of OpenTelemetry's semantic conventions for Azure Cosmos DB
(https://opentelemetry.io/docs/specs/semconv/database/cosmosdb/), and three of the blog: the partition key, the
operations of a batch, and the physical partitions that answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from opentelemetry.trace import Span, SpanKind

from shared.observability import metrics, spans

PARTITION_KEY = "blog.partition_key"
BATCH = "blog.batch"
PHYSICAL_PARTITIONS = "blog.physical_partitions"

_OF_ITEMS = {"GET": "point read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}
_KEY_LENGTH = 60
_THROTTLED = 429
# Outcomes that the app expects: not modified, not found, exists, condition failed.
_EXPECTED = {304, 404, 409, 412}


class Call:
    """One HTTP request to the database, with its span."""

    def __init__(self, span: Span, container: str, function: str) -> None:
        self._span, self._container, self._function = span, container, function

    def answered(self, response: Any) -> None:
        """Record the response."""
        status, headers = response.status_code, response.headers
        charge = float(headers.get("x-ms-request-charge") or 0)
        of_container = {"db.collection.name": self._container}
        metrics.charge.record(charge, of_container | {"blog.function": self._function})
        self._span.set_attribute("db.response.status_code", str(status))
        self._span.set_attribute("azure.cosmosdb.operation.request_charge", charge)
        if count := headers.get("x-ms-item-count"):
            self._span.set_attribute("db.response.returned_rows", int(count))
        # A session token is `{partition}:{progress}`, and a query has one for each partition.
        if token := headers.get("x-ms-session-token"):
            answered = sorted({one.partition(":")[0] for one in token.split(",")})
            self._span.set_attribute(PHYSICAL_PARTITIONS, ",".join(answered))
        if sub_status := headers.get("x-ms-substatus"):
            self._span.set_attribute("azure.cosmosdb.response.sub_status_code", sub_status)
        if status == _THROTTLED:
            metrics.throttled.add(1, of_container)
        if status >= 400 and status not in _EXPECTED:
            spans.fail(self._span, str(status))


@contextmanager
def database_call(request: Any, function: str) -> Iterator[Call]:
    """Record the block, which sends `request` once, as a call for `function`."""
    container, kind = container_and_kind(request)
    attributes: dict[str, str | int] = {"db.system.name": "azure.cosmosdb", "db.operation.name": kind}
    if container:
        attributes["db.collection.name"] = container
    # The SDK sends the same object again.
    sent = vars(request).get("sent", 0)
    vars(request)["sent"] = sent + 1
    if sent:
        attributes["http.request.resend_count"] = sent
        metrics.retries.add(1, {"db.collection.name": container})
    with spans.tracer.start_as_current_span(
        f"{kind} {container}".rstrip(),
        kind=SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        if span.is_recording():  # saves the parsing
            span.set_attributes(_details(request, kind))
        try:
            yield Call(span, container, function)
        except BaseException as error:
            spans.fail(span, type(error).__name__)
            raise


def container_and_kind(request: Any) -> tuple[str, str]:
    """Return the container, if there is one, and the kind of a request, such as `query`. Neither contains an ID."""
    # http://{account}/dbs/{database}/colls/{container}/{collection}/{ID}
    parts: list[str] = request.url.rstrip("/").split("/")[3:]
    if len(parts) < 4 or parts[2] != "colls":
        return "", "read of the database" if parts[:1] == ["dbs"] else "read of the account"
    collection, name, *_ = [*parts[4:], "", ""]
    return unquote(parts[3]), _kind(request, collection, name)


def _kind(request: Any, collection: str, name: str) -> str:
    headers = request.headers
    if not collection:
        return "read of the container"
    if collection == "pkranges":
        return "read of partition ranges"
    if collection != "docs":
        return f"stored procedure {unquote(name)}" if name else "list of scripts"
    if name:
        return _OF_ITEMS[request.method]
    if "x-ms-cosmos-is-batch-request" in headers:
        return "batch"
    if "x-ms-cosmos-is-query-plan-request" in headers:
        return "query plan"
    if "x-ms-documentdb-isquery" in headers:
        return "query"
    if request.method == "GET":
        return "change feed"
    return "upsert" if "x-ms-documentdb-is-upsert" in headers else "create"


def _details(request: Any, kind: str) -> dict[str, str]:
    found = {}
    if header := request.headers.get("x-ms-documentdb-partitionkey"):
        key = str(next(iter(json.loads(header)), ""))
        # The partition key of a reservation is a username, which telemetry must not contain.
        found[PARTITION_KEY] = "username:…" if key.startswith("username:") else key[:_KEY_LENGTH]
    if kind == "batch":
        parts = [str(part["operationType"]).lower() for part in json.loads(request.data)]
        found[BATCH] = ", ".join(f"{parts.count(part)} {part}" for part in dict.fromkeys(parts))
    return found
