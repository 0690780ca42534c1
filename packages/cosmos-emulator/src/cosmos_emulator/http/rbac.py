"""The rights of a Microsoft Entra ID data role: use data and read metadata.

Source: learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac, "Permission model"; scripts and throughput cannot be
read. The error is recorded in github.com/Azure/azure-cosmos-dotnet-v3/issues/5014.
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.links import Link
from cosmos_emulator.http.operation_names import ITEM_OPERATIONS, METADATA_OPERATIONS, RESOURCE_READS

NOT_AUTHORIZED: Final = 5300
# Delete by partition key is an assumption.
_OF_DATA: Final = ITEM_OPERATIONS | METADATA_OPERATIONS | {"delete-partition-key"}
_READABLE: Final = ("dbs", "colls")


def check_identity(operation: str, method: str, link: Link) -> None:
    """Raise 403/5300 if data roles do not allow the operation."""
    if operation in _OF_DATA or (operation in RESOURCE_READS and link.kinds[-1] in _READABLE):
        return
    raise CosmosError(
        403,
        f"Request blocked by Auth: The given request [{method} {_path(link)}] cannot be authorized by AAD token in "
        "data plane. Learn more: https://aka.ms/cosmos-native-rbac.",
        sub_status=NOT_AUTHORIZED,
    )


def _path(link: Link) -> str:
    ids = iter(link.ids)
    return "".join(f"/{kind}/{next(ids, '')}" for kind in link.kinds).rstrip("/")
