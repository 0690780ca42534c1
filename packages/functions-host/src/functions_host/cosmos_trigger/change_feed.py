"""Reads one feed range, one page per SDK call.

The continuation is the page's etag, as in lease documents. Only the response hook provides it reliably: the SDK's
continuation token wraps the etag, and concurrent calls share the SDK's last-headers property (azure-cosmos
_change_feed/aio).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy

from ..date_texts import parsed
from .binding import Mode, Start
from .lease import FULL_FIDELITY, FeedRange


class PartitionSplitError(Exception):
    """The feed range spans several physical partitions."""


@dataclass(frozen=True)
class FeedPage:
    """Changes in feed order, and the etag to continue from. `is_new` is false after 304."""

    items: list[dict[str, Any]]
    etag: str
    is_new: bool


class FeedReader:
    """Reads one feed range of a container."""

    def __init__(
        self,
        container: ContainerProxy,
        feed_range: FeedRange,
        start: Start,
        page_size: int | None,
        mode: Mode = "LatestVersion",
        *,
        parses_dates: bool = True,
    ) -> None:
        """Create a reader. `start` applies to reads without a continuation."""
        self._container = container
        self._feed_range = feed_range
        self._start = start
        self._mode = mode
        self._parses_dates = parses_dates
        self._limit: dict[str, Any] = {} if page_size is None else {"max_item_count": page_size}

    async def read(self, continuation: str | None) -> FeedPage:
        """Read the page after a continuation. Raises PartitionSplitError, UnparsableChangesError, AzureError."""
        result: dict[str, Any] = {}

        def remember(headers: Mapping[str, str], body: object) -> None:
            result.update(etag=headers["etag"], is_new=body is not None)  # the SDK passes no body for 304

        pager = self._container.query_items_change_feed(
            feed_range={"Range": {**asdict(self._feed_range), "isMinInclusive": True, "isMaxInclusive": False}},
            mode=self._mode,
            response_hook=remember,
            **self._position(continuation),
            **self._limit,
        ).by_page()
        items: list[dict[str, Any]] = []
        async for page in pager:
            items = [item async for item in page]
            break
        await self._refuse_split()
        return FeedPage(parsed(items) if self._parses_dates else items, **result)

    def _position(self, continuation: str | None) -> dict[str, Any]:
        if self._mode == "AllVersionsAndDeletes":
            hook = {} if continuation is None else {"raw_request_hook": _resume(continuation)}
            return {"start_time": "Now", **hook}
        if continuation is not None:
            # With "Beginning", the SDK adds no other condition, so the etag applies.
            return {
                "start_time": "Beginning",
                "etag": continuation,
                "match_condition": MatchConditions.IfModified,
            }
        return {"start_time": self._start if isinstance(self._start, datetime) else self._start.capitalize()}

    async def _refuse_split(self) -> None:
        """Raise PartitionSplitError after a split, which the SDK hides by mixing the child partitions' pages."""
        overlapping = 0
        async for known in self._container.read_feed_ranges():
            bounds = known["Range"]
            overlapping += self._feed_range.overlaps(FeedRange(bounds["min"], bounds["max"]))
        if overlapping > 1:
            raise PartitionSplitError(f"range {self._feed_range} has split into {overlapping} ranges")


def _resume(continuation: str) -> Callable[[Any], None]:
    """Return a hook that reads after a continuation. In this mode, the SDK accepts no etag besides its own token."""

    def set_position(request: Any) -> None:
        headers = request.http_request.headers
        if headers.get("A-IM") == FULL_FIDELITY:  # not the requests for partition key ranges
            headers["If-None-Match"] = continuation

    return set_position
