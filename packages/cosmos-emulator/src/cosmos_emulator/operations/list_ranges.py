"""GET …/pkranges: the physical partitions and their key ranges."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.definitions import rids
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.partition import Partition


async def handle(request: Request) -> Answer:
    """Return all ranges, or 304, until which azure-cosmos repeats the request (_routing)."""
    container = request.container
    etag = f'{container.resource.etag[:-1]}-{container.newest_id}"'  # changes with a split
    headers = {h.ETAG: etag}
    if h.A_IM in request.headers and request.headers.get(h.IF_NONE_MATCH, "").strip('"') == etag.strip('"'):
        return Answer(304, b"", headers)
    ranges = [json_text.dump(_described(container, one)) for one in container.partitions]
    return feed_answer(container.rid, "PartitionKeyRanges", ranges, headers, charge_ru=0.0)


def _described(container: Container, partition: Partition) -> JsonObject:
    rid = rids.child_rid(container.rid, rids.RANGE, partition.index)
    return {
        "_rid": rid,
        "id": partition.id,
        "_etag": container.resource.etag,
        "minInclusive": partition.range.start,
        "maxExclusive": partition.range.end,
        "ridPrefix": partition.index,
        "_self": f"{container.self_link}pkranges/{rid}/",
        "throughputFraction": 1 / len(container.partitions),
        "status": "online",
        "parents": [str(ancestor) for ancestor in partition.placed.ancestors],
        "_ts": container.resource.body["_ts"],
    }
