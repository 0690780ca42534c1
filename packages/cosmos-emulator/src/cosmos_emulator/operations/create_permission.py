"""POST /dbs/{db}/users/{user}/permissions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.links import parse_link
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.resource_tokens import token_lifetime_s, with_token
from cosmos_emulator.operations.resource_requests import user_of
from cosmos_emulator.store.resources import Resource
from cosmos_emulator.vocabulary.names import checked_name

_MODES: Final = ("all", "read")  # azure-cosmos sends lower case, others capitalize (documents.py)


def checked_permission(request: Request, user: Resource, present: Resource | None = None) -> JsonObject:
    """Return a valid body. Raises 400, and 409 if another permission of the user is for the same resource."""
    token_lifetime_s(request)  # raises before the write
    others = request.gateway.account.resources.children("permissions", user.rid)
    return checked_body(request.json_object(), [other for other in others if other is not present])


def checked_body(given: JsonObject, others: Sequence[Resource]) -> JsonObject:
    """Return a valid body of a permission. Raises 400, and 409 if one of the others is for the same resource."""
    body = {name: value for name, value in given.items() if name != "_token"}
    checked_name(body.get("id"))
    if str(body.get("permissionMode")).lower() not in _MODES:
        raise CosmosError(400, f"The permissionMode must be All or Read, not {body.get('permissionMode')!r}.")
    resource, key = body.get("resource"), body.get("resourcePartitionKey")
    link = parse_link("/" + resource.strip("/")) if isinstance(resource, str) else None
    if link is None or link.kinds[:2] != ("dbs", "colls") or not 2 <= len(link.ids) == len(link.kinds) <= 3:
        raise CosmosError(400, "The resource must be the link of a container or of a resource in it, dbs/d/colls/c.")
    if key is not None and not isinstance(key, list):
        raise CosmosError(400, "The resourcePartitionKey must be an array, such as ['key'].")
    for other in others:
        if (other.body["resource"], other.body.get("resourcePartitionKey")) == (resource, key):
            raise CosmosError(409, f"The user has another permission, '{other.id}', for this resource.")
    return body


def permission_answer(request: Request, status: int, permission: Resource) -> Answer:
    """Return a permission with a new token."""
    return resource_answer(status, permission, body=with_token(request, permission))


async def handle(request: Request) -> Answer:
    """Create a permission (201). Raises 400, 404, 409."""
    user = user_of(request)
    body = checked_permission(request, user)
    return permission_answer(request, 201, request.gateway.account.add_permission(user, body))
