"""Deadlines, and the different errors for a throttled and an unresponsive database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from shared.platform.database.scope import deadline, record_response, request_scope
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable


@dataclass
class Response:
    status_code: int
    headers: dict[str, str] = field(default_factory=dict)


THROTTLED = Response(429, {"x-ms-retry-after-ms": "60000"})


async def _time_out_after(*responses: Response) -> None:
    with request_scope():
        async with deadline(0.02):
            for response in responses:
                record_response(response)
            await asyncio.Event().wait()


async def test_a_throttled_block_raises_the_last_retry_after() -> None:
    with pytest.raises(DatabaseThrottled) as raised:
        await _time_out_after(Response(429, {"x-ms-retry-after-ms": "5"}), THROTTLED)

    assert raised.value.retry_after_s == 60


@pytest.mark.parametrize("responses", [[], [Response(200)], [THROTTLED, Response(200)], [THROTTLED, Response(503)]])
async def test_a_block_that_is_not_throttled_raises_unavailable(responses: list[Response]) -> None:
    with pytest.raises(DatabaseUnavailable) as raised:
        await _time_out_after(*responses)

    assert raised.value.reason == "no answer within 0.02 s"


async def test_throttling_in_a_task_started_by_the_block_counts() -> None:
    async def throttled() -> None:
        record_response(THROTTLED)
        await asyncio.Event().wait()

    with pytest.raises(DatabaseThrottled), request_scope():
        async with deadline(0.02):
            await asyncio.create_task(throttled())


async def test_throttled_shared_work_throttles_its_waiters() -> None:
    with request_scope() as shared:
        record_response(THROTTLED)

    async def waiter() -> None:
        with request_scope() as scope:
            async with deadline(0.02):
                try:
                    await asyncio.Event().wait()
                finally:
                    scope.add(shared, share=1 / 2)

    with pytest.raises(DatabaseThrottled):
        await waiter()


async def test_another_timeout_in_the_block_passes_through() -> None:
    with pytest.raises(TimeoutError, match="another"):
        async with deadline(5):
            raise TimeoutError("another")
