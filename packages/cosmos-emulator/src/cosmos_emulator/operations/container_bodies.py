"""The bodies of requests that create or replace a container."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request

_LATEST: Final = "9999"
_KEYS_ARE_REQUIRED: Final = "2018-12-31"
# With it, later versions find the items of such containers (azure-cosmos-dotnet-v3, ContainerSettingsTests.cs).
_SYSTEM_KEY: Final[JsonObject] = {"paths": ["/_partitionKey"], "kind": "Hash", "systemKey": True}


def container_body(request: Request) -> JsonObject:
    """Return the body. Raises 400 without a partition key, which it can lack before version 2018-12-31."""
    body = request.json_object()
    if body.get("partitionKey") is None:
        if request.headers.get(h.VERSION, _LATEST) >= _KEYS_ARE_REQUIRED:
            raise CosmosError(400, "A container needs a 'partitionKey' definition.")
        body["partitionKey"] = dict(_SYSTEM_KEY)
    return body
