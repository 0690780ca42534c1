"""POST …/sprocs/{id}: execute a stored procedure in one logical partition."""

from __future__ import annotations

from urllib.parse import quote

from cosmos_emulator import json_text
from cosmos_emulator.documents.script_operations import PartitionOperations
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, partition_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import logical_partition
from cosmos_emulator.scripts import execute_stored_procedure

# Not encoded by encodeURIComponent, besides letters and digits.
_LITERAL = "-_.!~*'()"
_MOST_ARGUMENTS = 65_535
# Every container has it (azure-cosmos-dotnet-v3, GatewayTests.cs, ValidateSystemSproc).
_SYSTEM = {"__.sys.echo": "function (input) { getContext().getResponse().setBody(input); }"}


async def handle(request: Request) -> Answer:
    """Execute a procedure (200). If it throws (400), its writes are rolled back."""
    container = request.container
    name, body = request.link.ids[-1], _SYSTEM.get(request.link.ids[-1])
    if body is None:
        procedure = request.resource("sprocs", container.rid)
        name, body = procedure.id, str(procedure.body["body"])
    key = request.partition_key(container)
    arguments = _arguments(request.body)
    partition = await container.writable_partition_of(key)
    logs = request.flag(h.ENABLE_SCRIPT_LOGGING)
    gateway = request.gateway
    async with partition.transaction() as items:
        target = logical_partition(request, container, partition, key, items)
        scripts = PartitionOperations(gateway, target)
        result = await gateway.in_worker(
            lambda: execute_stored_procedure(
                name,
                body,
                arguments,
                scripts,
                gateway.script_limits,
                capture_log=logs,
            )
        )
    headers = partition_headers(container, partition)
    if logs:
        headers[h.SCRIPT_LOG] = quote(result.log, safe=_LITERAL)
    charge_ru = gateway.charges.script(scripts.reads_ru, scripts.writes_ru)
    return Answer(200, json_text.dump(result.body), headers, charge_ru)


def _arguments(body: bytes) -> list[Json]:
    if not body:
        return []
    arguments = json_text.parse(body)
    match arguments:
        case list():
            return arguments
        case None:
            return []
        case dict():  # an array-like object, as Function.prototype.apply takes it
            return [arguments.get(str(index)) for index in range(_length(arguments.get("length")))]
    raise CosmosError(400, "The arguments of a stored procedure must be a JSON array.")


def _length(value: Json) -> int:
    try:
        length = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return 0
    if length > _MOST_ARGUMENTS:
        raise CosmosError(400, f"A stored procedure can have at most {_MOST_ARGUMENTS} arguments.")
    return int(length) if length > 0 else 0
