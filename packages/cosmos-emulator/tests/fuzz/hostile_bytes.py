"""Bytes that are almost HTTP."""

from __future__ import annotations

import random
from typing import Final

_JUNK: Final = [
    *(
        b"\x00",
        b"\r",
        b"\n",
        b"\r\n",
        b"\r\n\r\n",
        b" ",
        b"\t",
        b":",
        b"\xff",
        b"\x16\x03\x01",
        b"\x7f",
        b"\x0b",
        b"0" * 20,
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 1e3\r\n",
    ),
    *(
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
    ),
    *(
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: deflate\r\n",
        b"X: " + b"y" * 9000 + b"\r\n",
        b"Host: \xff\r\n",
    ),
    *(b"HTTP/0.9", b"HTTP/2.0", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET http://[::1 HTTP/1.1\r\n\r\n", b"a" * 20000),
    *(b"Content-Length: 99999999999999999999\r\n", b" folded\r\n", b"ffffffffffffffff\r\n", b"5;ext=1\r\n", b"-1\r\n"),
]


def broken(rng: random.Random, data: bytes) -> bytes:
    """Cut, insert, repeat or change bytes, mostly in the head."""
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        end = data.find(b"\r\n\r\n") + 4 if rng.random() < 0.8 else len(data)
        at = rng.randrange(max(1, min(end, len(data)) + 1))
        match rng.randrange(6):
            case 0:
                data = data[:at]
            case 1 | 2:
                line = data.rfind(b"\r\n", 0, at) + 2 if rng.random() < 0.6 else at
                data = data[:line] + rng.choice(_JUNK) + data[line:]
            case 3:
                data = data[:at] + data[at + rng.choice([1, 2, 10, 100]) :]
            case 4:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case _:
                data = data[:at] + data[: rng.randrange(len(data) + 1)] + data[at:]
    return data
