"""Effective partition keys (EPK): hashed partition keys, as upper-case hexadecimal text.

Sources: azure-cosmos partition_key.py and _cosmos_murmurhash3.py; the algorithm is Austin Appleby's public-domain
MurmurHash3.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, final

_MASK_32: Final = 0xFFFFFFFF
_MASK_64: Final = 0xFFFFFFFFFFFFFFFF
_V1_HASHED_CHARACTERS: Final = 100


@final
class UndefinedKey:
    """The key of an item without a value, or with an object, at the path."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED_KEY"


UNDEFINED_KEY: Final = UndefinedKey()
KeyComponent = str | int | float | bool | UndefinedKey | None


def effective_partition_key_v2(components: Sequence[KeyComponent]) -> str:
    """Return 32 digits for all components (`kind: Hash`, `version: 2`)."""
    hashed = bytearray(reversed(murmur3_128(b"".join(_binary(component, b"\xff") for component in components))))
    hashed[0] &= 0x3F  # below "FF", the exclusive end
    return hashed.hex().upper()


def effective_partition_key_multi(components: Sequence[KeyComponent]) -> str:
    """Return 32 digits per component (`kind: MultiHash`); a key prefix gives an EPK prefix."""
    return "".join(effective_partition_key_v2([component]) for component in components)


def effective_partition_key_v1(components: Sequence[KeyComponent]) -> str:
    """Return the hash as a number, then the values cut to 100 characters (`version: 1`)."""
    cut = [part[:_V1_HASHED_CHARACTERS] if isinstance(part, str) else part for part in components]
    hashed = _murmur3_32(b"".join(_binary(component, b"\x00") for component in cut))
    return b"".join(_ordered(component) for component in [float(hashed), *cut]).hex().upper()


def v1_boundary(hashed: int) -> str:
    """Return the first EPK with a hash of version 1."""
    return _ordered(float(hashed)).hex().upper()


def _binary(component: KeyComponent, string_end: bytes) -> bytes:
    match component:
        case UndefinedKey():
            return b"\x00"
        case None:
            return b"\x01"
        case bool():
            return b"\x03" if component else b"\x02"
        case int() | float():
            return b"\x05" + struct.pack("<d", component)
        case str():
            return b"\x08" + component.encode() + string_end


def _ordered(component: KeyComponent) -> bytes:
    match component:
        case int() | float() if not isinstance(component, bool):
            return b"\x05" + _ordered_number(component)
        case str():
            text = component.encode()
            short = len(text) <= _V1_HASHED_CHARACTERS
            return b"\x08" + bytes(byte + 1 for byte in text[: _V1_HASHED_CHARACTERS + 1]) + b"\x00" * short
        case _:
            return _binary(component, b"")


def _ordered_number(value: float) -> bytes:
    """Return 8 bits of the double, then 7 at a time, each followed by 1 if more follow, else 0."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    payload = bits ^ (1 << 63) if bits < 1 << 63 else (~bits + 1) & _MASK_64
    encoded = bytearray([payload >> 56])
    payload = payload << 8 & _MASK_64
    while payload:
        encoded.append(payload >> 56 | 1)
        payload = payload << 7 & _MASK_64
    if len(encoded) == 1:
        encoded.append(0)
    encoded[-1] &= 0xFE
    return bytes(encoded)


def _rotate_left(value: int, by: int, width: int) -> int:
    return (value << by | value >> width - by) & ((1 << width) - 1)


def _murmur3_32(data: bytes) -> int:
    def scrambled(block: int) -> int:
        return _rotate_left(block * 0xCC9E2D51 & _MASK_32, 15, 32) * 0x1B873593 & _MASK_32

    hashed, whole = 0, len(data) & ~3
    for (block,) in struct.iter_unpack("<I", data[:whole]):
        hashed = (_rotate_left(hashed ^ scrambled(block), 13, 32) * 5 + 0xE6546B64) & _MASK_32
    if whole < len(data):
        hashed ^= scrambled(int.from_bytes(data[whole:], "little"))
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _MASK_32
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _MASK_32
    return hashed ^ hashed >> 16


_C1: Final = 0x87C37B91114253D5
_C2: Final = 0x4CF5AD432745937F


def murmur3_128(data: bytes, seed: bytes = bytes(16)) -> bytes:
    """Return MurmurHash3 x64 128: two little-endian halves, like the seed."""
    h1, h2 = struct.unpack("<QQ", seed)
    whole = len(data) & ~15
    for k1, k2 in struct.iter_unpack("<QQ", data[:whole]):
        h1 ^= _rotate_left(k1 * _C1 & _MASK_64, 31, 64) * _C2 & _MASK_64
        h1 = ((_rotate_left(h1, 27, 64) + h2) * 5 + 0x52DCE729) & _MASK_64
        h2 ^= _rotate_left(k2 * _C2 & _MASK_64, 33, 64) * _C1 & _MASK_64
        h2 = ((_rotate_left(h2, 31, 64) + h1) * 5 + 0x38495AB5) & _MASK_64
    tail = data[whole:]
    h2 ^= _rotate_left(int.from_bytes(tail[8:], "little") * _C2 & _MASK_64, 33, 64) * _C1 & _MASK_64
    h1 ^= _rotate_left(int.from_bytes(tail[:8], "little") * _C1 & _MASK_64, 31, 64) * _C2 & _MASK_64
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = h1 + h2 & _MASK_64
    h2 = h1 + h2 & _MASK_64
    h1, h2 = _finished(h1), _finished(h2)
    h1 = h1 + h2 & _MASK_64
    h2 = h1 + h2 & _MASK_64
    return struct.pack("<QQ", h1, h2)


def _finished(half: int) -> int:
    half = (half ^ half >> 33) * 0xFF51AFD7ED558CCD & _MASK_64
    half = (half ^ half >> 33) * 0xC4CEB9FE1A85EC53 & _MASK_64
    return half ^ half >> 33
