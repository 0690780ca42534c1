"""HTTP as bytes: send what no client library would send, and parse the responses."""

from __future__ import annotations

import re
import select
import socket
from dataclasses import dataclass, field
from typing import Final

ANSWER_S: Final = 30.0
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})[^\r\n]*\r\n")
_PATIENCE_S: Final = 0.03

Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class HttpRequest:
    """A correctly framed request."""

    verb: str
    target: bytes
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    chunked: bool = False

    def __str__(self) -> str:
        headers = b", ".join(b"%b: %b" % header for header in self.headers)
        return f"{self.verb} {self.target[:300]!r}\n    {headers[:900]!r}\n    {self.body[:900]!r}"

    def header(self, name: str) -> list[bytes]:
        return [value for given, value in self.headers if given.lower() == name.encode()]

    def encoded(self, *, last: bool = True) -> bytes:
        """`last` requests that the server close the connection."""
        lines = [b"%b %b HTTP/1.1" % (self.verb.encode(), self.target), b"Host: x"]
        lines += [b"%b: %b" % header for header in self.headers]
        if last:
            lines.append(b"Connection: close")
        if self.chunked:
            lines.append(b"Transfer-Encoding: chunked")
            pieces = [self.body[at : at + 100] for at in range(0, len(self.body), 100)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        else:
            body = self.body
            lines.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass(frozen=True)
class HttpResponse:
    """A response with lowercase header names."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.status} {self.headers.get('x-ms-substatus', '')} {self.body[:400]!r}"


def exchange(port: int, data: bytes, *, complete: bool = True) -> bytes:
    """Send `data` and return all bytes until the server closes. Raises TimeoutError if it does not.

    If `data` is not a `complete` request, the client closes its side after a short wait.
    """
    received = b""
    with socket.create_connection(("127.0.0.1", port), ANSWER_S) as connection:
        try:
            connection.sendall(data)
            if not complete and not select.select([connection], [], [], _PATIENCE_S)[0]:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
                if not complete and not select.select([connection], [], [], _PATIENCE_S)[0]:
                    break
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server can refuse a request before reading all of it
    return received


def answers(received: bytes, *, to_head: bool = False) -> list[HttpResponse]:
    """Parse the responses in a stream. Raises ValueError."""
    found = []
    at = 0
    while at < len(received):
        status = _STATUS.match(received, at)
        end = received.find(b"\r\n\r\n", at)
        if status is None or end < 0:
            raise ValueError(f"not an HTTP answer: {received[at : at + 200]!r}")
        lines = received[status.end() : end].decode("latin-1").split("\r\n") if end > status.end() else []
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        at = end + 4 + length
        if to_head and received[end + 4 : end + 9] in (b"", b"HTTP/"):
            at = end + 4  # the response to an invalid request has a body, even for HEAD
        found.append(HttpResponse(int(status[1]), headers, received[end + 4 : at]))
    return found
