"""Triggers, which run in the transaction of the write that names them.

A write can name one pre-trigger and one post-trigger (concepts-limits).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.read import ItemResult
from cosmos_emulator.documents.script_operations import PartitionOperations
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.scripts import run_post_trigger, run_pre_trigger
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.resources import Resource
from cosmos_emulator.vocabulary.names import canonical

# The `triggerOperation` values accepted by each write. For an upsert: azure-cosmos-dotnet-v3#4104.
_COVERED_BY: Final = {
    "Create": ("All", "Create"),
    "Replace": ("All", "Replace", "Update"),
    "Upsert": ("All", "Upsert"),
    "Delete": ("All", "Delete"),
}


@dataclass(frozen=True, slots=True)
class Triggers:
    """The triggers of a write of `kind`."""

    gateway: Gateway
    kind: str
    before: Resource | None
    after: Resource | None

    @classmethod
    def of_request(cls, request: Request, container: Container, kind: str) -> Triggers | None:
        """Return the triggers named in the headers. Raises 400 if one does not apply to the write."""
        named = {side: request.headers.get(name, "") for side, name in _HEADERS.items()}
        if not any(named.values()):
            return None
        if kind not in _COVERED_BY:
            raise CosmosError(400, f"Triggers on the operation {kind} are not supported.")
        before, after = (_found(request, container, kind, side, named[side]) for side in ("Pre", "Post"))
        return cls(request.gateway, kind, before, after)

    def around(
        self,
        target: LogicalPartition,
        document: JsonObject,
        operation: Callable[[LogicalPartition, JsonObject], ItemResult],
    ) -> tuple[ItemResult, bytes | None]:
        """Run a write and its triggers; return a post-trigger's reply, too. Errors roll back everything."""
        scripts = PartitionOperations(self.gateway, target)
        sent: JsonObject | None = None if self.kind == "Delete" else document
        if self.before is not None:
            sent = run_pre_trigger(*_script(self.before), sent, self.kind, scripts, self.gateway.script_limits)
        result = operation(target, {} if sent is None else sent)
        reply: bytes | None = None
        if self.after is not None:
            stored = None if result.item is None else result.item.document()
            limits = self.gateway.script_limits
            answer = run_post_trigger(*_script(self.after), sent, stored, self.kind, scripts, limits)
            reply = json_text.dump(answer)
        charge_ru = result.charge_ru + scripts.reads_ru + scripts.writes_ru
        return ItemResult(result.status, result.item, charge_ru), reply


_HEADERS: Final = {"Pre": h.PRE_TRIGGER, "Post": h.POST_TRIGGER}


def _found(request: Request, container: Container, kind: str, side: str, names: str) -> Resource | None:
    ids = [name.strip() for name in names.split(",") if name.strip()]
    if not ids:
        return None
    if len(ids) > 1:
        raise CosmosError(400, f"A write can include at most one {side.lower()}-trigger; there are {len(ids)}.")
    trigger = request.gateway.account.resources.find("triggers", container.rid, ids[0])
    if trigger is None:
        raise CosmosError(400, f"The trigger {ids[0]!r} does not exist in this container.")
    if canonical(trigger.body["triggerType"], [side]) is None:
        raise CosmosError(400, f"The trigger {ids[0]!r} is not a {side.lower()}-trigger.")
    operation = trigger.body["triggerOperation"]
    if canonical(operation, _COVERED_BY[kind]) is None:
        raise CosmosError(
            400,
            f"Trigger '{ids[0]}' was defined with operation type '{operation}', and therefore is invalid for '{kind}'.",
        )
    return trigger


def _script(trigger: Resource) -> tuple[str, str]:
    return trigger.id, str(trigger.body["body"])
