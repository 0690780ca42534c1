"""Reads with Strong and BoundedStaleness consistency are charged for two replicas."""

from __future__ import annotations

from typing import get_args

import pytest
from azure.cosmos.aio import ContainerProxy
from cosmos_emulator import CosmosEmulator
from cosmos_emulator.vocabulary.consistency import ConsistencyLevel
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient, RawResponse

IS_QUERY = {"x-ms-documentdb-isquery": "True", "content-type": "application/query+json"}
FEEDS = {
    "feed": ("GET", {}, None),
    "change feed": ("GET", {"A-IM": "Incremental feed"}, None),
    "query": ("POST", IS_QUERY, "SELECT * FROM c WHERE c.n = 1"),
    "aggregate": ("POST", IS_QUERY, "SELECT VALUE COUNT(1) FROM c"),
}
TWO_REPLICAS = {"Strong", "BoundedStaleness"}


async def _read(raw: RawClient, kind: str, headers: dict[str, str]) -> RawResponse:
    if kind == "read":
        return await raw.read_item("a", headers)
    verb, added, query = FEEDS[kind]
    body = {"query": query} if query else None
    sent = {**PARTITION_KEY, **added, **headers}
    return await raw.send(verb, f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=sent)


async def _charge_ru(raw: RawClient, kind: str, level: ConsistencyLevel | None = None) -> float:
    answer = await _read(raw, kind, {} if level is None else {"x-ms-consistency-level": level})
    assert answer.status == 200
    return float(answer.headers["x-ms-request-charge"])


@pytest.mark.parametrize("kind", ["read", *FEEDS])
async def test_a_read_with_two_replicas_costs_twice_as_much(
    emulator: CosmosEmulator, container: ContainerProxy, raw: RawClient, kind: str
) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    session_ru = await _charge_ru(raw, kind)

    for level in get_args(ConsistencyLevel):
        emulator.settings.consistency = level

        replicas = 2 if level in TWO_REPLICAS else 1
        assert await _charge_ru(raw, kind) == pytest.approx(session_ru * replicas, abs=0.015)  # rounded to 0.01
        assert await _charge_ru(raw, kind, "Eventual") == session_ru


@pytest.mark.usefixtures("container")
async def test_a_write_costs_the_same_with_every_level(emulator: CosmosEmulator, raw: RawClient) -> None:
    charges: set[str] = set()
    for number, level in enumerate(get_args(ConsistencyLevel)):
        emulator.settings.consistency = level
        created = await raw.create_item({"id": str(number), "pk": "p"})
        charges.add(created.headers["x-ms-request-charge"])

    assert len(charges) == 1
