"""GET and query of …/conflicts: one write region has none."""

from __future__ import annotations

from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import cross_partition_disabled


async def handle(request: Request) -> Answer:
    """Return an empty feed. Raises 404, and 400 for a query without a partition key or the cross-partition flag."""
    container = request.container
    scoped = h.PARTITION_KEY in request.headers or request.flag(h.CROSS_PARTITION)
    if request.verb == "POST" and not scoped:
        raise cross_partition_disabled()
    return feed_answer(container.rid, "Conflicts", [], {}, charge_ru=1.0)
