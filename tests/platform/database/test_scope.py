"""What a scope gets of the work that runs in another one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from shared.platform.database.scope import current_scope, nested_scope, record_response, request_scope


@dataclass
class Response:
    status_code: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"x-ms-request-charge": "6"})


THROTTLED = Response(429, {"x-ms-retry-after-ms": "5"})


async def test_a_nested_scope_counts_apart_and_then_in_the_scope_around_it() -> None:
    with request_scope("create_post") as outer:
        record_response(Response())
        with nested_scope() as inner:
            inner.session.add("AAAAAIAAAAE=", "0:-1#5")
            await asyncio.create_task(_respond(THROTTLED))
            assert (outer.request_units, outer.responses, outer.throttled) == (6, 1, 0)

    assert (inner.function, inner.responses, inner.throttled) == ("create_post", 1, 1)
    assert (outer.request_units, outer.responses, outer.throttled, outer.retry_after_s) == (6, 2, 1, 0.005)
    assert outer.session.tokens_of("AAAAAIAAAAE=") == "0:-1#5"
    assert current_scope() is None


async def test_a_nested_scope_that_fails_is_counted() -> None:
    def fail() -> None:
        with nested_scope():
            record_response(Response())
            raise ValueError("failed")

    with request_scope() as outer, pytest.raises(ValueError, match="failed"):
        fail()

    assert outer.request_units == 6


def test_work_without_a_response_leaves_the_wait_that_the_last_response_requested() -> None:
    with request_scope() as outer:
        record_response(THROTTLED)
        with nested_scope():
            pass

    assert outer.retry_after_s == 0.005


async def test_a_scope_gets_its_share_of_the_charge_of_shared_work() -> None:
    with request_scope("create_like") as outer:
        with request_scope() as shared:
            record_response(Response())
        assert outer.responses == 0
        outer.add(shared, share=1 / 3)

    assert (outer.request_units, outer.responses) == (2, 1)
    assert shared.function == "create_like"


async def _respond(response: Response) -> None:
    record_response(response)
