"""Batches and bulk of the .NET SDK: requests that it sent, and responses that its own encoder wrote."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.hybrid_row import OPERATION, RESULT, decode, encode, parse_operations
from tests.raw_client import CONTAINER, RawClient, RawResponse

VECTORS = json.loads((Path(__file__).parent / "vectors/dotnet-batch.json").read_text(encoding="utf-8"))
REQUESTS = {vector["name"]: vector for vector in VECTORS["requests"]}
KINDS = {"Create": 0, "Patch": 1, "Read": 2, "Delete": 4, "Replace": 5, "Upsert": 20}


def body_of(vector: dict[str, Any]) -> bytes:
    return base64.b64decode(vector["body"])


def encoded(*operations: dict[str, Any]) -> bytes:
    """Encode operations as the SDK does; `kind` is the operation's name, `body` its JSON."""
    rows = []
    for operation in operations:
        row = {"operationType": KINDS[operation.pop("kind")], "resourceType": 2}
        body = {"resourceBody": json.dumps(operation.pop("body"))} if "body" in operation else {}
        rows.append({**row, **operation, **body})
    return encode(OPERATION, rows)


async def send(raw: RawClient, body: bytes, headers: dict[str, str]) -> tuple[RawResponse, list[dict[str, Any]]]:
    """Send a batch; return the response and its results."""
    sent = {"x-ms-cosmos-is-batch-request": "True", "x-ms-version": "2020-07-15", **headers}
    response = await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, data=body, headers=sent)
    binary = response.content.startswith(b"\x81")
    return response, list(decode(RESULT, response.content)) if binary else []


def bulk(range_id: str = "0") -> dict[str, str]:
    return {
        "x-ms-cosmos-batch-atomic": "False",
        "x-ms-cosmos-batch-continue-on-error": "True",
        "x-ms-documentdb-partitionkeyrangeid": range_id,
    }


def atomic(key: str = '["p"]') -> dict[str, str]:
    return {
        "x-ms-cosmos-batch-atomic": "True",
        "x-ms-cosmos-batch-ordered": "True",
        "x-ms-documentdb-partitionkey": key,
    }


@pytest.fixture
def partitions() -> int:
    return 1


@pytest.mark.parametrize("vector", VECTORS["requests"], ids=lambda vector: vector["name"])
def test_each_request_of_the_sdk_is_decoded_and_encoded_to_the_same_bytes(vector: dict[str, Any]) -> None:
    rows = list(decode(OPERATION, body_of(vector)))

    assert rows == vector["operations"]
    assert encode(OPERATION, rows) == body_of(vector)


@pytest.mark.parametrize("vector", VECTORS["responses"], ids=lambda vector: vector["name"])
def test_each_result_is_encoded_to_the_bytes_of_the_sdks_encoder(vector: dict[str, Any]) -> None:
    assert encode(RESULT, vector["results"]) == body_of(vector)
    assert list(decode(RESULT, body_of(vector))) == vector["results"]


@pytest.mark.parametrize("vector", VECTORS["requests"], ids=lambda vector: vector["name"])
async def test_each_request_of_the_sdk_gets_a_result_for_every_operation(
    raw: RawClient, database: DatabaseProxy, vector: dict[str, Any]
) -> None:
    paths = {"hierarchical key": ["/t", "/u"]}.get(vector["name"], ["/pk"])
    kind = "MultiHash" if len(paths) > 1 else "Hash"
    await database.create_container("items", PartitionKey(paths if len(paths) > 1 else paths[0], kind=kind))
    headers = {name: value for name, value in vector["headers"].items() if name != "x-ms-session-token"}

    response, results = await send(raw, body_of(vector), headers)

    has_failed = any(result["statusCode"] >= 400 for result in results)
    assert response.status == (207 if has_failed else 200), response.text
    assert len(results) == len(vector["operations"])
    assert response.headers["content-type"] == "application/octet-stream"


async def test_the_operations_of_a_batch_see_earlier_ones(raw: RawClient, container: ContainerProxy) -> None:
    body = encoded(
        {"kind": "Create", "body": {"id": "a", "pk": "p", "n": 1}},
        {"kind": "Upsert", "body": {"id": "b", "pk": "p", "n": 2}},
        {"kind": "Read", "id": "a"},
        {"kind": "Replace", "id": "a", "body": {"id": "a", "pk": "p", "n": 3}},
        {"kind": "Patch", "id": "b", "body": {"operations": [{"op": "incr", "path": "/n", "value": 10}]}},
        {"kind": "Delete", "id": "b"},
    )

    response, results = await send(raw, body, atomic())

    assert response.status == 200, response.text
    assert [result["statusCode"] for result in results] == [201, 201, 200, 200, 200, 204]
    stored = [json.loads(result["resourceBody"]) for result in results[:5]]
    assert [item["n"] for item in stored] == [1, 2, 1, 3, 12]
    assert [result["eTag"] for result in results[:5]] == [item["_etag"] for item in stored]
    assert all(result["requestCharge"] > 0 and result["retryAfterMilliseconds"] == 0 for result in results)
    assert [item["id"] async for item in container.read_all_items()] == ["a"]


async def test_a_failed_operation_rolls_the_batch_back(raw: RawClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "existing", "pk": "p"})
    create = [{"kind": "Create", "body": {"id": item_id, "pk": "p"}} for item_id in ("a", "existing", "b")]

    response, results = await send(raw, encoded(*create), atomic())

    assert (response.status, [result["statusCode"] for result in results]) == (207, [424, 409, 424])
    assert [item["id"] async for item in container.read_all_items()] == ["existing"]


async def test_conditions_and_minimal_responses_apply_to_their_operation(
    raw: RawClient, container: ContainerProxy
) -> None:
    body = encoded(
        {"kind": "Create", "body": {"id": "a", "pk": "p"}, "partitionKey": '["p"]', "minimalReturnPreference": True},
        {"kind": "Delete", "id": "a", "partitionKey": '["p"]', "ifMatch": '"stale"'},
        {"kind": "Read", "id": "a", "partitionKey": '["p"]'},
        {"kind": "Read", "id": "none", "partitionKey": '["p"]'},
    )

    response, results = await send(raw, body, bulk())

    assert (response.status, [result["statusCode"] for result in results]) == (207, [201, 412, 200, 404])
    assert ["resourceBody" in result for result in results] == [False, False, True, False]
    assert results[0]["eTag"] == results[2]["eTag"]


async def test_bulk_for_a_range_that_was_split_changes_nothing(raw: RawClient, container: ContainerProxy) -> None:
    await container.replace_throughput(20_000)  # needs two physical partitions
    create = encoded({"kind": "Create", "body": {"id": "a", "pk": "p"}, "partitionKey": '["p"]'})

    response, _ = await send(raw, create, bulk("0"))

    assert (response.status, response.headers["x-ms-substatus"]) == (410, "1002")
    assert [item async for item in container.read_all_items()] == []


async def test_bulk_returns_only_the_session_tokens_of_the_ranges_that_it_used(
    raw: RawClient, container: ContainerProxy
) -> None:
    await container.replace_throughput(20_000)
    ranges = (await raw.send("GET", f"/{CONTAINER}/pkranges", kind="pkranges", link=CONTAINER)).json
    found = set()
    for one in ranges["PartitionKeyRanges"]:
        for number in range(8):
            key = f'["{number}"]'
            created = encoded({"kind": "Upsert", "body": {"id": "a", "pk": str(number)}, "partitionKey": key})
            response, _ = await send(raw, created, bulk(one["id"]))
            found.add(response.headers["x-ms-session-token"].split(":")[0])
            assert "," not in response.headers["x-ms-session-token"]

    assert found == {one["id"] for one in ranges["PartitionKeyRanges"]}


def record(row: bytes, *, crc: int | None = None, length: int | None = None, schema: int = 2147473649) -> bytes:
    checksum = zlib.crc32(row) if crc is None else crc
    return struct.pack("<ciiI", b"\x81", schema, len(row) if length is None else length, checksum) + row


SEGMENT = body_of(REQUESTS["one create"])[:10]
ROW = body_of(REQUESTS["one create"])[23:]
FIXED = ROW[:5] + b"\x03" + ROW[6:14]  # an operation without variable columns


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"\x81", "segment header"),
        (SEGMENT[:-1] + b"\x0b" + record(ROW), "segment header"),
        (SEGMENT + record(ROW) + record(ROW)[:9], "Record 2 .* incomplete"),
        (SEGMENT + record(ROW, length=len(ROW) + 1), "Record 1 .* incomplete"),
        (SEGMENT + record(ROW, length=-1), "Record 1 .* incomplete"),
        (SEGMENT + record(ROW, crc=0), "Record 1 .* CRC-32"),
        (SEGMENT + record(ROW, schema=2147473648), "Record 1 .* header"),
        (SEGMENT + record(b""), "Record 1 .* incomplete"),
        (SEGMENT + record(ROW) + record(b"\x81\x71" + ROW[2:]), "Record 2 .* schema"),
        (SEGMENT + record(ROW[:5] + b"\x80" + ROW[6:]), "Record 1 .* schema"),
        (SEGMENT + record(FIXED + b"\x14\x07\x00"), "Record 1 .* token 7"),
        (SEGMENT + record(FIXED + b"\x14\x0d\x00"), "Record 1 .* token 13"),
        (SEGMENT + record(FIXED + b"\x15\x09\x00"), "Record 1 .* type code 21"),
        (SEGMENT + record(FIXED + b"\x14\x09\x01\xff"), "Record 1 .*: .utf-8"),
        (SEGMENT + record(FIXED + b"\x14\x09" + b"\xff" * 4), "Record 1 .* incomplete"),
        (SEGMENT + record(FIXED + b"\x14\x09" + b"\xff" * 1_000_000), "Record 1 .* 32 bits"),
        (encoded({"kind": "Read", "id": "a", "binaryId": "a"}), "Record 1 .* binaryId"),
        (encode(OPERATION, [{"operationType": 3, "resourceType": 2}]), "Record 1 .* operation on an item"),
        (encode(OPERATION, [{"operationType": 2, "resourceType": 1}]), "Record 1 .* operation on an item"),
    ],
)
def test_a_malformed_batch_is_rejected_with_the_number_of_its_record(body: bytes, problem: str) -> None:
    with pytest.raises(CosmosError, match=problem) as caught:
        parse_operations(body)
    assert caught.value.status == 400


async def test_a_malformed_record_changes_nothing(raw: RawClient, container: ContainerProxy) -> None:
    response, _ = await send(raw, body_of(REQUESTS["every operation"])[:-1], atomic())

    assert response.status == 400
    assert "Record 6" in response.json["message"]
    assert [item async for item in container.read_all_items()] == []
