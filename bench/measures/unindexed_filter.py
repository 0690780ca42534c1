"""Compare a cross-partition filter on an unindexed path with the peer, which scans all items."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy

from bench.loading import send_batches
from bench.report import TargetResult
from bench.servers import Server, connect, emulator, peer
from bench.sizes import Sizes
from bench.timing import Action, exhaust, in_turn

_TARGET: Final = 3.0
_FOUND: Final = 100  # number of matching items
_GROUP: Final = 100
_POLICY: Final[dict[str, Any]] = {
    "indexingMode": "consistent",
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/note/?"}],
}


async def measure(sizes: Sizes, directory: Path) -> list[TargetResult]:
    """Measure the time of all pages."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(emulator(directory / "filtered"))
        theirs = await stack.enter_async_context(peer("fastest"))
        actions = {
            "ours": _filter(await _filled(stack, ours, sizes.scanned)),
            "theirs": _filter(await _filled(stack, theirs, sizes.scanned)),
        }
        times = await in_turn(actions, sizes.runs, warm_up=1, block=1)
    return [
        TargetResult.at_most(
            f"cross-partition filter on an unindexed path, {sizes.scanned:,} items, p50, against the peer",
            _TARGET,
            times["ours"].p50_ms / times["theirs"].p50_ms,
            "×",
            f"{times['ours'].p50_ms:.0f} ms against {times['theirs'].p50_ms:.0f} ms, {times['ours'].rounds} rounds",
        )
    ]


async def _filled(stack: AsyncExitStack, server: Server, count: int) -> ContainerProxy:
    client = await stack.enter_async_context(connect(server))
    database = await client.create_database("bench")
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=_POLICY)
    notes = max(1, count // _FOUND)
    await send_batches(container, "pk", (_item(number, notes) for number in range(count)))
    return container


def _item(number: int, notes: int) -> dict[str, Any]:
    return {
        "id": f"item-{number}",
        "pk": f"key-{number // _GROUP}",
        "note": f"note-{number % notes}",
        "number": number,
        "text": "some words of no meaning " * 12,
    }


def _filter(container: ContainerProxy) -> Action:
    async def action(_: int) -> None:
        rows = container.query_items(
            "SELECT * FROM c WHERE c.note = @note", parameters=[{"name": "@note", "value": "note-7"}]
        )
        await exhaust(rows, _FOUND)

    return action
