"""The front page as one process serves it: read at most once a second, however many ask.

Everybody is shown the same hundred posts, and they are a copy that follows the posts with a delay anyway. So the page
is read once for all who come within `KEPT_S`, and those who come while it is being read wait for the same reading. When
a reading fails, the page before serves until it is `OLDEST_S` old.
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

KEPT_S = 1.0
OLDEST_S = 2.0


@dataclass(frozen=True)
class Page:
    """The most recent posts, newest first, as they were at `read_at` (of the clock) or later."""

    items: list[Item]
    read_at: float


@dataclass
class FrontPage:
    """One process's page of one `feed`. For one event loop."""

    open_feed: Callable[[], Awaitable[Container]]
    clock: Callable[[], float] = time.monotonic
    _page: Page = field(default_factory=lambda: Page([], float("-inf")))
    _reading: asyncio.Task[tuple[Page, Charge]] | None = None

    async def page(self) -> Page:
        """At most `KEPT_S` old: one query, or none. At most `OLDEST_S` old where that query fails. Raises
        DatabaseThrottled, DatabaseUnavailable."""
        if self._age() < KEPT_S:
            return self._page
        starts = self._reading is None
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        reading = self._reading
        try:
            # One who gives up must not end the reading of the others.
            page, charge = await asyncio.shield(reading)
        except (DatabaseThrottled, DatabaseUnavailable):
            if self._age() < OLDEST_S:
                return self._page
            raise
        if starts:
            add_share(charge, 1)
        return page

    def _age(self) -> float:
        return self.clock() - self._page.read_at

    async def _read(self) -> tuple[Page, Charge]:
        try:
            with metered() as charge:
                read_at = self.clock()
                self._page = Page(await list_recent_posts(await self.open_feed(), limit=FEED_LENGTH), read_at)
            return self._page, charge
        finally:
            self._reading = None
