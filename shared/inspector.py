"""The inspector: the last requests and change-feed batches of this process, with their database operations.

It is for readers of the article, and keeps no content of items, no keys and no tokens.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import azure.functions as func

from shared.database_requests import container_and_kind

if TYPE_CHECKING:
    from shared.charges import Charge

KEPT_RECORDS = 200
# Per record: a rename can touch thousands of posts.
KEPT_OPERATIONS = 100
KEY_LENGTH = 60
_PATH_LENGTH = 200
_NOT_FOUND = 404

# The first line of a handler's docstring, such as "Like a post (C4)."
_SUMMARY = re.compile(r"(?P<title>.+?)(?: \((?P<name>[CQ]\d(?:, [CQ]\d)*)\))?[.;]")


@dataclass(frozen=True)
class Operation:
    """One request to the database. `partition_key` is None for a query of all partitions.

    If `sharers` requests waited for the same operation, `charge` is the share of each.
    """

    kind: str
    container: str
    partition_key: str | None
    status: int
    charge: float
    duration_ms: float
    sharers: int = 1


class Inspector:
    """The last records of a process, oldest first."""

    def __init__(self, kept: int = KEPT_RECORDS) -> None:
        self._records: deque[dict[str, Any]] = deque(maxlen=kept)
        # Numbers must grow even if the process restarts, because clients ask for those after the last one.
        self._last = time.time_ns() // 1_000_000

    def sending(self, request: Any) -> None:
        """Note when the SDK's `request` is sent."""
        vars(request)["sent_at"] = time.perf_counter()

    def received(self, answer: Any, operations: list[Operation]) -> None:
        """Add what the SDK's request did to `operations`, unless they are too many."""
        if len(operations) < KEPT_OPERATIONS:
            operations.append(_operation(answer))

    def add_request(
        self, handler: Callable[..., object], request: func.HttpRequest, status: int, charge: Charge, duration_ms: float
    ) -> None:
        """Keep a finished request, unless it is not a query or command of the article and used no database."""
        summary = _SUMMARY.match(handler.__doc__ or "")
        title, name = (summary["title"], summary["name"]) if summary else (handler.__name__, None)
        if charge.operations or (name and status != _NOT_FOUND):
            path = urlsplit(request.url).path[:_PATH_LENGTH]
            about = {"name": name or "", "title": title, "method": request.method, "path": path, "status": status}
            self._add("request", about, charge, duration_ms)

    def add_batch(self, function: str, container: str, charge: Charge, duration_ms: float, **about: object) -> None:
        """Keep a batch of changes of `container`."""
        self._add("batch", {"name": function, "title": f"{container} change feed", **about}, charge, duration_ms)

    def since(self, number: int) -> Sequence[dict[str, Any]]:
        """The records after the one with this number."""
        return [record for record in self._records if record["number"] > number]

    def _add(self, kind: str, about: dict[str, object], charge: Charge, duration_ms: float) -> None:
        self._last += 1
        self._records.append(
            {
                "number": self._last,
                "kind": kind,
                **about,
                "finishedAt": time.time_ns() // 1_000_000,
                "durationMs": duration_ms,
                "charge": round(charge.request_units, 2),
                "operations": [_as_json(operation) for operation in charge.operations],
                "operationCount": charge.answers,
            }
        )


def _operation(answer: Any) -> Operation:
    request = answer.request
    container, kind = container_and_kind(request)
    sent_at = vars(request).get("sent_at")
    return Operation(
        kind=_batch(request) if kind == "batch" else kind,
        container=container,
        partition_key=_partition_key(request.headers.get("x-ms-documentdb-partitionkey")),
        status=answer.status_code,
        charge=float(answer.headers.get("x-ms-request-charge") or 0),
        duration_ms=0.0 if sent_at is None else (time.perf_counter() - sent_at) * 1000,
    )


def _batch(request: Any) -> str:
    parts = [str(part["operationType"]).lower() for part in json.loads(request.data)]
    if parts == ["read"]:
        return "point read by the primary"
    return "batch: " + ", ".join(f"{parts.count(part)} {part}" for part in dict.fromkeys(parts))


def _partition_key(header: str | None) -> str | None:
    values = json.loads(header) if header else []
    return str(values[0])[:KEY_LENGTH] if values else None


def _as_json(operation: Operation) -> dict[str, Any]:
    return {
        "kind": operation.kind,
        "container": operation.container,
        "partitionKey": operation.partition_key,
        "status": operation.status,
        "charge": round(operation.charge, 4),
        "durationMs": round(operation.duration_ms, 1),
        "sharers": operation.sharers,
    }
