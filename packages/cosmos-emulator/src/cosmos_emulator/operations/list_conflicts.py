"""GET …/conflicts: one write region has none."""

from __future__ import annotations

from cosmos_emulator.http.messages import Answer, Request, feed_answer


async def handle(request: Request) -> Answer:
    """Return an empty feed. Raises 404."""
    return feed_answer(request.container.rid, "Conflicts", [], {}, charge_ru=1.0)
