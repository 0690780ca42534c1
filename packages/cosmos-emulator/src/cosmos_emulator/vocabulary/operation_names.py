"""Operation names for fault rules, throttling and RBAC.

Item operations have the SDKs' short names, others the name of their file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, cast, get_args

ItemOperation = Literal[
    "batch", "change-feed", "create", "delete", "execute", "feed", "patch", "query", "read", "replace", "upsert"
]
MetadataOperation = Literal["find-conflict", "list-conflicts", "list-ranges", "plan-query", "read-account"]
ResourceRead = Literal["list-resources", "query-resources", "read-resource"]
ResourceWrite = Literal[
    "create-container",
    "create-database",
    "create-permission",
    "create-script",
    "create-user",
    "delete-container",
    "delete-database",
    "delete-permission",
    "delete-script",
    "delete-user",
    "replace-container",
    "replace-offer",
    "replace-permission",
    "replace-script",
    "replace-user",
    "upsert-permission",
    "upsert-user",
]
OperationName = Literal[ItemOperation, MetadataOperation, ResourceRead, ResourceWrite, "delete-partition-key"]

_OF_ITEMS: Final[dict[str, ItemOperation]] = {
    "create_item": "create",
    "delete_item": "delete",
    "execute_batch": "batch",
    "execute_stored_procedure": "execute",
    "list_changes": "change-feed",
    "list_items": "feed",
    "patch_item": "patch",
    "query_items": "query",
    "read_item": "read",
    "replace_item": "replace",
    "upsert_item": "upsert",
}
ITEM_OPERATIONS: Final[frozenset[str]] = frozenset(get_args(ItemOperation))
ITEM_READS: Final = frozenset({"change-feed", "feed", "query", "read"})
METADATA_OPERATIONS: Final[frozenset[str]] = frozenset(get_args(MetadataOperation))
RESOURCE_READS: Final[frozenset[str]] = frozenset(get_args(ResourceRead))
OPERATION_NAMES: Final[frozenset[str]] = frozenset(get_args(OperationName))


def operation_name(operation: Callable[[Any], Awaitable[object]]) -> OperationName:
    """Return the name of an operation, from its handler's module."""
    module = operation.__module__.rpartition(".")[2]
    return _OF_ITEMS.get(module) or cast("OperationName", module.replace("_", "-"))
