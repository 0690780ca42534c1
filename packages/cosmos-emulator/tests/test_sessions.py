"""Session tokens that a client sends."""

from __future__ import annotations

import pytest
from azure.cosmos.aio import ContainerProxy
from tests.raw_client import RawAnswer, RawClient
from tests.refusals import refused

ITEM = {"id": "a", "pk": "p"}
LINK = "dbs/db/colls/items"


async def read(raw: RawClient, token: str) -> RawAnswer:
    headers = {"x-ms-documentdb-partitionkey": '["p"]', "x-ms-session-token": token}
    return await raw.send("GET", f"/{LINK}/docs/a", kind="docs", link=f"{LINK}/docs/a", headers=headers)


async def written(container: ContainerProxy) -> tuple[str, int]:
    """The range and the LSN of a write."""
    item = await container.create_item(ITEM)
    headers = item.get_response_headers()
    return headers["x-ms-documentdb-partitionkeyrangeid"], int(headers["lsn"])


async def test_a_session_that_has_seen_as_much_as_the_partition_is_served(
    raw: RawClient, container: ContainerProxy
) -> None:
    range_id, lsn = await written(container)

    for token in (
        f"{range_id}:-1#{lsn}",
        f"{range_id}:1#{lsn}#3={lsn}",
        f"{range_id}:{lsn}",
        f"77:-1#99,{range_id}:-1#1",
    ):
        assert (await read(raw, token)).status == 200


async def test_a_session_that_has_seen_more_than_the_partition_is_refused(
    raw: RawClient, container: ContainerProxy
) -> None:
    range_id, lsn = await written(container)

    answer = await read(raw, f"77:-1#99,{range_id}:-1#{lsn + 1}")

    assert (answer.status, answer.headers["x-ms-substatus"]) == (404, "1002")


@pytest.mark.parametrize("token", ["nonsense", "0", "0:-1#", "0:-1#x", ":1#1", "0:-1#1;1:-1#1", "0:-1#" + "9" * 400])
async def test_a_token_that_is_none_is_refused(raw: RawClient, container: ContainerProxy, token: str) -> None:
    answer = await read(raw, token)

    assert answer.status == 400
    assert "session token" in answer.json["message"]


async def test_the_sdk_reports_a_session_that_is_not_available(container: ContainerProxy) -> None:
    range_id, lsn = await written(container)

    with refused(404, 1002):
        await container.read_item("a", "p", session_token=f"{range_id}:-1#{lsn + 1}")
    assert (await container.read_item("a", "p"))["id"] == "a"
