"""What the database says of its answers: charge, partitions, items read; and how many answers there were.

Sources, on the emulator as on the service: `x-ms-request-charge`; `x-ms-session-token`, which names the physical
partition of every answer about items; the query metrics, which are asked for while somebody observes: there
`retrievedDocumentCount` is what the service's index let through, and on the emulator, which has fewer indexes and says
so, `indexHitDocumentCount`. What a script reads inside is told by no header. Requests for metadata (account,
containers, ranges), which a process makes once, are not counted; a query's refused first attempt and its plan are.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient

from shared.settings import Settings

_ITEMS: Final = re.compile(r"/colls/(?P<container>[^/]+)/(?P<kind>docs|sprocs)(/|$)")
_COUNTS: Final = re.compile(r"\b(retrievedDocumentCount|indexHitDocumentCount)=(\d+)")
# A bulk load waits for a throttled account, and a measurement must not fail of it.
_THROTTLE_RETRIES: Final = 1000
_THROTTLE_WAIT_S: Final = 3600


@dataclass
class Observation:
    """Everything that was answered inside one block. `partitions` are physical ones, by container and id."""

    request_units: float = 0.0
    calls: int = 0
    items_read: int = 0
    partitions: set[tuple[str, str]] = field(default_factory=set)
    feed_units: float = 0.0
    feed_calls: int = 0


_current: ContextVar[Observation | None] = ContextVar("observation", default=None)


@contextmanager
def observed() -> Iterator[Observation]:
    """Observe what this task, and those it starts, ask inside the block."""
    observation = Observation()
    token = _current.set(observation)
    try:
        yield observation
    finally:
        _current.reset(token)


@asynccontextmanager
async def observed_client(configuration: Settings) -> AsyncIterator[CosmosClient]:
    """A client whose answers can be observed, by key or with the identity of the process."""
    credential: Any = configuration.account_key or _identity()
    async with AsyncExitStack() as stack:
        if not isinstance(credential, str):
            stack.push_async_callback(credential.close)
        client = CosmosClient(
            configuration.account_endpoint,
            credential,
            raw_request_hook=_ask_for_metrics,
            raw_response_hook=_observe,
            retry_throttle_total=_THROTTLE_RETRIES,
            retry_throttle_backoff_max=_THROTTLE_WAIT_S,
            user_agent_suffix="blog-bench",
            # As the app's (shared/cosmos.py).
            transport=AioHttpTransport(use_env_settings=bool(getproxies())),
        )
        yield await stack.enter_async_context(client)


def _identity() -> Any:
    # Imported only where no key is given: it is slow to import.
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential()


def _ask_for_metrics(request: Any) -> None:
    """The client's `raw_request_hook`."""
    if _current.get() is not None:
        request.http_request.headers["x-ms-documentdb-populatequerymetrics"] = "True"


def _observe(response: Any) -> None:
    """The client's `raw_response_hook`, called for every answer, also of attempts that are repeated."""
    observation = _current.get()
    request, answer = response.http_request, response.http_response
    place = _ITEMS.search(request.url)
    if observation is None or place is None:
        return
    charge = float(answer.headers.get("x-ms-request-charge") or 0)
    observation.calls += 1
    observation.request_units += charge
    if "A-IM" in request.headers:
        observation.feed_calls += 1
        observation.feed_units += charge
    observation.items_read += _items_read(request, answer)
    for token in answer.headers.get("x-ms-session-token", "").split(","):
        if token:
            observation.partitions.add((place["container"], token.partition(":")[0]))


def _items_read(request: Any, answer: Any) -> int:
    counts = dict(_COUNTS.findall(answer.headers.get("x-ms-documentdb-query-metrics", "")))
    if counts:
        return int(counts.get("indexHitDocumentCount") or counts["retrievedDocumentCount"])
    if request.method == "GET" and answer.status_code == 200:
        return int(answer.headers.get("x-ms-item-count") or 1)
    return 0
