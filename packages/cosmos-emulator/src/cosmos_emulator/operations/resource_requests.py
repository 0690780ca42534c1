"""Code shared by the operations on databases, containers, scripts, offers, users and permissions."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.errors import OWNER_MISSING, CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.request import NOT_FOUND, Request
from cosmos_emulator.messages.resource_tokens import with_token
from cosmos_emulator.reads.paging import decode_continuation, encode_continuation, malformed_continuation
from cosmos_emulator.store.resources import Resource

_FEED_NAMES: Final = {
    "dbs": "Databases",
    "colls": "DocumentCollections",
    "sprocs": "StoredProcedures",
    "triggers": "Triggers",
    "udfs": "UserDefinedFunctions",
    "offers": "Offers",
    "permissions": "Permissions",
    "users": "Users",
}


def feed_members(request: Request) -> tuple[str, str, list[Resource]]:
    """Return the owner's rid, the feed's name and its members. Raises 404."""
    kind = request.link.kinds[-1]
    owner = owner_rid(request)
    return owner, _FEED_NAMES[kind], request.gateway.account.resources.children(kind, owner)


def feed_page(request: Request, rows: list[tuple[str, bytes]]) -> tuple[list[bytes], dict[str, str]]:
    """Return a page of the rows, and the header to continue. Raises 400.

    Each row has a key. Pages are in the order of the keys, so that a client can delete what it has read.
    """
    after = decode_continuation(request.headers.get(h.CONTINUATION)).get("after", "")
    if not isinstance(after, str):
        raise malformed_continuation()
    size = request.page_size if h.MAX_ITEM_COUNT in request.headers else len(rows)
    if after or len(rows) > size:
        rows = sorted(row for row in rows if row[0] > after)
    page = rows[:size]
    headers = {h.CONTINUATION: encode_continuation({"after": page[-1][0]})} if len(rows) > size else {}
    return [body for _, body in page], headers


def owner_rid(request: Request) -> str:
    """Return the rid of the resource's owner; empty for the account."""
    match request.link.kinds[-1]:
        case "dbs" | "offers":
            return ""
        case "colls" | "users":
            return request.database.rid
        case "permissions":
            return user_of(request).rid
        case _:
            return request.container.rid


def user_of(request: Request) -> Resource:
    """Return the user in the link of a permission or its feed. Raises 404."""
    resources, name, database = request.gateway.account.resources, request.link.ids[1], request.database
    found = resources.find_rid("users", name) if request.link.by_rid else resources.find("users", database.rid, name)
    if found is None or found.parent != database.rid:
        raise CosmosError(404, NOT_FOUND, sub_status=OWNER_MISSING)
    return found


def shown_body(request: Request, resource: Resource) -> JsonObject:
    """Return the body to send: a permission's with a new token."""
    return with_token(request, resource) if resource.kind == "permissions" else resource.body


def check_if_match(request: Request, resource: Resource) -> None:
    """Raise 412 unless `If-Match` is absent, `*` or the etag."""
    if_match = request.headers.get(h.IF_MATCH)
    if if_match and if_match != "*" and not _same(if_match, resource):
        raise CosmosError(412, "One of the specified pre-condition is not met.")


def is_unchanged(request: Request, resource: Resource) -> bool:
    """Return whether `If-None-Match` is `*` or the current etag."""
    if_none_match = request.headers.get(h.IF_NONE_MATCH)
    return if_none_match == "*" or (if_none_match is not None and _same(if_none_match, resource))


def _same(etag: str, resource: Resource) -> bool:
    return etag.strip('"') == resource.etag.strip('"')
