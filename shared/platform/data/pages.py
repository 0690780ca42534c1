"""Pages of a list, ordered by creationDate and ID.

A cursor is the position of a page's last row in that order. It names neither partition nor container, so a forged one
cannot reach another list, and it stays valid while items are added and deleted.
"""

from __future__ import annotations

import base64
import json
import logging
import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from shared.platform.database.container import Container
from shared.platform.errors import ItemDamaged, MalformedRequest
from shared.platform.models import Item, Resource, is_item_id
from shared.platform.telemetry import log

# Items from other sources can have dates in other formats.
_DATE = re.compile(r"[\w ,/:.()+-]{1,80}", re.ASCII)

AnyCursor = TypeVar("AnyCursor")


@dataclass(frozen=True)
class Cursor:
    """The position after the item with this date and ID."""

    creation_date: str
    id: str

    def __str__(self) -> str:
        text = json.dumps([self.creation_date, self.id], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Parse a `nextCursor`. Raises MalformedRequest."""
        try:
            padded = text + "=" * (-len(text) % 4)
            match json.loads(base64.b64decode(padded, altchars=b"-_", validate=True)):
                case [str(creation_date), str(item_id)] if _DATE.fullmatch(creation_date) and is_item_id(item_id):
                    return cls(creation_date, item_id)
            raise ValueError(text)
        except (ValueError, RecursionError) as error:
            raise MalformedRequest("The cursor is not a nextCursor of this list; start again without one.") from error


@dataclass(frozen=True)
class Page(Generic[AnyCursor]):
    """Items of a list, and the cursor of the next page if there is one."""

    items: list[Item]
    next_cursor: AnyCursor | None


async def read_page(
    container: Container,
    resource: type[Resource],
    partition_key: str,
    *types: str,
    limit: int,
    cursor: Cursor | None,
    oldest_first: bool = False,
) -> Page[Cursor]:
    """Read a page of the items of `types` in one logical partition, the last type first.

    The container needs a composite index of `type`, `creationDate` and `id`, all descending.

    One query for `limit` + 1 items; the extra one shows whether there is another page.
    """
    rows = await in_order(
        container,
        resource,
        partition_key,
        *types,
        limit=limit + 1,
        cursor=cursor,
        oldest_first=oldest_first,
    )
    after = cursor_after(rows[:limit]) if len(rows) > limit else None
    return Page(without_damaged(resource, rows[:limit]), after)


def cursor_after(rows: list[Item]) -> Cursor | None:
    """Return the position of the last row with a valid date, because rows can be damaged."""
    for row in reversed(rows):
        date = row.get("creationDate")
        if isinstance(date, str) and _DATE.fullmatch(date):
            return Cursor(date, row["id"])
    return None


def without_damaged(resource: type[Resource], rows: list[Item]) -> list[Item]:
    """Omit and log damaged items, so that one of them does not hide the others."""
    # A tombstone has another type.
    return [row for row in rows if row.get("type") != resource.TYPE or is_readable(resource, row)]


def is_readable(resource: type[Resource], item: Item) -> bool:
    """Return whether a response can show the item. A damaged one is logged."""
    try:
        resource.from_item(item)
    except ItemDamaged as error:
        log(logging.ERROR, "damaged item left out", reason=error.reason)
        return False
    return True


async def in_order(
    container: Container,
    resource: type[Resource],
    partition_key: str,
    *types: str,
    limit: int,
    cursor: Cursor | None,
    oldest_first: bool = False,
) -> list[Item]:
    """Return at most `limit` items of `types` in one logical partition, after `cursor`: one query.

    They are ordered by type, then newest first; with `oldest_first`, the reverse. Only an order that starts with the
    filtered property reads no index entries of other types
    (https://learn.microsoft.com/azure/cosmos-db/index-policy).
    """
    parameters: dict[str, Any] = {f"type{index}": type_ for index, type_ in enumerate(types)}
    of_types = "(" + " OR ".join(f"c.type = @{name}" for name in parameters) + ") "
    parameters["limit"] = limit
    after, order, compared = "", *(("ASC", ">") if oldest_first else ("DESC", "<"))
    if cursor is not None:
        # The first comparison uses the index; the second breaks ties.
        after = f"AND c.creationDate {compared}= @date AND (c.creationDate {compared} @date OR c.id {compared} @id) "
        parameters |= {"date": cursor.creation_date, "id": cursor.id}
    return await container.query(
        f"SELECT {resource.projection()} FROM c WHERE {of_types}{after}"  # noqa: S608 - constants
        f"ORDER BY c.type {order}, c.creationDate {order}, c.id {order} OFFSET 0 LIMIT @limit",
        parameters,
        partition_key=partition_key,
        page_size=limit,
    )
