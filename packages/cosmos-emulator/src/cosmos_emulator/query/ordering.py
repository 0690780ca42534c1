"""The order of values for ORDER BY, MIN and MAX.

undefined < null < false < true < numbers < strings < arrays < objects, as the SDKs merge partitions (.NET
CosmosElement, azure-cosmos document_producer.py). Strings compare by UTF-16 code unit. For arrays and objects, the
service documents no order; here, arrays compare by element and objects by properties sorted by name.
"""

from __future__ import annotations

from typing import TypeAlias

from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined

SortKey: TypeAlias = "tuple[int, str | int | float | tuple[object, ...]]"

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
        return (5, tuple(map(sort_key, value)))
    if isinstance(value, dict):
        return (6, tuple(sorted((code_units(name), sort_key(member)) for name, member in value.items())))
    raise TypeError(f"{type(value).__name__} is not a JSON type")


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
