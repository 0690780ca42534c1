"""Transactional batches, and the JavaScript SDK's bulk requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

PATH = f"/{CONTAINER}/docs"


async def test_operations_see_earlier_writes_and_return_results_in_order(container: ContainerProxy) -> None:
    await container.create_item({"id": "existing", "pk": "p"})

    results = await container.execute_item_batch(
        [
            ("create", ({"id": "a", "pk": "p", "n": 1},)),
            ("upsert", ({"id": "existing", "pk": "p", "n": 2},)),
            ("replace", ("a", {"id": "a", "pk": "p", "n": 3})),
            ("patch", ("a", [{"op": "incr", "path": "/n", "value": 1}]), {"filter_predicate": "from c where c.n = 3"}),
            ("read", ("a",)),
            ("delete", ("existing",)),
        ],
        "p",
    )

    assert [result["statusCode"] for result in results] == [201, 200, 200, 200, 200, 204]
    assert [result["resourceBody"]["n"] for result in results[:5]] == [1, 2, 3, 4, 4]
    assert all(result["eTag"] == result["resourceBody"]["_etag"] for result in results[:5])
    assert all(result["requestCharge"] > 0 for result in results)
    assert [item["id"] async for item in container.read_all_items()] == ["a"]


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (("create", ({"id": "existing", "pk": "p"},)), 409),
        (("create", ({"id": "b", "pk": "other"},)), 400),
        (("read", ("none",)), 404),
        (("replace", ("existing", {"id": "existing", "pk": "p"}), {"if_match_etag": '"stale"'}), 412),
        (("patch", ("existing", [{"op": "remove", "path": "/none"}])), 400),
        (
            (
                "patch",
                ("existing", [{"op": "set", "path": "/n", "value": 1}]),
                {"filter_predicate": "from c where c.n = 1"},
            ),
            412,
        ),
    ],
)
async def test_one_failure_rolls_back_the_batch_and_fails_the_others_with_424(
    container: ContainerProxy, operation: Any, status: int
) -> None:
    await container.create_item({"id": "existing", "pk": "p"})

    with pytest.raises(CosmosBatchOperationError) as caught:
        await container.execute_item_batch(
            [("create", ({"id": "a", "pk": "p"},)), operation, ("delete", ("existing",))], "p"
        )

    assert caught.value.error_index == 1
    assert [result["statusCode"] for result in caught.value.operation_responses] == [424, status, 424]
    assert [item["id"] async for item in container.read_all_items()] == ["existing"]


async def test_a_failed_batch_returns_207_and_adds_nothing_to_the_change_feed(
    raw: RawClient, container: ContainerProxy
) -> None:
    operations = [
        {"operationType": "Create", "resourceBody": {"id": "a", "pk": "p"}},
        {"operationType": "Read", "id": "none"},
    ]
    headers = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["p"]'}

    response = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=operations, headers=headers)

    assert (response.status, [result["statusCode"] for result in response.json]) == (207, [424, 404])
    assert [item async for item in container.query_items_change_feed(start_time="Beginning")] == []


async def test_a_batch_needs_1_to_100_operations(container: ContainerProxy) -> None:
    create = ("create", ({"id": "a", "pk": "p"},))

    with fails_with(400, match="Batch request has no operations"):
        await container.execute_item_batch([], "p")
    with fails_with(400, match="Batch request has more operations than what is supported"):
        await container.execute_item_batch([create] * 101, "p")


@pytest.mark.parametrize("partition_key", ["p", '["q"]', '["p", "q"]', "[{}]"])
async def test_an_operation_of_a_transactional_batch_has_the_key_of_its_request(
    raw: RawClient, container: ContainerProxy, partition_key: str
) -> None:
    operation = {"operationType": "Upsert", "resourceBody": {"id": "a", "pk": "p"}}

    refused = await send(raw, operation, {**operation, "partitionKey": partition_key})
    accepted = await send(raw, operation, {**operation, "partitionKey": '[ "p" ]'})

    assert refused.status == 400
    assert "One or more operations within the batch request have a different partition key value" in refused.text
    assert (accepted.status, len(accepted.json)) == (200, 2)


@pytest.mark.filterwarnings("ignore:Sending a large body")
async def test_a_batch_over_2_mb_is_rejected(container: ContainerProxy) -> None:
    operations = [("create", ({"id": str(n), "pk": "p", "text": "x" * 1_100_000},)) for n in range(2)]

    with fails_with(413, match="RequestEntityTooLarge"):
        await container.execute_item_batch(operations, "p")


async def test_bulk_operations_succeed_or_fail_independently(raw: RawClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "existing", "pk": "p"})
    operations = [
        {"operationType": "Create", "resourceBody": {"id": "existing", "pk": "p"}, "partitionKey": '["p"]'},
        {"operationType": "Create", "resourceBody": {"id": "new", "pk": "q"}, "partitionKey": '["q"]'},
        {"operationType": "Read", "id": "existing", "partitionKey": '["p"]'},
    ]
    headers = {
        "x-ms-cosmos-is-batch-request": "true",
        "x-ms-cosmos-batch-atomic": "false",
        "x-ms-cosmos-batch-continue-on-error": "true",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }

    response = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=operations, headers=headers)

    assert [result["statusCode"] for result in response.json] == [409, 201, 200]
    assert (await container.read_item("new", "q"))["id"] == "new"
    read = await raw.read_item("existing")
    assert (
        response.headers["x-ms-session-token"] == read.headers["x-ms-session-token"]
    )  # of the partition that was used


async def send(raw: RawClient, *operations: Any, headers: dict[str, str] | None = None) -> RawResponse:
    sent = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["p"]', **(headers or {})}
    return await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=list(operations), headers=sent)


async def test_a_read_of_an_unchanged_item_makes_the_batch_207_and_commits_it(
    raw: RawClient, container: ContainerProxy
) -> None:
    etag = (await container.create_item({"id": "a", "pk": "p"}))["_etag"]
    create = {"operationType": "Create", "resourceBody": {"id": "b", "pk": "p"}}

    response = await send(raw, create, {"operationType": "Read", "id": "a", "ifMatch": etag})

    assert (response.status, [result["statusCode"] for result in response.json]) == (207, [201, 304])
    assert sorted([item["id"] async for item in container.read_all_items()]) == ["a", "b"]


async def test_only_a_batch_with_a_read_needs_the_clients_session(raw: RawClient, container: ContainerProxy) -> None:
    written = await raw.create_item({"id": "a", "pk": "p"})
    range_id, lsn = written.headers["x-ms-documentdb-partitionkeyrangeid"], int(written.headers["lsn"])
    ahead = {"x-ms-session-token": f"{range_id}:-1#{lsn + 2000}"}

    writes = await send(raw, {"operationType": "Upsert", "resourceBody": {"id": "a", "pk": "p"}}, headers=ahead)
    reads = await send(raw, {"operationType": "Read", "id": "a"}, headers=ahead)

    assert writes.status == 200
    assert (reads.status, reads.headers["x-ms-substatus"]) == (404, "1002")


@pytest.mark.filterwarnings("ignore:Sending a large body")
async def test_a_batch_whose_response_is_over_10_mb_fails_with_413(raw: RawClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p", "text": "x" * 2**20})

    response = await send(raw, *[{"operationType": "Read", "id": "a"}] * 10)

    assert [result["statusCode"] for result in response.json] == [424] * 9 + [413]


async def test_a_404_has_the_session_token_but_not_the_owners_rid(raw: RawClient, container: ContainerProxy) -> None:
    batch = await send(raw, {"operationType": "Read", "id": "none"})
    read = await raw.read_item("none")

    for response in (batch, read):
        assert response.headers["x-ms-session-token"]
        assert "x-ms-content-path" not in response.headers


async def test_a_failed_batch_has_the_charge_of_the_failed_operation(raw: RawClient, container: ContainerProxy) -> None:
    create = {"operationType": "Create", "resourceBody": {"id": "a", "pk": "other"}}

    response = await send(raw, create)

    assert response.json[0]["statusCode"] == 400
    assert float(response.headers["x-ms-request-charge"]) == response.json[0]["requestCharge"] > 0


@pytest.mark.parametrize(
    "entry", [5, {"operationType": "Create"}, {"operationType": "Read"}, {"operationType": "Query", "id": "a"}]
)
async def test_an_invalid_operation_is_rejected(raw: RawClient, container: ContainerProxy, entry: Any) -> None:
    headers = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["p"]'}

    response = await raw.send("POST", PATH, kind="docs", link=CONTAINER, body=[entry], headers=headers)

    assert response.status == 400, json.dumps(entry)
