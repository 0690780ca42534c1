"""Session tokens sent by clients."""

from __future__ import annotations

import pytest
from azure.cosmos.aio import ContainerProxy
from tests.errors import fails_with
from tests.raw_client import RawClient, RawResponse

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
