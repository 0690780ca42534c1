"""Session tokens sent by clients."""

from __future__ import annotations

import re

import pytest
from azure.core.pipeline import PipelineResponse
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

ITEM = {"id": "a", "pk": "p"}


async def read(raw: RawClient, token: str) -> RawResponse:
    return await raw.read_item("a", {"x-ms-session-token": token})


async def written(container: ContainerProxy) -> tuple[str, int]:
    """Write an item, and return its range ID and LSN."""
    item = await container.create_item(ITEM)
    headers = item.get_response_headers()
    return headers["x-ms-documentdb-partitionkeyrangeid"], int(headers["lsn"])


async def test_a_session_token_up_to_the_current_lsn_is_accepted(raw: RawClient, container: ContainerProxy) -> None:
    range_id, lsn = await written(container)

    for token in (
        f"{range_id}:-1#{lsn}",
        f"{range_id}:1#{lsn}#3={lsn}",
        f"{range_id}:{lsn}",
        f"77:-1#99,{range_id}:-1#1",
    ):
        assert (await read(raw, token)).status == 200


async def test_a_session_token_ahead_of_the_partition_returns_404_1002(
    raw: RawClient, container: ContainerProxy
) -> None:
    range_id, lsn = await written(container)

    response = await read(raw, f"77:-1#99,{range_id}:-1#{lsn + 1}")

    assert (response.status, response.headers["x-ms-substatus"]) == (404, "1002")


async def test_a_response_has_the_number_of_replicas(raw: RawClient, container: ContainerProxy) -> None:
    await written(container)

    response = await raw.read_item("a")

    assert response.headers["x-ms-current-write-quorum"] == "3"
    assert response.headers["x-ms-current-replica-set-size"] == "4"


@pytest.mark.parametrize("token", ["nonsense", "0", "0:-1#", "0:-1#x", ":1#1", "0:-1#1;1:-1#1", "0:-1#" + "9" * 400])
async def test_an_invalid_session_token_is_rejected(raw: RawClient, container: ContainerProxy, token: str) -> None:
    response = await read(raw, token)

    assert response.status == 400
    assert "session token" in response.json["message"]


async def test_the_sdk_reports_an_unavailable_session(container: ContainerProxy) -> None:
    range_id, lsn = await written(container)

    with fails_with(404, 1002):
        await container.read_item("a", "p", session_token=f"{range_id}:-1#{lsn + 1}")
    assert (await container.read_item("a", "p"))["id"] == "a"


async def test_the_session_of_a_deleted_container_does_not_affect_a_new_one_of_that_name(
    emulator: CosmosEmulator, client: CosmosClient, container: ContainerProxy
) -> None:
    database = client.get_database_client("db")
    for _ in range(5):
        await container.upsert_item(ITEM)
    async with CosmosClient(emulator.endpoint, emulator.key) as other:
        await other.get_database_client("db").delete_container("items")
        recreated = await other.get_database_client("db").create_container("items", PartitionKey("/pk"))
        await recreated.create_item({**ITEM, "new": True})

    found = await database.get_container_client("items").read_item("a", "p")
    queried = [item async for item in container.query_items("SELECT * FROM c", partition_key="p")]

    assert found["new"]
    assert [item["new"] for item in queried] == [True]


async def test_a_session_survives_a_restart_of_an_emulator_without_a_data_directory() -> None:
    async with CosmosEmulator() as first, CosmosClient(first.endpoint, first.key) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        token = ""
        for _ in range(5):
            token = (await container.upsert_item(ITEM)).get_response_headers()["x-ms-session-token"]

    async with CosmosEmulator() as second, CosmosClient(second.endpoint, second.key) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        await container.create_item(ITEM)

        assert (await container.read_item("a", "p", session_token=token))["id"] == "a"


async def test_a_refused_write_and_a_missing_item_return_the_session_token(
    raw: RawClient, container: ContainerProxy
) -> None:
    range_id, lsn = await written(container)

    missing = await raw.read_item("missing", {})
    refused = await raw.read_item("a", {"x-ms-session-token": f"{range_id}:-1#{lsn + 1}"})

    assert (missing.status, missing.headers["x-ms-session-token"]) == (404, f"{range_id}:-1#{lsn}")
    assert "x-ms-session-token" not in refused.headers
    seen: list[str] = []
    with fails_with(409):
        await container.create_item(ITEM, raw_response_hook=lambda response: seen.append(_token(response)))
    with fails_with(412):
        await container.patch_item(
            "a",
            "p",
            [{"op": "set", "path": "/n", "value": 1}],
            filter_predicate="FROM c WHERE false",
            raw_response_hook=lambda response: seen.append(_token(response)),
        )
    assert seen[-1] == f"{range_id}:-1#{lsn}"
    assert set(seen) <= {"", f"{range_id}:-1#{lsn}"}


def _token(response: PipelineResponse[object, object]) -> str:
    return str(response.http_response.headers.get("x-ms-session-token", ""))


async def test_a_response_of_several_partitions_has_the_session_token_of_one(
    raw: RawClient, container: ContainerProxy
) -> None:
    response = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER)

    range_id = response.headers["x-ms-documentdb-partitionkeyrangeid"]
    assert re.fullmatch(rf"{range_id}:-1#\d+", response.headers["x-ms-session-token"])
