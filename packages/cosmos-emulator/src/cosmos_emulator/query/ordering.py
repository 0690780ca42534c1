"""The order of values for ORDER BY, MIN and MAX.

undefined < null < false < true < numbers < strings < arrays < objects, as the SDKs merge partitions (.NET
CosmosElement, azure-cosmos document_producer.py). Strings compare by UTF-16 code unit, arrays and objects by a hash.
"""

from __future__ import annotations

from typing import TypeAlias

from cosmos_emulator.query.complex_order import complex_key
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined

SortKey: TypeAlias = "tuple[int, str | int | float | bytes]"

_LOWEST: SortKey = (0, 0)
_NULL: SortKey = (1, 0)
_LAST_OF_BASIC_PLANE = "\uffff"


def sort_key(value: JsonOrUndefined) -> SortKey:
    """Return a key that sorts in Python like the value in the service."""
    if type(value) is str:
        return (4, code_units(value))
    if type(value) is int or type(value) is float:
        return (3, value)
    if value is None:
        return _NULL
    if value is UNDEFINED:
        return _LOWEST
    if type(value) is bool:
        return (2, value)
    if type(value) is list:
        return array_key(complex_key(value))
    if isinstance(value, dict):
        return object_key(complex_key(value))
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def array_key(hashed: bytes) -> SortKey:
    """Return the key of an array with this hash."""
    return (5, hashed)


def object_key(hashed: bytes) -> SortKey:
    """Return the key of an object with this hash."""
    return (6, hashed)


def code_units(text: str) -> str:
    """Return a string that sorts by code point as the text does by UTF-16 code unit.

    Characters beyond the basic plane become surrogates.
    """
    if text.isascii() or max(text) <= _LAST_OF_BASIC_PLANE:
        return text
    return "".join(map(_surrogates, text))


def _surrogates(character: str) -> str:
    offset = ord(character) - 0x10000
    return character if offset < 0 else chr(0xD800 + (offset >> 10)) + chr(0xDC00 + (offset & 0x3FF))
