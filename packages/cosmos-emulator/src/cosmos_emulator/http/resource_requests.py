"""Code shared by the operations on databases, containers, scripts and offers."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.messages import Request
from cosmos_emulator.store.resources import Resource

_FEED_NAMES: Final = {
    "dbs": "Databases",
    "colls": "DocumentCollections",
    "sprocs": "StoredProcedures",
    "triggers": "Triggers",
    "udfs": "UserDefinedFunctions",
    "offers": "Offers",
}


def feed_members(request: Request) -> tuple[str, str, list[Resource]]:
    """Return the owner's rid, the feed's name and its members. Raises 404."""
    kind = request.link.kinds[-1]
    owner = owner_rid(request)
    return owner, _FEED_NAMES[kind], request.gateway.account.resources.children(kind, owner)


def owner_rid(request: Request) -> str:
    """Return the rid of the resource's owner; empty for the account."""
    match request.link.kinds[-1]:
        case "dbs" | "offers":
            return ""
        case "colls":
            return request.database.rid
        case _:
            return request.container.rid


def check_if_match(request: Request, resource: Resource) -> None:
    """Raise 412 unless `If-Match` is absent, `*` or the etag."""
    if_match = request.headers.get(h.IF_MATCH)
    if if_match and if_match != "*" and not _same(if_match, resource):
        raise CosmosError(412, "One of the specified pre-condition is not met.")


def is_unchanged(request: Request, resource: Resource) -> bool:
    """Return whether `If-None-Match` is the current etag."""
    if_none_match = request.headers.get(h.IF_NONE_MATCH)
    return if_none_match is not None and _same(if_none_match, resource)


def _same(etag: str, resource: Resource) -> bool:
    return etag.strip('"') == resource.etag.strip('"')
