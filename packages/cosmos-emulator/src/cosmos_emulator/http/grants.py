"""The operations that a resource token allows.

Sources: learn.microsoft.com/rest/api/cosmos-db/permissions; azure-cosmos test_crud.py, test_authorization and
test_partitioned_collection_permissions. The message is recorded in azure-sdk-for-python issue 8890.
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.resource_tokens import Grant, container_rid
from cosmos_emulator.vocabulary.operation_names import ITEM_OPERATIONS, RESOURCE_READS

# SDKs need these to route any other request, so a token for an item allows them too.
_ROUTING: Final = frozenset({"list-ranges", "plan-query"})
_READS: Final = RESOURCE_READS | {"change-feed", "feed", "find-conflict", "list-conflicts", "query", "read"}


def check_grant(grant: Grant, request: Request, operation: str) -> None:
    """Raise 403 unless the grant allows the operation."""
    if operation != "read-account" and not _allows(grant, request, operation):
        raise CosmosError(
            403,
            "Insufficient permissions provided in the authorization header for the corresponding request. "
            "Please retry with another authorization header.",
        )


def _allows(grant: Grant, request: Request, operation: str) -> bool:
    link = request.link
    if link.kinds[:2] != ("dbs", "colls") or len(link.ids) < 2:
        return False
    container = container_rid(request.gateway.account.resources, link.ids)
    if not container or container != grant.container:
        return False
    kind, resource_id = (link.kinds[2], link.ids[2]) if len(link.ids) > len(("dbs", "colls")) else ("", "")
    if operation in _ROUTING or (operation == "read-resource" and link.kinds == ("dbs", "colls")):
        return True
    if operation not in _READS and not grant.may_write:
        return False
    if grant.kind and (grant.kind, grant.id) != (kind, resource_id):
        return False
    return grant.key is None or _is_within_key(grant.key, request, operation)


def _is_within_key(granted: list[Json], request: Request, operation: str) -> bool:
    """Return whether the request names the granted key, or one below a granted prefix."""
    if operation not in ITEM_OPERATIONS:
        return operation in RESOURCE_READS
    if operation == "batch" and request.headers.get(h.BATCH_ATOMIC, "").lower() == "false":
        return False  # each operation has its own key
    container = request.container
    key = request.optional_partition_key(container)
    if key is None:
        return False
    wanted = container.definition.partition_key.of_values(granted).components
    return key.components[: len(wanted)] == wanted
