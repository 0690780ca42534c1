"""The refusal of HTTP/2, with which some clients start."""

from __future__ import annotations

import struct
from typing import Final

from aiohttp.web_protocol import RequestHandler

# RFC 9113: what a client sends first, and frames, which start with their length, type, flags and stream.
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME: Final = struct.Struct(">xHBBI")  # of the lengths that a client may use before it knows others
_HEADERS, _RST_STREAM, _SETTINGS = 1, 3, 4
_HTTP_1_1_REQUIRED: Final = (0xD).to_bytes(4, "big")
_MOST_REFUSALS: Final = 100  # of a client, which may not read them


class Http1Connection(RequestHandler):
    """Tells a client that starts with HTTP/2, as the Rust SDK does, to use HTTP/1.1.

    aiohttp answers in HTTP/1.1 and closes the connection, which can reach the client as a lost connection.
    """

    _unread: bytes | None = None  # of a client that uses HTTP/2
    _is_new = True
    _refusals = 0

    def data_received(self, data: bytes) -> None:
        """Parse data, or refuse each request of HTTP/2."""
        if self._is_new:
            self._is_new = False
            if data.startswith(_PREFACE):
                data = data.removeprefix(_PREFACE)
                self._unread = b""
                self._send_frame(_SETTINGS, 0, b"")
        if self._unread is None:
            super().data_received(data)
        else:
            self._unread = self._refused(self._unread + data)

    def _refused(self, data: bytes) -> bytes:
        """Refuse the requests in complete frames; return the rest."""
        start = 0
        while len(data) >= start + _FRAME.size:
            length, kind, _, stream = _FRAME.unpack_from(data, start)
            if len(data) < start + _FRAME.size + length:
                break
            start += _FRAME.size + length
            if kind == _HEADERS:
                # Not before: a client whose connection ends before its request does not learn why.
                self._send_frame(_RST_STREAM, stream, _HTTP_1_1_REQUIRED)
                self._refusals += 1
        if self._refusals > _MOST_REFUSALS:
            self.force_close()
            return b""
        return data[start:]

    def _send_frame(self, kind: int, stream: int, payload: bytes) -> None:
        if self.transport is not None:
            self.transport.write(_FRAME.pack(len(payload), kind, 0, stream) + payload)
