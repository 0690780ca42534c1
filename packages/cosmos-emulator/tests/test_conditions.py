"""If-Match and If-None-Match on every operation that supports them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError
from tests.errors import fails_with
from tests.raw_client import RawClient, RawResponse

ITEM = {"id": "a", "pk": "p"}
CHANGE = [{"op": "set", "path": "/n", "value": 1}]

Write = Callable[..., Awaitable[Any]]


def write(container: ContainerProxy, name: str) -> Write:
    """Return a write of item `a`, to call with a condition."""
    writes: dict[str, Write] = {
        "replace": lambda **condition: container.replace_item("a", ITEM, **condition),
        "upsert": lambda **condition: container.upsert_item(ITEM, **condition),
        "patch": lambda **condition: container.patch_item("a", "p", CHANGE, **condition),
        "delete": lambda **condition: container.delete_item("a", "p", **condition),
    }
    return writes[name]


@pytest.mark.parametrize("name", ["replace", "upsert", "patch", "delete"])
async def test_a_write_under_a_stale_etag_is_rejected(container: ContainerProxy, name: str) -> None:
    old = (await container.create_item(ITEM))["_etag"]
    present = (await container.upsert_item(ITEM))["_etag"]

    with fails_with(412):
        await write(container, name)(etag=old, match_condition=MatchConditions.IfNotModified)
    await write(container, name)(etag=present, match_condition=MatchConditions.IfNotModified)


@pytest.mark.parametrize("name", ["replace", "upsert", "patch", "delete"])
async def test_a_write_if_present_accepts_any_version(container: ContainerProxy, name: str) -> None:
    await container.create_item(ITEM)

    await write(container, name)(match_condition=MatchConditions.IfPresent)


async def test_an_upsert_that_creates_ignores_if_match(container: ContainerProxy) -> None:
    created = await container.upsert_item(ITEM, etag='"none"', match_condition=MatchConditions.IfNotModified)

    assert created["id"] == "a"


async def test_a_conditional_write_of_a_missing_item_returns_404(container: ContainerProxy) -> None:
    for name in ("replace", "patch", "delete"):
        with fails_with(404):
            await write(container, name)(etag='"none"', match_condition=MatchConditions.IfNotModified)


async def test_a_read_if_modified_returns_only_a_newer_version(container: ContainerProxy) -> None:
    old = (await container.create_item(ITEM))["_etag"]
    present = (await container.upsert_item({**ITEM, "n": 2}))["_etag"]

    unchanged = await container.read_item("a", "p", etag=present, match_condition=MatchConditions.IfModified)
    changed = await container.read_item("a", "p", etag=old, match_condition=MatchConditions.IfModified)

    assert (dict(unchanged), changed["n"]) == ({}, 2)


async def test_each_operation_of_a_batch_has_its_own_condition(container: ContainerProxy) -> None:
    etag = (await container.create_item(ITEM))["_etag"]

    results = await container.execute_item_batch(
        [("read", ("a",), {"if_none_match_etag": etag}), ("replace", ("a", ITEM), {"if_match_etag": etag})], "p"
    )
    with pytest.raises(CosmosBatchOperationError) as caught:
        await container.execute_item_batch([("delete", ("a",), {"if_match_etag": etag})], "p")

    assert [result["statusCode"] for result in results] == [304, 200]
    assert "resourceBody" not in results[0]
    assert caught.value.status_code == 412


RESOURCES = {
    "dbs": ("dbs/db", None),
    "colls": ("dbs/db/colls/items", {"id": "items", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}),
    "sprocs": ("dbs/db/colls/items/sprocs/s", {"id": "s", "body": "function () {}"}),
    "udfs": ("dbs/db/colls/items/udfs/s", {"id": "s", "body": "function () {}"}),
}


@pytest.mark.parametrize("kind", [*RESOURCES])
async def test_conditions_apply_to_databases_containers_and_scripts(
    raw: RawClient, container: ContainerProxy, kind: str
) -> None:
    link, body = RESOURCES[kind]
    await container.scripts.create_stored_procedure({"id": "s", "body": "function () {}"})
    await container.scripts.create_user_defined_function({"id": "s", "body": "function () {}"})

    async def send(verb: str, **headers: str) -> RawResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await raw.send(verb, f"/{link}", kind=kind, link=link, body=body, headers=sent)

    etag = (await send("GET")).headers["etag"]

    assert (await send("GET", If_None_Match=etag)).status == 304
    assert (await send("GET", If_None_Match="*")).status == 304
    if body is not None:
        assert (await send("PUT", If_Match='"stale"')).status == 412
        replaced = await send("PUT", If_Match=etag)
        assert replaced.status == 200
        etag = replaced.headers["etag"]
    assert (await send("DELETE", If_Match='"stale"')).status == 412
    assert (await send("DELETE", If_Match=etag)).status == 204


async def test_conditions_apply_to_throughput(raw: RawClient, container: ContainerProxy) -> None:
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]
    link = f"offers/{offer['_rid']}"
    body = {**offer, "content": {"offerThroughput": 500}}

    async def replace(etag: str) -> int:
        headers = {"If-Match": etag}
        sent = await raw.send(
            "PUT", f"/{link}", kind="offers", link=offer["_rid"].lower(), body=body, headers=headers, by_rid=True
        )
        return sent.status

    assert await replace('"stale"') == 412
    assert await replace(offer["_etag"]) == 200
