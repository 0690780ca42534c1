"""GET of one database, container, script, offer, user or permission."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.json_text import Json
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.quota import usage
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.throughput import smallest_ru_s
from cosmos_emulator.operations.resource_requests import is_unchanged, owner_rid, shown_body
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.resources import Resource


async def handle(request: Request) -> Answer:
    """Return a resource (200), or 304 if unchanged. Raises 404."""
    kind = request.link.kinds[-1]
    if kind == "dbs":
        return _answer(request, request.database)
    if kind == "colls":
        return _container_answer(request)
    resource = request.resource(kind, owner_rid(request))
    answer = _answer(request, resource)
    if kind == "offers":
        answer.headers[h.MIN_THROUGHPUT] = str(smallest_ru_s(resource.body["content"]))
    return answer


def _answer(request: Request, resource: Resource) -> Answer:
    answer = resource_answer(200, resource, body=shown_body(request, resource))
    return Answer(304, b"", answer.headers, answer.charge_ru) if is_unchanged(request, resource) else answer


def _container_answer(request: Request) -> Answer:
    container = request.container
    answer = _answer(request, container.resource)
    if request.flag(h.POPULATE_QUOTA_INFO):
        # A changed policy applies immediately: queries scan until an index is built.
        answer.headers[h.INDEX_PROGRESS] = "100"
        answer.headers[h.RESOURCE_USAGE] = usage(sum(one.committed.count_all() for one in container.partitions))
    if answer.body and request.flag(h.POPULATE_PARTITION_STATISTICS):
        answer.body = json_text.dump({**container.resource.body, "statistics": _statistics(container)})
    return answer


def _statistics(container: Container) -> list[Json]:
    return [
        {
            "id": one.id,
            "sizeInKB": one.size_bytes // 1024,
            "documentCount": one.committed.count_all(),
            "partitionKeys": [],
        }
        for one in container.partitions
    ]
