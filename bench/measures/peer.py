"""Compare create, point read and single-partition query with the peer from npm."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy

from bench.loading import send_batches
from bench.report import TargetResult
from bench.servers import Server, connect, emulator, peer
from bench.timing import Action, exhaust, in_turn

_ITEMS: Final = 1000
_KEYS: Final = 50  # 20 items each, of which the query returns half
_WARM_UP: Final = 30
_REPETITIONS: Final = 500
_QUERY: Final = "SELECT * FROM c WHERE c.pk = @pk AND c.place >= 10"
# "Shipped" is its command line; "fastest" embeds it with an option.
_SHIPPED: Final = "the peer as shipped (HTTPS, a connection each)"
_FASTEST: Final = "the peer at its fastest (HTTP, connections kept)"


async def measure(directory: Path) -> list[TargetResult]:
    """Measure each request for each storage and peer mode."""
    async with AsyncExitStack() as stack:
        servers = {
            "durable": await stack.enter_async_context(emulator(directory / "durable")),
            "in memory": await stack.enter_async_context(emulator(None)),
            _FASTEST: await stack.enter_async_context(peer("fastest")),
            _SHIPPED: await stack.enter_async_context(peer("shipped")),
        }
        items = [_item(number) for number in range(_ITEMS)]
        containers = {name: await _filled(stack, server, items) for name, server in servers.items()}
        found = []
        # Queries run before creates, so that they find the same items everywhere.
        for request, action in (("query of one partition", _query), ("point read", _read), ("create", _create)):
            actions = {name: action(container) for name, container in containers.items()}
            times = await in_turn(actions, _REPETITIONS, warm_up=_WARM_UP)
            for peer_mode in (_SHIPPED, _FASTEST):
                for where in ("durable", "in memory"):
                    what = f"{request} through the SDK, p50, {where}, against {peer_mode}"
                    below = request.startswith("query")
                    found.append(TargetResult.ratio(what, 1, times[where], times[peer_mode], below=below))
        return found


async def _filled(stack: AsyncExitStack, server: Server, items: Iterable[dict[str, Any]]) -> ContainerProxy:
    client = await stack.enter_async_context(connect(server))
    database = await client.create_database("bench")
    container = await database.create_container("items", PartitionKey("/pk"))
    await send_batches(container, "pk", sorted(items, key=lambda item: str(item["pk"])))
    return container


def _item(number: int) -> dict[str, Any]:
    return {
        "id": f"item-{number}",
        "pk": f"key-{number % _KEYS}",
        "place": number // _KEYS,
        "title": f"Item number {number}",
        "text": "some words of no meaning " * 12,
        "tags": ["red", "green", "blue"],
    }


def _create(container: ContainerProxy) -> Action:
    return lambda number: container.create_item(_item(_ITEMS + number))


def _read(container: ContainerProxy) -> Action:
    return lambda number: container.read_item(f"item-{number % _ITEMS}", f"key-{number % _KEYS}")


def _query(container: ContainerProxy) -> Action:
    async def action(number: int) -> None:
        key = f"key-{number % _KEYS}"
        rows = container.query_items(_QUERY, parameters=[{"name": "@pk", "value": key}], partition_key=key)
        await exhaust(rows, 10)

    return action
