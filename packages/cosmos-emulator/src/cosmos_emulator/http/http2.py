"""The refusal of HTTP/2, with which some clients start."""

from __future__ import annotations

import struct
from typing import Final

from aiohttp.web_protocol import RequestHandler

# RFC 9113: what a client sends first, and frames, which start with their length, type, flags and stream.
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME: Final = struct.Struct(">xHBBI")  # of the lengths that a client may use before it knows others
_HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY = 1, 3, 4, 6, 7
_ACK: Final = 1
_HTTP_1_1_REQUIRED: Final = (0xD).to_bytes(4, "big")
_MOST_ANSWERS: Final = 100  # to a client, which may not read them


class Http1Connection(RequestHandler):
    """Tells a client that starts with HTTP/2, as the Rust SDK does, to use HTTP/1.1.

    aiohttp answers in HTTP/1.1 and closes the connection, which can reach the client as a lost connection.
    """

    _unread: bytes | None = None  # of a client that uses HTTP/2
    _is_new = True
    _answers = 0
    _stream = 0  # of the last request

    def data_received(self, data: bytes) -> None:
        """Parse data, or refuse each request of HTTP/2."""
        if self._is_new:
            self._is_new = False
            if data.startswith(_PREFACE):
                data = data.removeprefix(_PREFACE)
                self._unread = b""
                self._send_frame(_SETTINGS, 0, 0, b"")
        if self._unread is None:
            super().data_received(data)
        else:
            self._unread = self._refused(self._unread + data)

    def _refused(self, data: bytes) -> bytes:
        """Refuse the requests in complete frames, acknowledge settings and pings; return the rest."""
        start = 0
        while len(data) >= start + _FRAME.size:
            length, kind, flags, stream = _FRAME.unpack_from(data, start)
            end = start + _FRAME.size + length
            if len(data) < end:
                break
            if kind == _HEADERS:
                # Not before: a client whose connection ends before its request does not learn why.
                self._stream = stream
                self._answer(_RST_STREAM, 0, stream, _HTTP_1_1_REQUIRED)
            elif kind in (_SETTINGS, _PING) and not flags & _ACK:
                self._answer(kind, _ACK, 0, data[end - length : end] if kind == _PING else b"")
            start = end
        if self._answers > _MOST_ANSWERS:
            self._send_frame(_GOAWAY, 0, 0, self._stream.to_bytes(4, "big") + _HTTP_1_1_REQUIRED)
            self.force_close()
            return b""
        return data[start:]

    def _answer(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self._answers += 1
        self._send_frame(kind, flags, stream, payload)

    def _send_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self.transport is not None:
            self.transport.write(_FRAME.pack(len(payload), kind, flags, stream) + payload)
