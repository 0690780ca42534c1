"""POST …/operations/partitionkeydelete: every item of one logical partition."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.http.messages import Answer, Request, partition_headers
from cosmos_emulator.store.items import SCAN_START, Scope

_AT_ONCE: Final = 500


async def handle(request: Request) -> Answer:
    """200 when all are gone; the service does it in the background. Each transaction deletes some hundred items."""
    container = request.container
    key = request.partition_key(container)
    partition = container.partition_of(key)
    more = True
    while more:
        async with partition.transaction() as items:
            found = items.scan(Scope(key=key), SCAN_START, _AT_ONCE)
            for item in found:
                items.delete(item)
            more = bool(found)
    return Answer(200, b"", partition_headers(container, partition))
