"""Resource tokens: signed grants of permissions, which expire.

A token contains what it grants, so it outlives its permission (an assumption). It names its container by rid, so it
never opens a later container of the same name.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import unquote

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import Request
from cosmos_emulator.store.resources import Resource, ResourceTable

PREFIX: Final = "type=resource&"
_DEFAULT_S: Final = 3600
_LONGEST_S: Final = 18000  # learn.microsoft.com/rest/api/cosmos-db/permissions


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of a token.

    They apply to the container with the rid `container` or to one resource in it (`kind` and `id`, otherwise empty), if
    `key` is set only to this partition key.
    """

    container: str
    kind: str
    id: str
    key: list[Json] | None
    may_write: bool
    expires_at: float


def with_token(request: Request, permission: Resource) -> JsonObject:
    """Return the body of a permission with a new token. Raises 400 for an invalid expiry."""
    gateway, body = request.gateway, permission.body
    container, kind, resource_id = _target(gateway.account.resources, str(body["resource"]))
    key = body.get("resourcePartitionKey")
    grant = Grant(
        container,
        kind,
        resource_id,
        key if isinstance(key, list) else None,
        str(body["permissionMode"]).lower() == "all",
        gateway.settings.clock() + token_lifetime_s(request),
    )
    payload = json_text.dump(asdict(grant))
    signature = _signature(gateway.settings.key, payload)
    token = f"{PREFIX}ver=1.0&sig={signature};{base64.b64encode(payload).decode()};"
    return {**body, "_token": token}


def read_token(token: str, key: str, clock: Callable[[], float]) -> Grant:
    """Return what an unquoted authorization header grants. Raises 401 if it is forged, 403 if it has expired."""
    signature, _, payload = token.rpartition("&sig=")[2].rstrip(";").partition(";")
    try:
        data = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not hmac.compare_digest(signature.encode(errors="replace"), _signature(key, data).encode()):
        raise CosmosError(401, "The resource token is malformed, or it was not issued with this account's key.")
    grant = Grant(**json_text.parse_stored(data))  # type: ignore[arg-type] # signed, so written by `with_token`
    if clock() >= grant.expires_at:
        raise CosmosError(403, "The authorization token has expired. Read the permission again for a new token.")
    return grant


def container_rid(resources: ResourceTable, ids: Sequence[str]) -> str:
    """Return the rid of the container with these names or rids of its database and itself; empty if missing."""
    database = resources.find("dbs", "", ids[0])
    by_name = None if database is None else resources.find("colls", database.rid, ids[1])
    container = by_name or resources.find_rid("colls", ids[1])
    return "" if container is None else container.rid


def _target(resources: ResourceTable, link: str) -> tuple[str, str, str]:
    """Return the container's rid, and the kind and id of a resource in it; empty if missing.

    SDKs differ in whether the link is percent-encoded.
    """
    for text in (link, unquote(link)):
        match text.strip("/").split("/"):
            case [_, database, _, container] if rid := container_rid(resources, (database, container)):
                return rid, "", ""
            case [_, database, _, container, kind, name] if rid := container_rid(resources, (database, container)):
                return rid, kind, name
    return "", "", ""


def token_lifetime_s(request: Request) -> int:
    """Return how long the request wants a token to be valid. Raises 400."""
    text = request.headers.get(h.EXPIRY_SECONDS, str(_DEFAULT_S))
    if not re.fullmatch(r"\d{1,5}", text) or not 0 < int(text) <= _LONGEST_S:
        raise CosmosError(400, f"The header {h.EXPIRY_SECONDS} must be a number from 1 to {_LONGEST_S}, not {text!r}.")
    return int(text)


def _signature(key: str, payload: bytes) -> str:
    digest = hmac.digest(base64.b64decode(key), b"resource token\n" + payload, "sha256")
    return base64.b64encode(digest).decode()
