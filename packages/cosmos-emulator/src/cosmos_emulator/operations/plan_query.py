"""POST …/docs with `x-ms-cosmos-is-query-plan-request`: how a client runs a query by range."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import slices_of
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES, parse_query_body


async def handle(request: Request) -> Answer:
    """Return the plan. Raises 400 if the client lacks a required feature."""
    definition = request.container.definition
    in_one_partition = len(slices_of(request, request.container)) == 1
    features = request.headers.get(h.SUPPORTED_QUERY_FEATURES, "")
    supported = {feature.strip() for feature in features.split(",")}

    def work() -> bytes:
        text = parse_query_body(request.body, definition.dialect)
        return json_text.dump(text.plan(definition.partition_key, supported, in_one_partition=in_one_partition))

    return Answer(
        200, await request.gateway.run_anywhere(work, is_long=len(request.body) > LONG_TEXT_BYTES, reads=True)
    )
