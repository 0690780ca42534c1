"""Animated PNGs, from screenshots (https://www.w3.org/TR/png-3/#apng-frame-based-animation)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Frame:
    """A PNG that is drawn at a position of the first one, and shown for some time. All have the same color type."""

    png: bytes
    x: int
    y: int
    shown_ms: int


def animated(frames: Sequence[Frame]) -> bytes:
    """Return an animation that repeats forever."""
    header = _data(frames[0].png, b"IHDR")
    parts = [_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for frame in frames:
        width, height = struct.unpack(">II", _data(frame.png, b"IHDR")[:8])
        control = struct.pack(">IIIIIHHBB", number, width, height, frame.x, frame.y, frame.shown_ms, 1000, 0, 0)
        parts.append(_chunk(b"fcTL", control))
        image = _data(frame.png, b"IDAT")
        number += 1
        if frame is frames[0]:
            parts.append(_chunk(b"IDAT", image))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + image))
            number += 1
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _data(png: bytes, kind: bytes) -> bytes:
    return b"".join(data for one, data in _chunks(png) if one == kind)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = len(_SIGNATURE)
    while position < len(png):
        (length,) = struct.unpack_from(">I", png, position)
        yield png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        position += 12 + length
