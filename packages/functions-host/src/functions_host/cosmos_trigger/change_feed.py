"""Reading the change feed of one range, a page at a time, from an etag or a start.

Each read is one call of the SDK for one page. The page's etag, the quoted LSN that lease documents hold, comes from
the response hook: the SDK's own page token wraps it together with the container and the range, and its
last-headers property belongs to whichever concurrent call ended last (azure-cosmos _change_feed/aio).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy

from .binding import Start
from .lease import FeedRange


class PartitionSplitError(Exception):
    """The range is spread over several physical partitions now."""


@dataclass(frozen=True)
class FeedPage:
    """Changes in feed order and the etag to read on from; `is_new` is False for 304 Not Modified."""

    items: list[dict[str, Any]]
    etag: str
    is_new: bool


class FeedReader:
    """Reads one range of a container."""

    def __init__(self, container: ContainerProxy, feed_range: FeedRange, start: Start, page_size: int | None) -> None:
        """`start` applies while there is no continuation; `page_size` None leaves it to the service."""
        self._container = container
        self._feed_range = feed_range
        self._start = start
        self._limit: dict[str, Any] = {} if page_size is None else {"max_item_count": page_size}

    async def read(self, continuation: str | None) -> FeedPage:
        """The next page after the etag `continuation`. Raises PartitionSplitError and what the SDK raises."""
        answer = _Answer()
        pager = self._container.query_items_change_feed(
            feed_range=self._as_sdk_range(),
            response_hook=answer.remember,
            **self._position(continuation),
            **self._limit,
        ).by_page()
        items: list[dict[str, Any]] = []
        async for page in pager:
            items = [item async for item in page]
            break
        await self._refuse_split()
        return FeedPage(items, answer.etag, answer.is_new)

    def _position(self, continuation: str | None) -> dict[str, Any]:
        if continuation is not None:
            # "Beginning" sends no condition of its own, so the etag's is the one that counts.
            return {
                "start_time": "Beginning",
                "etag": continuation,
                "match_condition": MatchConditions.IfModified,
            }
        return {"start_time": self._start if isinstance(self._start, datetime) else self._start.capitalize()}

    def _as_sdk_range(self) -> dict[str, Any]:
        return {
            "Range": {
                "min": self._feed_range.min,
                "max": self._feed_range.max,
                "isMinInclusive": True,
                "isMaxInclusive": False,
            }
        }

    async def _refuse_split(self) -> None:
        """The SDK follows a split by itself, mixing the children's pages; its refreshed range cache tells."""
        overlapping = 0
        async for known in self._container.read_feed_ranges():
            bounds = known["Range"]
            overlapping += self._feed_range.overlaps(FeedRange(bounds["min"], bounds["max"]))
        if overlapping > 1:
            raise PartitionSplitError(f"range {self._feed_range} has split into {overlapping}")


class _Answer:
    """Header and status of the last response to a read."""

    def __init__(self) -> None:
        self.etag = ""
        self.is_new = False

    def remember(self, headers: Mapping[str, str], body: object) -> None:
        """The response hook; the SDK gives no body for 304."""
        self.etag = headers["etag"]
        self.is_new = body is not None
