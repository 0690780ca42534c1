"""The `Date` of answers: by the emulator's clock, as `_ts` is, so that ages can be told from the two."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

from azure.cosmos.aio import ContainerProxy
from tests.clock import Clock


async def test_an_answer_is_dated_by_the_clock_that_dates_items(container: ContainerProxy, clock: Clock) -> None:
    clock.advance(86_400)
    dates: list[str] = []

    def remember(headers: Any, _: object) -> None:
        dates.append(headers["date"])

    item = await container.create_item({"id": "a", "pk": "a"}, response_hook=remember)

    [date] = dates
    assert parsedate_to_datetime(date).timestamp() == item["_ts"] == int(clock())
