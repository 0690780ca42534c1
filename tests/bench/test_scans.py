"""The published load has items of the published size, and its requests are accepted."""

from __future__ import annotations

import json

import pytest
from aiohttp import ClientSession
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.measures.scans import item
from bench.signing import signed


@pytest.mark.parametrize("number", [0, 7, 19_999])
def test_an_item_has_a_kibibyte(number: int) -> None:
    assert len(json.dumps(item(number), separators=(",", ":"))) == 1024


def test_half_of_the_items_match_the_query() -> None:
    assert sum(item(number)["amount"] > 500 for number in range(20_000)) == 9_980


@pytest.mark.parametrize(("link", "status"), [("dbs/blog", 404), ("dbs/other", 401)])
async def test_a_signature_is_accepted_for_its_link_only(link: str, status: int) -> None:
    async with CosmosEmulator(EmulatorSettings()) as emulator, ClientSession() as session:
        headers = {"x-ms-version": "2018-12-31", **signed(emulator.key, "GET", "dbs", link)}
        async with session.get(f"{emulator.endpoint}dbs/blog", headers=headers) as answer:
            assert answer.status == status
