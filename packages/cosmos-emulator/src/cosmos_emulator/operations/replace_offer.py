"""PUT /offers/{rid}: change the throughput."""

from __future__ import annotations

from cosmos_emulator.http.messages import Answer, Request, resource_answer
from cosmos_emulator.http.resource_requests import check_if_match
from cosmos_emulator.throughput import checked_content


async def handle(request: Request) -> Answer:
    """Change an offer (200). Raises 400, 404, 412."""
    offer = request.resource("offers", "")
    check_if_match(request, offer)
    content = checked_content(request.json_object().get("content"))
    request.gateway.account.replace(offer, {**offer.body, "content": content})
    return resource_answer(200, offer)
