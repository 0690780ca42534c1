"""GET …/docs: the read feed."""

from __future__ import annotations

from cosmos_emulator.documents.feed import feed_page
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer, slices_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import at_replicas, slices_of
from cosmos_emulator.reads.paging import (
    ItemPosition,
    PageLimits,
    complete,
    decode_continuation,
    encode_continuation,
)


async def handle(request: Request) -> Answer:
    """Return a page; later inserts do not shift its continuation. Raises 400 for another request's."""
    container = request.container
    slices = at_replicas(request, slices_of(request, container))
    start = ItemPosition.of_json(decode_continuation(request.headers.get(h.CONTINUATION)))
    limits = PageLimits(request.page_size)
    page, end = await complete(feed_page(slices, start, limits), request.gateway.loop_turn)
    headers = slices_headers(container, slices)
    if end is not None:
        headers[h.CONTINUATION] = encode_continuation(end.as_json())
    charge_ru = request.gateway.charges.feed([len(item.body) for item in page])
    return feed_answer(container.rid, "Documents", [item.body for item in page], headers, charge_ru)
