"""How data come into a server before it is measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from azure.cosmos.aio import ContainerProxy

from shared.models.base import Item

_BATCH: Final = 100  # operations, the service's limit
_AT_ONCE: Final = 4


async def send_batches(container: ContainerProxy, key: str, items: Iterable[Item]) -> None:
    """Create `items` in transactional batches: for servers that have nothing faster. `key` is the property with the
    partition key; items that share it come one after another."""
    batches = _batches(key, items)

    async def work() -> None:
        for partition_key, batch in batches:
            await container.execute_item_batch([("create", (item,)) for item in batch], partition_key)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))


def _batches(key: str, items: Iterable[Item]) -> Iterator[tuple[Any, list[Item]]]:
    for partition_key, group in groupby(items, lambda item: item[key]):
        members = list(group)
        for start in range(0, len(members), _BATCH):
            yield partition_key, members[start : start + _BATCH]
