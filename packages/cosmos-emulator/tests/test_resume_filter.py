"""`resumeFilter`, with which the .NET SDK resumes ORDER BY in each range."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient, RawResponse

VALUES: dict[str, Any] = {"a": 1, "b": 2, "c": 2, "d": 2, "e": "x", "f": None}  # `g` has none


@pytest.fixture
async def filled(database: DatabaseProxy) -> ContainerProxy:
    composite = {"compositeIndexes": [[{"path": "/n"}, {"path": "/id", "order": "descending"}]]}
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=composite)
    for name in "abcdefg":
        await container.create_item({"id": name, "pk": "p"} | ({"n": VALUES[name]} if name in VALUES else {}))
    return container


async def query(raw: RawClient, resume: Any, order: str, **headers: str) -> RawResponse:
    body = {"query": f"SELECT VALUE c.id FROM c {order}", "resumeFilter": resume}  # noqa: S608 - built here
    sent = {"x-ms-documentdb-isquery": "True", "Content-Type": "application/query+json", **PARTITION_KEY, **headers}
    return await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=sent)


async def rid_of(container: ContainerProxy, name: str) -> str:
    item = await container.read_item(name, "p")
    return str(item["_rid"])


@pytest.mark.parametrize(
    ("order", "value", "exclude", "expected"),
    [
        ("ORDER BY c.n", [2], False, "bcde"),
        ("ORDER BY c.n", [2], True, "e"),
        ("ORDER BY c.n", [1.5], True, "bcde"),
        ("ORDER BY c.n", [[]], True, "fabcde"),
        ("ORDER BY c.n", [[]], False, "gfabcde"),
        ("ORDER BY c.n", [None], True, "abcde"),
        ("ORDER BY c.n DESC", [2], False, "dcbafg"),
        ("ORDER BY c.n DESC", [2], True, "afg"),
        ("ORDER BY c.n, c.id DESC", [2, "c"], False, "cbe"),
        ("ORDER BY c.n, c.id DESC", [2, "c"], True, "be"),
        ("ORDER BY c.n DESC OFFSET 0 LIMIT 2", [2], True, "af"),
    ],
)
async def test_rows_start_at_or_after_the_values(
    raw: RawClient, filled: ContainerProxy, order: str, value: list[Any], exclude: bool, expected: str
) -> None:
    response = await query(raw, {"value": value, "exclude": exclude}, order)

    assert "".join(response.json["Documents"]) == expected


@pytest.mark.parametrize(("order", "expected"), [("ORDER BY c.n", "cde"), ("ORDER BY c.n DESC", "cbafg")])
async def test_equal_rows_start_at_the_rid(raw: RawClient, filled: ContainerProxy, order: str, expected: str) -> None:
    resume = {"value": [2], "rid": await rid_of(filled, "c"), "exclude": False}

    response = await query(raw, resume, order)

    assert "".join(response.json["Documents"]) == expected


@pytest.mark.parametrize(
    ("order", "exclude", "expected"),
    [
        ("ORDER BY c.n", False, ["empty", "filled", "object"]),
        ("ORDER BY c.n", True, ["filled", "object"]),
        ("ORDER BY c.n DESC", False, ["empty", "text"]),
        ("ORDER BY c.n DESC", True, ["text"]),
    ],
)
async def test_rows_start_at_an_array_with_the_hash(
    raw: RawClient, database: DatabaseProxy, order: str, exclude: bool, expected: list[str]
) -> None:
    container = await database.create_container("items", PartitionKey("/pk"))
    values = {"empty": [], "filled": [None, False, True, 1234, "asdfasdfasdfasdfasdfasdf"], "object": {}, "text": "x"}
    for name, value in values.items():
        await container.create_item({"id": name, "pk": "p", "n": value})

    # The SDK's own hash of [], see query/test_ordering.py.
    low, high = struct.unpack("<qq", bytes.fromhex("82805359A33CEFA2FF634AFF29F7547D"))
    response = await query(raw, {"value": [{"type": "array", "low": low, "high": high}], "exclude": exclude}, order)

    assert response.json["Documents"] == expected


async def test_a_later_continuation_wins(raw: RawClient, filled: ContainerProxy) -> None:
    resume = {"value": [2], "rid": await rid_of(filled, "c"), "exclude": False}
    found: list[str] = []
    token: str | None = ""

    while token is not None:
        sent = {"x-ms-max-item-count": "1", "x-ms-continuation": token}
        response = await query(raw, resume, "ORDER BY c.n", **sent)
        found += response.json["Documents"]
        token = response.headers.get("x-ms-continuation")

    assert "".join(found) == "cde"


@pytest.mark.parametrize(
    "resume",
    [
        {"value": [], "exclude": False},
        {"value": [1, 2], "exclude": False},
        {"value": [1], "exclude": "no"},
        {"value": [1], "rid": 5},
        {"value": [1], "other": 5},
        {"value": [{"type": "other", "low": 1, "high": 2}], "exclude": True},
        {"value": [{"type": "array", "low": 1, "high": 2, "other": 3}], "exclude": True},
        {"value": [{"type": "array", "low": 1}], "exclude": True},
        {"value": [[1]], "exclude": True},
        "",
        [1],
    ],
)
async def test_an_invalid_filter_is_rejected(raw: RawClient, filled: ContainerProxy, resume: Any) -> None:
    assert (await query(raw, resume, "ORDER BY c.n")).status == 400


@pytest.mark.parametrize("order", ["", "ORDER BY c.n, c.id DESC"])
async def test_a_filter_needs_a_value_for_each_order_item(raw: RawClient, filled: ContainerProxy, order: str) -> None:
    assert (await query(raw, {"value": [1], "exclude": False}, order)).status == 400


async def test_an_unknown_member_of_the_body_is_rejected(raw: RawClient, filled: ContainerProxy) -> None:
    sent = {"x-ms-documentdb-isquery": "True", "Content-Type": "application/query+json", **PARTITION_KEY}
    body = {"query": "SELECT * FROM c", "resumeAt": 1}
    response = await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=sent)

    assert (response.status, "resumeAt" in response.text) == (400, True)
