"""Transactional batches, and the bulk form of the JavaScript SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError
from tests.raw_client import RawClient
from tests.refusals import refused

PATH, LINK = "/dbs/db/colls/items/docs", "dbs/db/colls/items"


async def test_six_kinds_of_operations_see_one_another_and_answer_in_order(container: ContainerProxy) -> None:
    await container.create_item({"id": "there", "pk": "p"})

    results = await container.execute_item_batch(
        [
            ("create", ({"id": "a", "pk": "p", "n": 1},)),
            ("upsert", ({"id": "there", "pk": "p", "n": 2},)),
            ("replace", ("a", {"id": "a", "pk": "p", "n": 3})),
            ("patch", ("a", [{"op": "incr", "path": "/n", "value": 1}]), {"filter_predicate": "from c where c.n = 3"}),
            ("read", ("a",)),
            ("delete", ("there",)),
        ],
        "p",
    )

    assert [one["statusCode"] for one in results] == [201, 200, 200, 200, 200, 204]
    assert [one["resourceBody"]["n"] for one in results[:5]] == [1, 2, 3, 4, 4]
    assert all(one["eTag"] == one["resourceBody"]["_etag"] for one in results[:5])
    assert all(one["requestCharge"] > 0 for one in results)
    assert [item["id"] async for item in container.read_all_items()] == ["a"]


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (("create", ({"id": "there", "pk": "p"},)), 409),
        (("create", ({"id": "b", "pk": "other"},)), 400),
        (("read", ("none",)), 404),
        (("replace", ("there", {"id": "there", "pk": "p"}), {"if_match_etag": '"stale"'}), 412),
        (("patch", ("there", [{"op": "remove", "path": "/none"}])), 400),
        (
            (
                "patch",
                ("there", [{"op": "set", "path": "/n", "value": 1}]),
                {"filter_predicate": "from c where c.n = 1"},
            ),
            412,
        ),
    ],
)
async def test_one_failure_undoes_everything_and_the_others_depend_on_it(
    container: ContainerProxy, operation: Any, status: int
) -> None:
    await container.create_item({"id": "there", "pk": "p"})

    with pytest.raises(CosmosBatchOperationError) as caught:
        await container.execute_item_batch(
            [("create", ({"id": "a", "pk": "p"},)), operation, ("delete", ("there",))], "p"
        )

    assert caught.value.error_index == 1
    assert [one["statusCode"] for one in caught.value.operation_responses] == [424, status, 424]
    assert [item["id"] async for item in container.read_all_items()] == ["there"]


async def test_a_failed_batch_answers_207_and_leaves_no_change_feed_entry(
    raw: RawClient, container: ContainerProxy
) -> None:
    operations = [
        {"operationType": "Create", "resourceBody": {"id": "a", "pk": "p"}},
        {"operationType": "Read", "id": "none"},
    ]
    headers = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["p"]'}

    answer = await raw.send("POST", PATH, kind="docs", link=LINK, body=operations, headers=headers)

    assert (answer.status, [one["statusCode"] for one in answer.json]) == (207, [424, 404])
    assert [one async for one in container.query_items_change_feed(start_time="Beginning")] == []


async def test_none_and_too_many_operations_are_refused(container: ContainerProxy) -> None:
    create = ("create", ({"id": "a", "pk": "p"},))

    with refused(400, match="Batch request has no operations"):
        await container.execute_item_batch([], "p")
    with refused(400, match="Batch request has more operations than what is supported"):
        await container.execute_item_batch([create] * 101, "p")


@pytest.mark.filterwarnings("ignore:Sending a large body")
async def test_a_batch_over_2_mb_is_refused(container: ContainerProxy) -> None:
    operations = [("create", ({"id": str(n), "pk": "p", "text": "x" * 1_100_000},)) for n in range(2)]

    with refused(413, match="RequestEntityTooLarge"):
        await container.execute_item_batch(operations, "p")


async def test_bulk_operations_stand_for_themselves(raw: RawClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "there", "pk": "p"})
    operations = [
        {"operationType": "Create", "resourceBody": {"id": "there", "pk": "p"}, "partitionKey": '["p"]'},
        {"operationType": "Create", "resourceBody": {"id": "new", "pk": "q"}, "partitionKey": '["q"]'},
        {"operationType": "Read", "id": "there", "partitionKey": '["p"]'},
    ]
    headers = {
        "x-ms-cosmos-is-batch-request": "true",
        "x-ms-cosmos-batch-atomic": "false",
        "x-ms-cosmos-batch-continue-on-error": "true",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }

    answer = await raw.send("POST", PATH, kind="docs", link=LINK, body=operations, headers=headers)

    assert [one["statusCode"] for one in answer.json] == [409, 201, 200]
    assert (await container.read_item("new", "q"))["id"] == "new"


@pytest.mark.parametrize(
    "entry", [5, {"operationType": "Create"}, {"operationType": "Read"}, {"operationType": "Query", "id": "a"}]
)
async def test_an_entry_that_is_no_operation_is_refused(raw: RawClient, container: ContainerProxy, entry: Any) -> None:
    headers = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["p"]'}

    answer = await raw.send("POST", PATH, kind="docs", link=LINK, body=[entry], headers=headers)

    assert answer.status == 400, json.dumps(entry)
