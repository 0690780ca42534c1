"""The front page as one process serves it: read at most once a second, however many ask.

Everybody is shown the same hundred posts, and they are a copy that follows the posts with a delay anyway. So the page
is read once for all who come within `KEPT_S`, and those who come while it is being read wait for the same reading. When
a reading fails, the page before serves until it is `OLDEST_S` old. One that takes longer than `_HELD_UP_S`, because its
connection is silent, does not hold up the others: another one is begun beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from shared.charges import Charge, add_share, metered
from shared.cosmos import Container
from shared.data.feed import FEED_LENGTH, list_recent_posts
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.base import Item
from shared.retries import REQUEST_DEADLINE_S

KEPT_S = 1.0
OLDEST_S = 2.0
_HELD_UP_S = 1.0


@dataclass(frozen=True)
class Page:
    """The most recent posts, newest first, as they were at `read_at` (of the clock) or later."""

    items: list[Item]
    read_at: float


_Reading = asyncio.Task[tuple[Page, Charge]]


@dataclass
class FrontPage:
    """One process's page of one `feed`, and the readings under way. For one event loop."""

    open_feed: Callable[[], Awaitable[Container]]
    clock: Callable[[], float] = time.monotonic
    readings: set[_Reading] = field(default_factory=set)
    _page: Page = field(default_factory=lambda: Page([], float("-inf")))
    _reading: _Reading | None = None

    async def page(self) -> Page:
        """At most `KEPT_S` old when it is asked for: one query, or none. At most `OLDEST_S` old where that query fails.
        Raises DatabaseThrottled, DatabaseUnavailable."""
        while self._age() >= KEPT_S:
            starts = self._reading is None
            reading = self._reading = self._reading or self._start()
            # One who gives up must not end the reading of the others.
            await asyncio.wait([reading], timeout=_HELD_UP_S)
            if reading.done():
                return self._result(reading, charged=starts)
            if self._reading is reading:
                self._reading = None
        return self._page

    def _result(self, reading: _Reading, *, charged: bool) -> Page:
        try:
            page, charge = reading.result()
        except (DatabaseThrottled, DatabaseUnavailable):
            if self._age() < OLDEST_S:
                return self._page
            raise
        if charged:
            add_share(charge, 1)
        return page

    def _age(self) -> float:
        return self.clock() - self._page.read_at

    def _start(self) -> _Reading:
        reading = asyncio.create_task(self._read())
        self.readings.add(reading)
        reading.add_done_callback(self._ended)
        return reading

    def _ended(self, reading: _Reading) -> None:
        self.readings.discard(reading)
        if self._reading is reading:
            self._reading = None
        if not reading.cancelled():
            reading.exception()  # told to those who still wait; where nobody does, it is no news

    async def _read(self) -> tuple[Page, Charge]:
        try:
            async with asyncio.timeout(REQUEST_DEADLINE_S):
                with metered() as charge:
                    read_at = self.clock()
                    page = Page(await list_recent_posts(await self.open_feed(), limit=FEED_LENGTH), read_at)
        except TimeoutError as error:
            raise DatabaseUnavailable(f"no front page within {REQUEST_DEADLINE_S:.0f} s") from error
        if page.read_at >= self._page.read_at:  # one that took long may come after a later one
            self._page = page
        return self._page, charge
