"""Partial update of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cosmos_emulator.documents.json_patch import MAX_OPERATIONS, patched, touched_paths
from cosmos_emulator.documents.logical_partition import SYSTEM_PROPERTIES, LogicalPartition, check_if_match
from cosmos_emulator.documents.read import ItemReference, ItemResult
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.query import CompiledQuery, compile_condition
from cosmos_emulator.store.items import Clock

_FIXED: Final = frozenset({"id", *SYSTEM_PROPERTIES})


@dataclass(frozen=True, slots=True)
class Patch:
    """Patch operations with an optional condition."""

    operations: list[Json]
    condition: CompiledQuery | None

    @classmethod
    def parse(cls, body: Json, clock: Clock) -> Patch:
        """Parse `{"condition": …, "operations": […]}`, or the JavaScript SDK's array."""
        operations = body.get("operations") if isinstance(body, dict) else body
        if not isinstance(operations, list) or not operations:
            raise CosmosError(400, "The patch is invalid: it has no operations.")
        if len(operations) > MAX_OPERATIONS:
            raise CosmosError(
                400, f"The number of patch operations can't exceed '{MAX_OPERATIONS}'; there are {len(operations)}."
            )
        condition = body.get("condition") if isinstance(body, dict) else None
        if condition is None or condition == "":
            return cls(operations, None)
        if not isinstance(condition, str):
            raise CosmosError(400, "The condition of a patch must be a string such as 'from c where c.done = true'.")
        return cls(operations, compile_condition(condition, clock))


def patch(
    partition: LogicalPartition, reference: ItemReference, changes: Patch, if_match: str | None = None
) -> ItemResult:
    """Patch an item (200). Raises 400, 404, and 412 also if the condition is false."""
    old = partition.find(reference)
    check_if_match(old, if_match)
    document = old.document()
    if changes.condition is not None and not changes.condition.matches(document):
        raise CosmosError(412, "One of the specified pre-condition is not met: the condition of the patch is false.")
    _check_paths(changes.operations, partition.container.definition.partition_key.paths)
    item, stored = partition.overwrite(old, patched(document, changes.operations))
    charge_ru = partition.charges.patch(
        document,
        stored,
        len(changes.operations),
        partition.container.definition.indexing,
        old_size_bytes=len(old.body),
        new_size_bytes=len(item.body),
    )
    return ItemResult(200, item, charge_ru)


def _check_paths(operations: list[Json], key_paths: tuple[tuple[str, ...], ...]) -> None:
    for path in (path for operation in operations for path in touched_paths(operation)):
        if path[0] in _FIXED:
            raise CosmosError(400, f"The patch is invalid: the property '{path[0]}' cannot be changed.")
        if any(path == key[: len(path)] for key in key_paths):
            raise CosmosError(400, f"The patch is invalid: '/{'/'.join(path)}' is part of the partition key.")
