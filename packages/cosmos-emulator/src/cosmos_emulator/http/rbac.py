"""The rights of a Microsoft Entra ID data role: use data and read metadata.

Sources: learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac, "Permission model" (scripts and throughput cannot be
read); the errors in github.com/Azure/azure-cosmos-dotnet-v3, issues 5014 and 2891.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.hybrid_row import parse_operations
from cosmos_emulator.messages.links import Link
from cosmos_emulator.messages.request import Request
from cosmos_emulator.settings import EmulatorSettings
from cosmos_emulator.vocabulary.operation_names import METADATA_OPERATIONS, RESOURCE_READS

NOT_AUTHORIZED: Final = 5300
NOT_GRANTED: Final = 5301
_READABLE: Final = ("dbs", "colls")
_ACCOUNT: Final = "Microsoft.DocumentDB/databaseAccounts"
_CONTAINERS: Final = f"{_ACCOUNT}/sqlDatabases/containers"
_READ_METADATA: Final = f"{_ACCOUNT}/readMetadata"
# Not documented, and therefore assumptions: patch, feed, delete by partition key, query plans, and that a batch needs
# the actions of its operations.
_ACTIONS: Final = {
    **{name: f"{_CONTAINERS}/items/{name}" for name in ("create", "read", "replace", "upsert", "delete")},
    **dict.fromkeys(METADATA_OPERATIONS, _READ_METADATA),
    "patch": f"{_CONTAINERS}/items/replace",
    "delete-partition-key": f"{_CONTAINERS}/items/delete",
    "query": f"{_CONTAINERS}/executeQuery",
    "plan-query": f"{_CONTAINERS}/executeQuery",
    "execute": f"{_CONTAINERS}/executeStoredProcedure",
    "change-feed": f"{_CONTAINERS}/readChangeFeed",
    "feed": f"{_CONTAINERS}/readChangeFeed",
    "find-conflict": f"{_CONTAINERS}/manageConflicts",
    "list-conflicts": f"{_CONTAINERS}/manageConflicts",
}


class DataRole:
    """The role of all callers."""

    def __init__(self, settings: EmulatorSettings) -> None:
        self._settings = settings

    def check(self, operation: str, request: Request) -> None:
        """Raise 403/5300 if no role allows the operation, 403/5301 if this one does not."""
        granted = self._settings.rbac_actions
        for action in _needed(operation, request):
            if granted is not None and not any(fnmatchcase(action, pattern) for pattern in granted):
                raise CosmosError(
                    403,
                    "Request blocked by Auth: Request is blocked because principal [emulated] does not have required "
                    f"RBAC permissions to perform action [{action}] on resource [{_container(request.link)}]. "
                    "Learn more: https://aka.ms/cosmos-native-rbac.",
                    sub_status=NOT_GRANTED,
                )


def _needed(operation: str, request: Request) -> Iterable[str]:
    """Return the data actions. Raises 403/5300 for a management operation."""
    if operation == "batch":
        return [_ACTIONS[kind] for kind in _kinds(parse_operations(request.body)) if kind in _ACTIONS]
    if operation in RESOURCE_READS and request.link.kinds[-1] in _READABLE:
        return [_READ_METADATA]
    if operation in _ACTIONS:
        return [_ACTIONS[operation]]
    raise CosmosError(
        403,
        f"Request blocked by Auth: The given request [{request.verb} {_path(request.link)}] cannot be authorized by AAD"
        " token in data plane. Learn more: https://aka.ms/cosmos-native-rbac.",
        sub_status=NOT_AUTHORIZED,
    )


def _kinds(operations: json_text.Json) -> list[str]:
    """Return what the operations of a batch do. The batch itself rejects invalid ones."""
    entries = operations if isinstance(operations, list) else []
    return [str(entry.get("operationType")).lower() for entry in entries if isinstance(entry, dict)]


def _container(link: Link) -> str:
    """Return the path of the container or database, or `/`."""
    return "/" + "/".join(part for pair in zip(link.kinds[:2], link.ids[:2], strict=False) for part in pair)


def _path(link: Link) -> str:
    ids = iter(link.ids)
    return "".join(f"/{kind}/{next(ids, '')}" for kind in link.kinds).rstrip("/")
