"""PUT /offers/{rid}: change the throughput, or migrate it between manual and autoscale."""

from __future__ import annotations

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.throughput import check_growth, partitions_serving, replaced_content, smallest_ru_s
from cosmos_emulator.operations.resource_requests import check_if_match
from cosmos_emulator.store.resources import Resource


async def handle(request: Request) -> Answer:
    """Change an offer (200). Raises 400, 404, 412.

    Partitions that cannot serve more throughput are split before the response. The service does so in the background.
    """
    body = request.json_object()
    if body.get("_rid") != _offer(request).rid:  # azure-cosmos-dotnet-v3, OfferTests.cs, ValidateOfferReplace
        raise CosmosError(400, "The offer in the body is not the one in the path: their '_rid' differs.")
    before = _offer(request).body["content"]
    content = replaced_content(before, body.get("content"), request.headers)
    account = request.gateway.account
    containers = account.containers_of(_offer(request))
    check_growth(before, content, has_containers=bool(containers))
    for container in containers:
        await container.split_to(partitions_serving(content))
    offer = _offer(request)  # again, because it can have been changed or deleted
    account.replace(offer, {**offer.body, "content": content})
    answer = resource_answer(200, offer)
    answer.headers |= {h.OFFER_REPLACE_PENDING: "false", h.MIN_THROUGHPUT: str(smallest_ru_s(content))}
    return answer


def _offer(request: Request) -> Resource:
    offer = request.resource("offers", "")
    check_if_match(request, offer)
    return offer
