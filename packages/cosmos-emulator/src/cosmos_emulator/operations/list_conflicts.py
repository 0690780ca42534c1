"""GET …/conflicts: none ever, since there is one write region."""

from __future__ import annotations

from cosmos_emulator.http.messages import Answer, Request, feed_answer


async def handle(request: Request) -> Answer:
    """An empty feed; 404 without the container."""
    return feed_answer(request.container.rid, "Conflicts", [], {}, charge_ru=1.0)
