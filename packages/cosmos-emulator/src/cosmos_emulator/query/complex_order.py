"""The order of arrays and objects: the order of their 128-bit hashes.

The service does not document it, but the .NET SDK merges partitions in this order and resumes them at such a hash
(CosmosArray.cs, DistinctHash.cs, SqlQueryResumeValue.cs, UInt128BinaryComparer.cs). So equal values have equal hashes.
"""

from __future__ import annotations

import struct
from typing import Final

from cosmos_emulator.partitioning.hashing import murmur3_128
from cosmos_emulator.query.values import Json, Number, as_double

_MOST_INTEGER_BITS: Final = 63
_DOUBLE_BITS: Final = 53


def _seed(low: int, high: int) -> bytes:
    return struct.pack("<QQ", low, high)


_ROOT: Final = _seed(0xBFC2359EAFC0E2B7, 0x8846E00284C4CF1F)
_NULL: Final = _seed(0x1380F68BB3B0CFE4, 0x156C918BF564EE48)
_FALSE: Final = _seed(0xC1BE517FE893B40C, 0xE9FC8A4C531CD0DD)
_TRUE: Final = _seed(0xF86D4ABF9A412E74, 0x788488365C8A985D)
_NUMBER: Final = _seed(0x2400E8B894CE9C2A, 0x790BE1EABD7B9481)
_STRING: Final = _seed(0x61F53F0A44204CFB, 0x09481BE8EF4B56DD)
_ARRAY: Final = _seed(0xFA573B014C4DC18E, 0xA014512C858EB115)
_OBJECT: Final = _seed(0x77B285AC511AEF30, 0x3DCF187245822449)
_ELEMENT: Final = int.from_bytes(_seed(0xFE057204216DB999, 0x5B1CC3178BD9C593), "little")
_NAME: Final = murmur3_128(_STRING, _seed(0xC915DDE058492A8A, 0x7C8BE2EBA72E4634))


def complex_key(value: Json, seed: bytes = _ROOT) -> bytes:
    """Return the hash of a value, 16 bytes that sort like the array or object in the service."""
    if type(value) is dict:
        members = 0
        for name, member in value.items():
            hashed = complex_key(member, murmur3_128(_utf8(name), _NAME))
            members ^= int.from_bytes(hashed, "little")
        start = murmur3_128(_OBJECT, seed)
        return murmur3_128(members.to_bytes(16, "little"), start) if members else start
    if type(value) is list:
        total = murmur3_128(_ARRAY, seed)
        for index, element in enumerate(value):
            total = murmur3_128(complex_key(element, (_ELEMENT + index).to_bytes(16, "little")), total)
        return total
    if type(value) is str:
        return murmur3_128(_utf8(value), murmur3_128(_STRING, seed))
    if type(value) is int or type(value) is float:
        return murmur3_128(_number(value), murmur3_128(_NUMBER, seed))
    return murmur3_128(_NULL if value is None else _TRUE if value else _FALSE, seed)


def _number(value: Number) -> bytes:
    """Return a double and, of a longer integer, the next bits (.NET Number64.cs, DoubleEx)."""
    double, extra = as_double(value) + 0.0, 0
    if type(value) is int and (longer := abs(value).bit_length() - _DOUBLE_BITS) > 0:
        rest = abs(value) & (1 << longer) - 1
        if rest and abs(value).bit_length() <= _MOST_INTEGER_BITS:
            double = float(value + rest if value < 0 else value - rest)
            extra = rest << 16 - longer
    return struct.pack("<dH", double, extra)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
