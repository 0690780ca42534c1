"""The charges of the ten requests do not depend on when they run."""

from __future__ import annotations

import pytest
from aiohttp import ClientSession

from bench.request_charges import measure
from bench.servers import emulator


async def test_a_request_is_charged_as_in_a_later_second_than_the_last_write_of_its_items() -> None:
    async with emulator(None) as server:
        async with ClientSession(raise_for_status=True) as session:
            await session.patch(f"{server.endpoint}_emulator/clock", json={"frozen": True})
        charges = await measure(server)
    assert charges["C2 edit a post"] == pytest.approx(14.42, abs=0.005)
