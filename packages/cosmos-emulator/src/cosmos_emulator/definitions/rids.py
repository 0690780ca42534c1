"""Resource ids (`_rid`): the bytes of a resource and its ancestors, in base64 with `-` for `/`.

A database has 4 bytes. A container adds 4 with the top bit set; a resource in it, 8: a little-endian number with the
kind in the highest four bits (vercel/cosmosdb-server resource-id.ts; azure-cosmos _base.py).
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

DOCUMENT, RANGE, UDF, TRIGGER, STORED_PROCEDURE = 0, 5, 6, 7, 8  # 4: conflicts
PERMISSION = 0  # in a user


def encode(raw: bytes) -> str:
    """Return the text of a rid."""
    return base64.b64encode(raw).decode().replace("/", "-")


def decode(rid: str) -> bytes | None:
    """Return the bytes of a rid; None if the text is not a rid."""
    try:
        return base64.b64decode(rid.replace("-", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None


def is_database_rid(segment: str) -> bool:
    """Return whether a link's second segment is a rid."""
    return len(segment) == 8 and len(decode(segment) or b"") == DATABASE_BYTES


def database_rid(number: int) -> str:
    """Return a database's rid; `number` is below 2**32."""
    return encode(number.to_bytes(DATABASE_BYTES, "big"))


def container_rid(database: str, number: int) -> str:
    """Return a container's rid; `number` is below 2**31."""
    raw = decode(database)
    if raw is None:
        raise ValueError(f"{database!r} is not the rid of a database")
    return encode(raw + (_CONTAINER_BIT | number).to_bytes(4, "big"))


def user_rid(database: str, number: int) -> str:
    """Return a user's rid, a container's without the top bit; `number` is below 2**31."""
    raw = decode(database)
    if raw is None:
        raise ValueError(f"{database!r} is not the rid of a database")
    return encode(raw + number.to_bytes(4, "big"))


def child_rid(container: str, kind: int, number: int) -> str:
    """Return the rid of a resource in a container, or of a user's permission; `number` is below 2**60."""
    raw = decode(container)
    if raw is None:
        raise ValueError(f"{container!r} is not the rid of a container")
    return encode(raw + (kind << _KIND_SHIFT | number).to_bytes(8, "little"))


def is_within(rid: str, container: str) -> bool:
    """Return whether a rid belongs to this container."""
    return (decode(rid) or b"")[:CONTAINER_BYTES] == decode(container)


def child_number(rid: str, kind: int) -> int | None:
    """Return `child_rid`'s number, or None for a rid of another kind."""
    raw = decode(rid)
    if raw is None or len(raw) != CHILD_BYTES:
        return None
    value = int.from_bytes(raw[CONTAINER_BYTES:], "little")
    return value & _NUMBER_MASK if value >> _KIND_SHIFT == kind else None
