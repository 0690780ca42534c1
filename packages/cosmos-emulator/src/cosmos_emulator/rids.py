"""Resource ids (`_rid`): bytes that name a resource and its ancestors, as base64 with `-` for `/`.

A database has 4 bytes, a container its database's and 4 more with the top bit set, everything inside a container 8
more: a little-endian number whose highest four bits are the resource's kind (azure-cosmos _base.py for how links
are told apart; the layout of the bytes is the one vercel/cosmosdb-server documents in resource-id.ts).
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

DATABASE_BYTES: Final = 4
CONTAINER_BYTES: Final = 8
CHILD_BYTES: Final = 16
_CONTAINER_BIT: Final = 1 << 31
_KIND_SHIFT: Final = 60
_NUMBER_MASK: Final = (1 << _KIND_SHIFT) - 1

DOCUMENT, CONFLICT, RANGE, UDF, TRIGGER, STORED_PROCEDURE = 0, 4, 5, 6, 7, 8


def encode(raw: bytes) -> str:
    """The text of a rid."""
    return base64.b64encode(raw).decode().replace("/", "-")


def decode(rid: str) -> bytes | None:
    """The bytes of a rid, or None when the text is none."""
    try:
        return base64.b64decode(rid.replace("-", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None


def is_database_rid(segment: str) -> bool:
    """Whether the second segment of a link makes it a rid link: eight characters that are four bytes."""
    return len(segment) == 8 and len(decode(segment) or b"") == DATABASE_BYTES


def database_rid(number: int) -> str:
    """`number` is below 2**32."""
    return encode(number.to_bytes(DATABASE_BYTES, "big"))


def container_rid(database: str, number: int) -> str:
    """`number` counts containers and is below 2**31."""
    raw = decode(database)
    if raw is None:
        raise ValueError(f"{database!r} is not the rid of a database")
    return encode(raw + (_CONTAINER_BIT | number).to_bytes(4, "big"))


def child_rid(container: str, kind: int, number: int) -> str:
    """The rid of a document, script or range; `number` is below 2**60."""
    raw = decode(container)
    if raw is None:
        raise ValueError(f"{container!r} is not the rid of a container")
    return encode(raw + (kind << _KIND_SHIFT | number).to_bytes(8, "little"))


def is_within(rid: str, container: str) -> bool:
    """Whether a rid is that of a child of this container."""
    return (decode(rid) or b"")[:CONTAINER_BYTES] == decode(container)


def child_number(rid: str, kind: int) -> int | None:
    """The number that `child_rid` was given, or None when the text is no rid of that kind."""
    raw = decode(rid)
    if raw is None or len(raw) != CHILD_BYTES:
        return None
    value = int.from_bytes(raw[CONTAINER_BYTES:], "little")
    return value & _NUMBER_MASK if value >> _KIND_SHIFT == kind else None
