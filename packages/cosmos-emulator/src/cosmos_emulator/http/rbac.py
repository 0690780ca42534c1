"""What an identity of Entra ID may do: use data and read metadata, but manage nothing.

Source: learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac, "Permission model": databases and containers are not
created, replaced or deleted with such an identity, scripts and throughput not even read. The refusal is as recorded in
github.com/Azure/azure-cosmos-dotnet-v3/issues/5014 and github.com/dapr/components-contrib/issues/1603.
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.links import Link
from cosmos_emulator.http.operation_names import ITEM_OPERATIONS, METADATA_OPERATIONS, RESOURCE_READS

NOT_AUTHORIZED: Final = 5300
# That the whole-partition delete is among the data operations is an assumption: it is no management of a container.
_OF_DATA: Final = ITEM_OPERATIONS | METADATA_OPERATIONS | {"delete-partition-key"}
_READABLE: Final = ("dbs", "colls")


def check_identity(operation: str, method: str, link: Link) -> None:
    """403/5300 for an operation that no data-plane role allows; `operation` is its name."""
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
