"""POST …/operations/partitionkeydelete: delete all items of a logical partition."""

from __future__ import annotations

import asyncio
from typing import Final

from cosmos_emulator.messages.answer import Answer, partition_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.store.items import SCAN_START, ItemScope

_AT_ONCE: Final = 100


async def handle(request: Request) -> Answer:
    """Delete all items, some hundred per transaction (200). The service does so in the background."""
    container = request.container
    key = request.partition_key(container)
    more = True
    while more:
        partition = await container.writable_partition_of(key)
        async with partition.transaction() as items:
            found = items.scan(ItemScope(key=key), SCAN_START, _AT_ONCE)
            for item in found:
                items.delete(item)
            more = bool(found)
        await asyncio.sleep(0)
    return Answer(200, b"", partition_headers(container, partition))
