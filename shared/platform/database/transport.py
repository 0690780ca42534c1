"""The HTTP transport of the SDK's client, through which every request and response passes, including retries.

It records each of them as a client span, counts the request charge, and applies the session of the current API request.
The attributes of a span follow OpenTelemetry's semantic conventions for Azure Cosmos DB
(https://opentelemetry.io/docs/specs/semconv/database/cosmosdb/), and three of the app: the partition key, the
operations of a batch, and the physical partitions that answered.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from opentelemetry.trace import Span, SpanKind

from shared.platform import NAME, telemetry
from shared.platform.database.scope import current_scope, record_response
from shared.platform.database.sessions import SESSION_HEADER

# Names the container that the client means. The service refuses the request if another one has its name now.
_RID = "x-ms-cosmos-intended-collection-rid"
_GONE = 410
# Outcomes that the app expects: not modified, not found, exists, condition failed.
_EXPECTED = {304, 404, 409, 412}
_READS = ("point read", "query", "query plan", "change feed")
_OF_ITEMS = {"GET": "point read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}
# By the first of these headers that a request to all items has.
_OF_CONTAINERS = {
    "x-ms-cosmos-is-batch-request": "batch",
    "x-ms-cosmos-is-query-plan-request": "query plan",
    "x-ms-documentdb-isquery": "query",
    "x-ms-documentdb-is-upsert": "upsert",
}
_KEY_LENGTH = 60


class SessionTransport(AioHttpTransport):  # type: ignore[misc]  # untyped
    """Sends requests in the current scope: counts their charge, and applies its session (sessions.py)."""

    def __init__(self) -> None:
        # By default, aiohttp reads .netrc and looks up proxies before every request, each in a thread.
        super().__init__(use_env_settings=bool(getproxies()))

    async def send(self, request: Any, **options: Any) -> Any:
        """Raises SessionNotConfirmed, or DatabaseUnavailable if no replica reaches a token of the request."""
        scope, rid = current_scope(), request.headers.get(_RID)
        container, kind = container_and_kind(request)
        send = partial(self._send, request, container, kind, **options)
        if scope is None or rid is None:
            return await send()
        return await scope.session.send(request, rid, send, is_read=kind in _READS)

    async def _send(self, request: Any, container: str, kind: str, **options: Any) -> Any:
        """Send once.

        After a 410/1002, azure-cosmos 4.17 reads the partition key ranges under a lock. If that read returns 410/1002,
        too, the SDK waits forever for its own lock. Without the sub-status, the read fails instead.
        """
        attributes: dict[str, str | int] = {"db.system.name": "azure.cosmosdb", "db.operation.name": kind}
        if container:
            attributes["db.collection.name"] = container
        # The SDK sends the same object again.
        sent = vars(request).get("sent", 0)
        vars(request)["sent"] = sent + 1
        if sent:
            attributes["http.request.resend_count"] = sent
            telemetry.retries.add(1, {"db.collection.name": container})
        with telemetry.span(f"{kind} {container}".rstrip(), kind=SpanKind.CLIENT, attributes=attributes) as span:
            if span.is_recording():  # saves the parsing
                span.set_attributes(_details(request, kind))
            response = await super().send(request, **options)
            _describe(span, response, record_response(response, container))
        if response.status_code == _GONE and request.url.rstrip("/").endswith("/pkranges"):
            response.headers.pop("x-ms-substatus", None)
        return response


def _describe(span: Span, response: Any, request_units: float) -> None:
    status, headers = response.status_code, response.headers
    span.set_attribute("db.response.status_code", str(status))
    span.set_attribute("azure.cosmosdb.operation.request_charge", request_units)
    # Microsoft's support asks for it.
    if activity := headers.get("x-ms-activity-id"):
        span.set_attribute("azure.service.request.id", activity)
    if count := headers.get("x-ms-item-count"):
        span.set_attribute("db.response.returned_rows", int(count))
    # A session token is `{partition}:{progress}`, and a query has one for each partition.
    if token := headers.get(SESSION_HEADER):
        answered = sorted({part.partition(":")[0] for part in token.split(",")})
        span.set_attribute(f"{NAME}.physical_partitions", ",".join(answered))
    if sub_status := headers.get("x-ms-substatus"):
        span.set_attribute("azure.cosmosdb.response.sub_status_code", sub_status)
    if status >= 400 and status not in _EXPECTED:
        telemetry.fail(span, str(status))


def container_and_kind(request: Any) -> tuple[str, str]:
    """Return the container, if there is one, and the kind of a request, such as `query`. Neither contains an ID."""
    # http://{account}/dbs/{database}/colls/{container}/{collection}/{ID}
    parts: list[str] = request.url.rstrip("/").split("/")[3:]
    if len(parts) < 4 or parts[2] != "colls":
        return "", "read of the database" if parts[:1] == ["dbs"] else "read of the account"
    container, (collection, name, *_) = unquote(parts[3]), (*parts[4:], "", "")
    if not collection:
        return container, "read of the container"
    if collection == "pkranges":
        return container, "read of partition ranges"
    if collection != "docs":
        return container, f"stored procedure {unquote(name)}" if name else "list of scripts"
    if name:
        return container, _OF_ITEMS[request.method]
    for header, kind in _OF_CONTAINERS.items():
        if header in request.headers:
            return container, kind
    return container, "change feed" if request.method == "GET" else "create"


def _details(request: Any, kind: str) -> dict[str, str]:
    found = {}
    if header := request.headers.get("x-ms-documentdb-partitionkey"):
        key = str(next(iter(json.loads(header)), ""))
        found[f"{NAME}.partition_key"] = telemetry.private_key_hidden(key)[:_KEY_LENGTH]
    if kind == "batch":
        parts = [str(part["operationType"]).lower() for part in json.loads(request.data)]
        found[f"{NAME}.batch"] = ", ".join(f"{parts.count(part)} {part}" for part in dict.fromkeys(parts))
    return found
