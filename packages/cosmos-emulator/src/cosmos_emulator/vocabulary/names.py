"""Valid resource names (concepts-limits; azure-cosmos _base.py rejects more), and names of enumerations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json

_MAX_ITEM_ID_BYTES: Final = 1023
_MAX_NAME_CHARACTERS: Final = 255
_FORBIDDEN_IN_NAMES: Final = frozenset("/\\?#")


def checked_item_id(value: Json) -> str:
    """Return a valid item id: 1 to 1023 bytes. Raises 400.

    concepts-limits forbids slashes and backslashes, but the tests of the .NET, Java and Go SDKs create items with them
    (CosmosItemIdEncodingTestsBase.cs).
    """
    if not isinstance(value, str):
        raise CosmosError(400, "The input content is invalid because the required properties - 'id; ' - are missing.")
    if not value or len(value.encode()) > _MAX_ITEM_ID_BYTES:
        raise _wrong_length(value, _MAX_ITEM_ID_BYTES + 1)
    return value


def checked_name(value: Json) -> str:
    """Return a valid name of another resource: 1 to 255 characters. Raises 400."""
    if not isinstance(value, str):
        raise CosmosError(400, "The input content is invalid because the required properties - 'id; ' - are missing.")
    if not 0 < len(value) <= _MAX_NAME_CHARACTERS:
        raise _wrong_length(value, _MAX_NAME_CHARACTERS)
    if not _FORBIDDEN_IN_NAMES.isdisjoint(value) or not value.isprintable() or value.endswith(" "):
        raise CosmosError(
            400,
            f"The resource name {value!r} contains characters that are not allowed: '/\\?#', control characters or a "
            "space at its end.",
        )
    return value


def canonical(value: Json, names: Iterable[str]) -> str | None:
    """Return the name that equals the value, ignoring case as the service does; None if there is none."""
    return next((name for name in names if isinstance(value, str) and name.lower() == value.lower()), None)


def _wrong_length(name: str, limit: int) -> CosmosError:
    """Return the service's error (azure-cosmos test_resource_id.py)."""
    message = f"Ensure to provide a unique non-empty string less than '{limit}' characters."
    return CosmosError(400, f"The input name {name!r} is invalid. {message}")
