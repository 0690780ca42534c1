"""Observe the database's responses: charge, partitions, items read, and number of calls.

Sources are `x-ms-request-charge`, `x-ms-cosmos-emulator-partitions`, and query metrics. Items read are
`retrievedDocumentCount`, or `indexHitDocumentCount` if an aggregate loads none. Reads inside scripts are not reported.
Metadata requests are not counted; a query's rejected first attempt and its plan are.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient

from management.account import open_client
from shared.settings import Settings

_ITEMS: Final = re.compile(r"/colls/(?P<container>[^/]+)/(?P<kind>docs|sprocs)(/|$)")
_NOT_MODIFIED: Final = 304
Kind = Literal["change feed", "reads", "writes"]
_COUNTS: Final = re.compile(r"\b(retrievedDocumentCount|indexHitDocumentCount)=(\d+)")


@dataclass
class Observation:
    """Totals of one block. `partitions` are pairs of container and physical partition ID.

    `by_container` has request units, without change feed reads that found nothing. `by_kind` divides them
    further, by container and kind.
    """

    request_units: float = 0.0
    calls: int = 0
    items_read: int = 0
    partitions: set[tuple[str, str]] = field(default_factory=set)
    feed_units: float = 0.0
    by_container: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    by_kind: defaultdict[tuple[str, Kind], float] = field(default_factory=lambda: defaultdict(float))


_current: ContextVar[Observation | None] = ContextVar("observation", default=None)


@contextmanager
def observed() -> Iterator[Observation]:
    """Observe this task's and its child tasks' requests during the block."""
    observation = Observation()
    token = _current.set(observation)
    try:
        yield observation
    finally:
        _current.reset(token)


def observed_client(configuration: Settings) -> AbstractAsyncContextManager[CosmosClient]:
    """Open a client whose responses can be observed."""
    return open_client(
        configuration,
        raw_request_hook=_ask_for_metrics,
        raw_response_hook=_observe,
        user_agent_suffix="blog-bench",
        # Same as the app's.
        transport=AioHttpTransport(use_env_settings=bool(getproxies())),
    )


def _ask_for_metrics(request: Any) -> None:
    if _current.get() is not None:
        request.http_request.headers["x-ms-documentdb-populatequerymetrics"] = "True"


def _observe(response: Any) -> None:
    """`raw_response_hook`, also called for retried attempts."""
    observation = _current.get()
    request, answer = response.http_request, response.http_response
    place = _ITEMS.search(request.url)
    if observation is None or place is None:
        return
    charge = float(answer.headers.get("x-ms-request-charge") or 0)
    observation.calls += 1
    observation.request_units += charge
    if "A-IM" in request.headers:
        observation.feed_units += charge
    if answer.status_code != _NOT_MODIFIED:
        observation.by_container[place["container"]] += charge
        observation.by_kind[place["container"], _kind(request)] += charge
    observation.items_read += _items_read(request, answer)
    for partition in answer.headers.get("x-ms-cosmos-emulator-partitions", "").split(","):
        if partition:
            observation.partitions.add((place["container"], partition))


def _kind(request: Any) -> Kind:
    if "A-IM" in request.headers:
        return "change feed"
    if request.method == "GET" or "x-ms-documentdb-isquery" in request.headers:
        return "reads"
    if "x-ms-cosmos-is-batch-request" in request.headers:
        # Container.read_latest reads with a batch.
        operations = {operation["operationType"] for operation in json.loads(request.body)}
        return "reads" if operations == {"Read"} else "writes"
    return "writes"


def _items_read(request: Any, answer: Any) -> int:
    counts = dict(_COUNTS.findall(answer.headers.get("x-ms-documentdb-query-metrics", "")))
    if counts:
        return max(map(int, counts.values()))
    if request.method == "GET" and answer.status_code == 200:
        return int(answer.headers.get("x-ms-item-count") or 1)
    return 0
