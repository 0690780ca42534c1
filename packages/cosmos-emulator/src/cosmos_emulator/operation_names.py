"""Operation names for fault rules, throttling and RBAC.

Item operations have the SDKs' short names, others the name of their file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

_OF_ITEMS: Final = {
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
ITEM_OPERATIONS: Final = frozenset(_OF_ITEMS.values())
ITEM_READS: Final = frozenset({"change-feed", "feed", "query", "read"})
METADATA_OPERATIONS: Final = frozenset({"find-conflict", "list-conflicts", "list-ranges", "plan-query", "read-account"})
RESOURCE_READS: Final = frozenset({"list-resources", "query-resources", "read-resource"})
RESOURCE_WRITES: Final = frozenset(
    {
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
    }
)
OPERATION_NAMES: Final = (
    ITEM_OPERATIONS | METADATA_OPERATIONS | RESOURCE_READS | RESOURCE_WRITES | {"delete-partition-key"}
)


def operation_name(operation: Callable[[Any], Awaitable[object]]) -> str:
    """Return the name of an operation, from its handler's module."""
    module = operation.__module__.rpartition(".")[2]
    return _OF_ITEMS.get(module) or module.replace("_", "-")
