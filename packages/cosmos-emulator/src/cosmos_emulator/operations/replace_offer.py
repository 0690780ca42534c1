"""PUT /offers/{rid}: another throughput."""

from __future__ import annotations

from cosmos_emulator.http.messages import Answer, Request, resource_answer
from cosmos_emulator.http.resource_requests import check_if_match
from cosmos_emulator.throughput import checked_content


async def handle(request: Request) -> Answer:
    """200; 404 without the offer, 400 for a throughput that the service would not sell, 412 when it has changed."""
    offer = request.resource("offers", "")
    check_if_match(request, offer)
    content = checked_content(request.json_object().get("content"))
    request.gateway.account.replace(offer, {**offer.body, "content": content})
    return resource_answer(200, offer)
