"""Feeds of what is no item: whose children a link means, and the name under which a feed lists them."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.store.resources import Resource
from cosmos_emulator.wire import Request

FEED_NAMES: Final = {
    "dbs": "Databases",
    "colls": "DocumentCollections",
    "sprocs": "StoredProcedures",
    "triggers": "Triggers",
    "udfs": "UserDefinedFunctions",
    "offers": "Offers",
}


def feed_members(request: Request) -> tuple[str, str, list[Resource]]:
    """The owner's rid, the feed's name and its members; 404 without the owner."""
    kind = request.link.kinds[-1]
    owner = owner_rid(request)
    return owner, FEED_NAMES[kind], request.gateway.account.resources.children(kind, owner)


def owner_rid(request: Request) -> str:
    """The rid of the database or container that the link's last resource lies in; empty for the account."""
    match request.link.kinds[-1]:
        case "dbs" | "offers":
            return ""
        case "colls":
            return request.database.rid
        case _:
            return request.container.rid
