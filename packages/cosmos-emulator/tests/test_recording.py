"""Recordings of requests and their charges."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from cosmos_emulator import CosmosAccount, Recording


def operations(recording: Recording) -> list[tuple[str, str | None, int]]:
    return [(one.operation, one.container, one.status) for one in recording.requests]


def test_requests_are_recorded_with_their_charges(cosmos: CosmosAccount) -> None:
    shop = cosmos.client().create_database("shop")
    orders = shop.create_container("orders", PartitionKey("/customer"))
    charges: list[float] = []

    def hook(headers: Any, *_: Any) -> None:
        charges.append(float(headers["x-ms-request-charge"]))

    with cosmos.recording() as recording:
        orders.create_item({"id": "1", "customer": "ada"}, response_hook=hook)
        orders.read_item("1", "ada", response_hook=hook)
        list(orders.query_items("SELECT * FROM c WHERE c.total > 1", partition_key="ada", response_hook=hook))
        with pytest.raises(CosmosHttpResponseError):
            orders.read_item("2", "ada")
    orders.read_item("1", "ada")

    of_items = recording.of(container="shop/orders")
    assert [one for one in operations(of_items) if one[0] != "list-ranges"] == [
        ("create", "shop/orders", 201),
        ("read", "shop/orders", 200),
        ("query", "shop/orders", 200),
        ("read", "shop/orders", 404),
    ]
    assert recording.of(operation="create").request_units == charges[0]
    assert recording.of(operation="read", container="shop/orders").request_units == pytest.approx(charges[1] + 1)
    assert recording.request_units >= sum(charges)
    assert recording.of(container="orders") == of_items
    assert recording.of(operation="delete", container="shop/orders") == Recording()


def test_an_unknown_operation_or_container_is_an_error(cosmos: CosmosAccount) -> None:
    shop = cosmos.client().create_database("shop")
    shop.create_container("carts", PartitionKey("/id"))
    with cosmos.recording() as recording:
        shop.delete_container("carts")
        shop.create_container("orders", PartitionKey("/customer"))

    for container in ("carts", "shop/carts", "orders", "shop/orders"):
        recording.of(container=container)
    with pytest.raises(ValueError, match=r"operation must be one of batch, .*, not 'creat'"):
        recording.of(operation="creat")  # type: ignore[arg-type]
    for container in ("order", "other/orders", "shop", "orders/"):
        with pytest.raises(ValueError, match=f"container must be one of shop/carts, shop/orders, not '{container}'"):
            recording.of(container=container)
    with pytest.raises(ValueError, match="not 'cart'"):
        recording.of(operation="create").of(container="cart")


def test_recordings_can_overlap(cosmos: CosmosAccount) -> None:
    shop = cosmos.client().create_database("shop")

    with cosmos.recording() as outer:
        shop.create_container("a", PartitionKey("/id"))
        with cosmos.recording() as inner:
            shop.create_container("b", PartitionKey("/id"))
        shop.create_container("c", PartitionKey("/id"))

    created = [("create-container", None, 201)]
    assert operations(inner.of(operation="create-container")) == created
    assert operations(outer.of(operation="create-container")) == created * 3


@pytest.mark.cosmos(throttle=True)
def test_a_throttled_request_is_recorded(cosmos: CosmosAccount) -> None:
    shop = cosmos.client(retry_total=0).create_database("shop")
    orders = shop.create_container("orders", PartitionKey("/customer"), offer_throughput=400)

    with (
        cosmos.faults.during("429 operation=create"),
        cosmos.recording() as recording,
        pytest.raises(CosmosHttpResponseError),
    ):
        orders.create_item({"id": "1", "customer": "ada"})

    assert {one.status for one in recording.of(operation="create").requests} == {429}
