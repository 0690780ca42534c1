"""Lag of the change-feed functions (management/progress.py)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from azure.cosmos.aio import DatabaseProxy

from management.errors import EXPECTED, sentence
from management.progress import measure_progress
from shared.containers import LEASES
from shared.platform.database.container import Container
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED

DEADLINE_S = 10.0

State = Literal["known", "notStarted", "stalled", "unknown"]


@dataclass(frozen=True)
class Lag:
    """The lag of one function.

    `seconds` is the age of the oldest waiting change by the database's clock; `changes` counts waiting transactions.
    `notStarted`: no leases exist. `stalled`: changes wait behind a lease whose owner is gone. `unknown`: see `problem`.
    """

    function: str
    state: State
    seconds: int | None = None
    changes: int | None = None
    problem: str = ""

    @property
    def advice(self) -> str:
        """What to do if no host handles the changes."""
        reset = f"If it runs, stop all hosts, run `manage.py leases reset {self.function}`, and start the app."
        if self.state == "notStarted" and self.changes:
            return f"The function has never run, or its leases were deleted. Start the app. {reset}"
        return f"No host renews a lease. Start the app. {reset}" if self.state == "stalled" else ""

    def is_fine(self, most_s: float | None) -> bool:
        """Return whether somebody handles the changes, and none has waited for more than `most_s` seconds."""
        if self.state == "notStarted":
            return self.changes == 0
        return self.state == "known" and (most_s is None or (self.seconds or 0) <= most_s)


async def measure_lags(
    database: DatabaseProxy, *, account_endpoint: str, deadline_s: float = DEADLINE_S
) -> dict[str, Lag]:
    """Measure all functions concurrently. If a measurement fails, the lag is unknown."""
    host = urlsplit(account_endpoint).hostname or ""
    feeds = (USERS_CHANGE_FEED, POSTS_CHANGE_FEED)
    lags = await asyncio.gather(*(_lag(database, feed, host, deadline_s) for feed in feeds))
    return {lag.function: lag for lag in lags}


async def _lag(database: DatabaseProxy, feed: ChangeFeed, host: str, deadline_s: float) -> Lag:
    try:
        async with asyncio.timeout(deadline_s):
            return await _measured(database, feed, host)
    except TimeoutError:
        problem = f"The database did not answer within {deadline_s:g} s."
    except EXPECTED as error:
        problem = sentence(error, None)
    return Lag(feed.function, "unknown", problem=problem)


async def _measured(database: DatabaseProxy, feed: ChangeFeed, host: str) -> Lag:
    watched, leases = (Container(database.get_container_client(name)) for name in (feed.container, LEASES))
    progress = await measure_progress(feed, watched, leases, host)
    state: State = "stalled" if progress.is_stalled else "known" if progress.has_leases else "notStarted"
    return Lag(feed.function, state, seconds=progress.seconds, changes=progress.changes)
