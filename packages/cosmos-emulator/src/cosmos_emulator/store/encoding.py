"""Encodes values as bytes that sort like ORDER BY (query/ordering.py).

An encoding is a type tag and a payload:
- numbers: the bits of the double with the sign folded in and, for large integers, the difference from it;
- strings: the UTF-16 code units, encoded as in UTF-8, and an end marker that sorts before other bytes.

No encoding is a prefix of another, so they can be concatenated. Inverted encodings sort in reverse. Long strings,
arrays and objects are truncated, so not *exact*.
"""

from __future__ import annotations

import struct
from typing import Final

from cosmos_emulator.query.ordering import code_units
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, as_double

UNDEFINED_TAG: Final = b"\x10"
NULL_TAG: Final = b"\x20"
FALSE_TAG: Final = b"\x30"
TRUE_TAG: Final = b"\x31"
NUMBER_TAG: Final = b"\x40"
STRING_TAG: Final = b"\x50"
ARRAY_TAG: Final = b"\x60"
OBJECT_TAG: Final = b"\x70"

_END: Final = b"\x00"
_CUT: Final = b"\x01"  # truncation; sorts after the end marker
_ESCAPES: Final = ((b"\x01", b"\x01\x02"), (b"\x00", b"\x01\x01"))  # keep the order
_LONGEST: Final = 512  # bytes of a string
_SIGN: Final = 1 << 63
_ALL: Final = (1 << 64) - 1
_MIDDLE: Final = 0x8000
_LONG_INTEGER: Final = 1 << 64  # larger stored numbers are doubles
_NUMBER: Final = struct.Struct(">QH")
_DOUBLE: Final = struct.Struct(">d")
_BITS: Final = struct.Struct(">Q")
_INVERTED: Final = bytes(255 - byte for byte in range(256))
_CONSTANTS: Final = {UNDEFINED: UNDEFINED_TAG, None: NULL_TAG, False: FALSE_TAG, True: TRUE_TAG}


def encoded(value: JsonOrUndefined) -> tuple[bytes, bool]:
    """Return a value's encoding, and whether it is exact."""
    if type(value) is str:
        text = string_bytes(value)
        if len(text) > _LONGEST:
            return STRING_TAG + text[:_LONGEST] + _CUT, False
        return STRING_TAG + text + _END, True
    if type(value) is int or type(value) is float:
        return NUMBER_TAG + _number_bytes(value), True
    if type(value) is list:
        return ARRAY_TAG, False
    if type(value) is dict:
        return OBJECT_TAG, False
    return _CONSTANTS[value], True  # type: ignore[index]  # hashable


def beginning_of(text: str) -> bytes:
    """Return the common prefix of all strings that start with `text`."""
    return STRING_TAG + string_bytes(text)[:_LONGEST]


def string_bytes(text: str) -> bytes:
    """Return a string's payload, without end marker."""
    data = code_units(text).encode("utf-8", "surrogatepass")
    for byte, escaped in _ESCAPES:
        data = data.replace(byte, escaped)
    return data


def inverted(data: bytes) -> bytes:
    """Return bytes that sort in reverse."""
    return data.translate(_INVERTED)


def successor(data: bytes) -> bytes:
    """Return the lowest bytes after every string with the prefix `data`, which must not be all FF."""
    trimmed = data.rstrip(b"\xff")
    return trimmed[:-1] + bytes((trimmed[-1] + 1,))


def end_of_value(data: bytes, start: int, *, descending: bool) -> int:
    """Return the end of the encoding at `start`."""
    tag = data[start] ^ (0xFF if descending else 0)
    if tag == NUMBER_TAG[0]:
        return start + 1 + _NUMBER.size
    if tag != STRING_TAG[0]:
        return start + 1
    found = data.find(b"\xff" if descending else _END, start + 1)
    return len(data) if found < 0 else found + 1


def _number_bytes(value: int | float) -> bytes:
    double = as_double(value) + 0.0  # turns -0.0 into 0
    (bits,) = _BITS.unpack(_DOUBLE.pack(double))
    rest = value - int(double) if type(value) is int and abs(value) < _LONG_INTEGER else 0
    return _NUMBER.pack(bits ^ (_ALL if bits & _SIGN else _SIGN), _MIDDLE + rest)
