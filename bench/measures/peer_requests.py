"""Compare create, point read and single-partition query with the peer from npm."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy

from bench.report import TargetResult
from bench.servers import Server, connect, emulator, peer
from bench.sizes import Sizes
from bench.timing import Action, Times, exhaust, in_turn

_ITEMS: Final = 1000
_KEYS: Final = 50  # 20 items each, of which the query returns half
_WARM_UP: Final = 30
_QUERY: Final = "SELECT * FROM c WHERE c.pk = @pk AND c.place >= 10"
# "Shipped" is its command line; "fastest" embeds it with an option.
_SHIPPED: Final = "the peer as shipped (HTTPS, a connection each)"
_FASTEST: Final = "the peer at its fastest (HTTP, connections kept)"
_PEERS: Final = (_SHIPPED, _FASTEST)
_OURS: Final = ("durable", "in memory")


async def measure(sizes: Sizes, directory: Path) -> list[TargetResult]:
    """Measure each request for each storage and peer mode."""
    async with AsyncExitStack() as stack:
        servers: dict[str, Server] = {
            "durable": await stack.enter_async_context(emulator(directory / "durable")),
            "in memory": await stack.enter_async_context(emulator(None)),
            _FASTEST: await stack.enter_async_context(peer("fastest")),
            _SHIPPED: await stack.enter_async_context(peer("shipped")),
        }
        containers = {name: await _filled(stack, server) for name, server in servers.items()}
        requests = {
            "create": {name: _create(container) for name, container in containers.items()},
            "point read": {name: _read(container) for name, container in containers.items()},
            "query of one partition": {name: _query(container) for name, container in containers.items()},
        }
        # Queries run before creates, so that they find the same items everywhere.
        return [
            _finding(request, where, peer_mode, times)
            for request in ("query of one partition", "point read", "create")
            for times in [await in_turn(requests[request], sizes.repetitions, warm_up=_WARM_UP)]
            for peer_mode in _PEERS
            for where in _OURS
        ]


def _finding(request: str, where: str, peer_mode: str, times: Mapping[str, Times]) -> TargetResult:
    ours, theirs = times[where].p50_ms, times[peer_mode].p50_ms
    must_be_faster = request.startswith("query")
    return TargetResult(
        measure=f"{request} through the SDK, p50, {where}, against {peer_mode}",
        target="below 1×" if must_be_faster else "at most 1×",
        figure=f"{ours / theirs:.2f}×",
        met=ours < theirs if must_be_faster else ours <= theirs,
        detail=f"{ours:.2f} ms against {theirs:.2f} ms",
    )


async def _filled(stack: AsyncExitStack, server: Server) -> ContainerProxy:
    client = await stack.enter_async_context(connect(server))
    database = await client.create_database("bench")
    container = await database.create_container("items", PartitionKey("/pk"))
    for number in range(_ITEMS):
        await container.create_item(_item(number))
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
