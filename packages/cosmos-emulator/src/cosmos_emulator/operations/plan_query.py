"""POST …/docs with `x-ms-cosmos-is-query-plan-request`: how a client runs a query by range."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES, parse_query_body


async def handle(request: Request) -> Answer:
    """Return the plan. Raises 400 if the client lacks a required feature."""
    definition = request.container.definition.partition_key
    features = request.headers.get(h.SUPPORTED_QUERY_FEATURES, "")
    supported = {feature.strip() for feature in features.split(",")}

    def work() -> bytes:
        return json_text.dump(parse_query_body(request.body).plan(definition, supported))

    return Answer(
        200, await request.gateway.run_anywhere(work, is_long=len(request.body) > LONG_TEXT_BYTES, reads=True)
    )
