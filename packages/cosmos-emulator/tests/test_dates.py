"""The `Date` header uses the same clock as `_ts`, so clients can compute ages from the two."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

from azure.cosmos.aio import ContainerProxy
from tests.clock import Clock


async def test_the_date_header_follows_the_emulators_clock(container: ContainerProxy, clock: Clock) -> None:
    clock.advance(86_400)
    dates: list[str] = []

    def remember(headers: Any, _: object) -> None:
        dates.append(headers["date"])

    item = await container.create_item({"id": "a", "pk": "a"}, response_hook=remember)

    [date] = dates
    assert parsedate_to_datetime(date).timestamp() == item["_ts"] == int(clock())
