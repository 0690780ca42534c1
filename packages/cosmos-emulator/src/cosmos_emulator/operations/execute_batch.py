"""POST …/docs with `x-ms-cosmos-is-batch-request`: several operations.

A transactional batch is atomic. In a bulk request, operations are independent and have partition keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.documents.create import create
from cosmos_emulator.documents.delete import delete
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.patch import Patch, patch
from cosmos_emulator.documents.read import ItemReference, ItemResult, read
from cosmos_emulator.documents.replace import replace
from cosmos_emulator.documents.upsert import upsert
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, partition_headers, slices_headers
from cosmos_emulator.messages.hybrid_row import dump_results, is_hybrid_row, parse_operations
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import slices_of
from cosmos_emulator.messages.sessions import check_session
from cosmos_emulator.operations.item_requests import logical_partition
from cosmos_emulator.partitioning.partition_keys import PartitionKey, key_of_header
from cosmos_emulator.partitioning.ranges import EVERYTHING
from cosmos_emulator.reads.slices import slice_of
from cosmos_emulator.runtime.pacing import LARGE_BYTES, MovesToWorker
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.partition import Partition

MAX_OPERATIONS: Final = 100
_FAILED_DEPENDENCY: Final = 424
# Assumed: a failed batch is never free (TransactionalBatchTest.java, verifyBatchProcessed).
_LEAST_RU: Final = 1.0
# Assumed from BatchServerResponseTooLarge of .NET and Java: of ten reads of an item of 1 MB, the last fails.
_MAX_RESPONSE_BYTES: Final = 10 * 1024 * 1024
_NEED_AN_ID: Final = ("Read", "Replace", "Delete", "Patch")
_NEED_A_BODY: Final = ("Create", "Upsert", "Replace")


class BatchFailed(Exception):
    """Rolls back a batch: the operation at `index` failed with `error`."""

    def __init__(self, index: int, error: CosmosError) -> None:
        super().__init__(str(error))
        self.index = index
        self.error = error


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """One operation; `partition_key` is JSON. SDKs send it in bulk requests.

    .NET and Java set `minimalReturnPreference` (azure-cosmos-dotnet-v3, ItemBatchOperation.cs), others a header.
    """

    kind: str
    id: str
    resource: Json
    if_match: str | None
    if_none_match: str | None
    partition_key: str | None
    wants_no_content: bool

    @classmethod
    def parse(cls, entry: Json) -> BatchOperation:
        """Parse an operation. Raises 400 for missing or invalid properties."""
        if not isinstance(entry, dict):
            raise CosmosError(400, "An operation of a batch must be an object.")
        kind, item_id, resource = entry.get("operationType"), entry.get("id", ""), entry.get("resourceBody")
        if kind not in (*_NEED_AN_ID, "Create", "Upsert") or not isinstance(kind, str):
            raise CosmosError(400, f"The operationType {kind!r} is not supported in a batch.")
        if not isinstance(item_id, str) or (kind in _NEED_AN_ID and not item_id):
            raise CosmosError(400, f"The operation {kind} of a batch needs an id.")
        if kind in _NEED_A_BODY and not isinstance(resource, dict):
            raise CosmosError(400, f"The operation {kind} of a batch needs a resourceBody.")
        return cls(
            kind,
            item_id,
            resource,
            _optional_text(entry, "ifMatch"),
            _optional_text(entry, "ifNoneMatch"),
            _optional_text(entry, "partitionKey"),
            entry.get("minimalReturnPreference") is True,
        )

    def apply(self, partition: LogicalPartition) -> ItemResult:
        """Run the operation like a single request."""
        reference = ItemReference(self.id)
        document = self.resource if isinstance(self.resource, dict) else {}
        match self.kind:
            case "Create":
                return create(partition, document)
            case "Upsert":
                return upsert(partition, document, self.if_match)
            case "Replace":
                return replace(partition, reference, document, self.if_match)
            case "Patch":
                return patch(partition, reference, Patch.parse(self.resource, lambda: partition.now_s), self.if_match)
            case "Delete":
                return delete(partition, reference, self.if_match)
        # A read takes either condition (.NET, BatchSinglePartitionKeyTests.cs, BatchSessionTokenProperties...).
        etag = self.if_none_match or (None if self.if_match == "*" else self.if_match)
        return read(partition.items, partition.key, reference, partition.charges, etag)


async def handle(request: Request) -> Answer:
    """Run 1 to 100 operations: 200, or 207 if an operation failed or an item is unchanged. Raises 400.

    Only a batch with a read needs the client's session (azure-sdk-for-java, TransactionalBatchAsyncContainerTest.java).
    """
    is_long = len(request.body) >= LARGE_BYTES
    operations = await request.gateway.run_anywhere(lambda: _operations(request.body), is_long=is_long)
    if any(operation.kind == "Read" for operation in operations):
        check_session(request, request.container)
    if request.headers.get(h.BATCH_ATOMIC, "").lower() == "false":
        return await _bulk(request, operations)
    try:
        return await _atomic(request, operations, is_long=is_long)
    except MovesToWorker:  # the transaction is rolled back
        return await _atomic(request, operations, is_long=True)


def _operations(body: bytes) -> list[BatchOperation]:
    entries = parse_operations(body)
    if not isinstance(entries, list) or not entries:
        raise CosmosError(400, "Batch request has no operations.")
    if len(entries) > MAX_OPERATIONS:
        raise CosmosError(400, "Batch request has more operations than what is supported.")
    return [BatchOperation.parse(entry) for entry in entries]


async def _atomic(request: Request, operations: list[BatchOperation], *, is_long: bool) -> Answer:
    container, gateway = request.container, request.gateway
    key = request.partition_key(container)
    if any(_has_other_key(request, container, operation, key) for operation in operations):
        # azure-sdk-for-js#17387 has the message.
        raise CosmosError(
            400,
            "One or more operations within the batch request have a different partition key value than the request.",
        )
    partition = await container.writable_partition_of(key)
    try:
        async with partition.transaction() as items:
            target = logical_partition(request, container, partition, key, items)
            results = await gateway.run(lambda: _results(request, operations, target), is_long=is_long)
    except BatchFailed as failure:
        charge_ru = gateway.charges.refusal(failure.error.status) or _LEAST_RU
        entries = [_refused(_FAILED_DEPENDENCY, 0.0) for _ in operations]
        entries[failure.index] = _failed(failure.error, charge_ru)
        answer = _answer(request, 207, entries, charge_ru, partition_headers(container, partition))
        answer.names_owner = failure.error.status != 404
        return answer
    charge_ru = sum(result.charge_ru for result in results)
    return await gateway.run_anywhere(
        lambda: _answer(
            request,
            207 if any(result.status == 304 for result in results) else 200,
            [_succeeded(request, *one) for one in zip(operations, results, strict=True)],
            charge_ru,
            partition_headers(container, partition),
        ),
        is_long=is_long,
    )


def _results(request: Request, operations: list[BatchOperation], target: LogicalPartition) -> list[ItemResult]:
    results: list[ItemResult] = []
    room_bytes = _MAX_RESPONSE_BYTES
    for index, operation in enumerate(operations):
        try:
            result = operation.apply(target)
            if result.item is not None and _returns_item(request, operation, result):
                room_bytes -= len(result.item.body)
            if room_bytes < 0:
                raise CosmosError(413, "The response of the batch is too large.")
        except CosmosError as error:
            raise BatchFailed(index, error) from error
        results.append(result)
    return results


async def _bulk(request: Request, operations: list[BatchOperation]) -> Answer:
    container = request.container
    slices = slices_of(request, container)  # 410/1002 if the range was split: the client routes the operations again
    used: dict[str, Partition] = {}
    entries: list[JsonObject] = []
    charges_ru = 0.0
    go_on = request.headers.get(h.BATCH_CONTINUE_ON_ERROR, "true").lower() != "false"
    for operation in operations:
        try:
            if entries and not go_on and int(str(entries[-1]["statusCode"])) >= 400:
                entries.append(_refused(_FAILED_DEPENDENCY, 0.0))
                continue
            result = await _alone(request, container, operation, used)
            entries.append(_succeeded(request, operation, result))
            charges_ru += result.charge_ru
        except CosmosError as error:
            charge_ru = request.gateway.charges.refusal(error.status)
            entries.append(_failed(error, charge_ru))
            charges_ru += charge_ru
    failed = any(int(str(entry["statusCode"])) >= 400 for entry in entries)
    # .NET accepts only the token of its range. After a split in between, there are several.
    served = [slice_of(one, EVERYTHING) for one in used.values()] or slices[:1]
    return _answer(request, 207 if failed else 200, entries, charges_ru, slices_headers(container, served))


async def _alone(
    request: Request, container: Container, operation: BatchOperation, used: dict[str, Partition]
) -> ItemResult:
    key = _own_key(request, container, operation)

    async def apply(*, is_long: bool) -> ItemResult:
        partition = await container.writable_partition_of(key)
        used[partition.id] = partition
        async with partition.transaction() as items:
            target = logical_partition(request, container, partition, key, items)
            return await request.gateway.run(lambda: operation.apply(target), is_long=is_long)

    try:
        return await apply(is_long=len(request.body) >= LARGE_BYTES)
    except MovesToWorker:  # the transaction is rolled back
        return await apply(is_long=True)


def _own_key(request: Request, container: Container, operation: BatchOperation) -> PartitionKey:
    if operation.partition_key is None:
        return request.partition_key(container)
    return key_of_header(container.definition.partition_key, operation.partition_key)


def _has_other_key(request: Request, container: Container, operation: BatchOperation, key: PartitionKey) -> bool:
    try:
        return operation.partition_key is not None and _own_key(request, container, operation) != key
    except CosmosError:  # the JavaScript SDK sent text instead of JSON
        return True


def _answer(
    request: Request, status: int, entries: list[JsonObject], charge_ru: float, headers: dict[str, str]
) -> Answer:
    if not is_hybrid_row(request.body):
        return Answer(status, json_text.dump(entries), headers, charge_ru)
    return Answer(status, dump_results(entries), {**headers, "Content-Type": "application/octet-stream"}, charge_ru)


def _succeeded(request: Request, operation: BatchOperation, result: ItemResult) -> JsonObject:
    entry: JsonObject = {"statusCode": result.status, "requestCharge": result.charge_ru}
    if result.item is not None:
        entry["eTag"] = result.item.etag
        if _returns_item(request, operation, result):
            entry["resourceBody"] = result.item.document()
    return entry


def _returns_item(request: Request, operation: BatchOperation, result: ItemResult) -> bool:
    wants_no_content = operation.wants_no_content or h.wants_no_content(request.headers)
    return result.status != 304 and (operation.kind == "Read" or not wants_no_content)


def _failed(error: CosmosError, charge_ru: float) -> JsonObject:
    entry = _refused(error.status, charge_ru)
    if error.sub_status:
        entry["subStatusCode"] = error.sub_status
    entry["message"] = error.message
    return entry


def _refused(status: int, charge_ru: float) -> JsonObject:
    return {"statusCode": status, "requestCharge": charge_ru}


def _optional_text(entry: JsonObject, name: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise CosmosError(400, f"The property {name} of a batch operation must be a string.")
    return value
