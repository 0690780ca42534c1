"""The request line and the headers, with Kestrel's rules. aiohttp's parser knows fewer methods and has other limits.

Rules: aspnetcore Servers/Kestrel/Core (HttpParser.cs, Http1Connection.cs, PathDecoder.cs, PathNormalizer.cs,
KestrelServerLimits.cs) and Http.Abstractions (PathString.cs).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote

from multidict import CIMultiDict

# In bytes, with line ends.
LONGEST_LINE = 8192
LONGEST_HEADERS = 32_768
MOST_HEADERS = 100

_END = re.compile(rb"\n\r?\n")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NAME = re.compile(r"[!-9;-~]+")
_LENGTH = re.compile(r"\+?([0-9]{1,18})")
_HOST = re.compile(r"(?:(?:\[[0-9A-Fa-f:.]{3,}\]|[A-Za-z0-9!$&'()._~-]+)(?::[0-9]+)?)?")
_ABSOLUTE = re.compile(r"https?://(?:[^/?@]*@)?(?P<host>[^/?]*)(?P<rest>.*)", re.DOTALL)
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_SLASH = re.compile("%2F", re.IGNORECASE)
_UNSAFE = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~/:@!$&'()*+,;=%-]")


class RefusedRequestError(Exception):
    """The server refuses a request before it looks for a function."""

    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True)
class RequestHead:
    """A request without its body. `path` is decoded, except for `%2F`, and has no dot segments.

    `length` is the body's length in bytes, or None for a chunked body.
    """

    method: str
    path: str
    query: str
    headers: CIMultiDict[str]
    length: int | None
    is_http_1_0: bool

    @property
    def closes(self) -> bool:
        """Whether the connection ends after the response."""
        tokens = ",".join(self.headers.getall("Connection", [])).lower().replace(" ", "").split(",")
        return self.is_http_1_0 or "close" in tokens or (self.length is None and "X-Content-Length" in self.headers)

    @property
    def host(self) -> str:
        """The Host header, or an empty string."""
        return self.headers.get("Host", "")

    @property
    def url(self) -> str:
        """The path and query as a function sees them, encoded again."""
        query = self.query.replace("#", "%23")
        return _UNSAFE.sub(lambda found: quote(found[0]), self.path) + (f"?{query}" if query else "")

    @property
    def framing(self) -> bytes:
        """A head that every parser understands, with the same body."""
        body = b"Transfer-Encoding: chunked" if self.length is None else b"Content-Length: %d" % self.length
        return b"POST / HTTP/1.1\r\nHost: x\r\n%b%b\r\n\r\n" % (b"Connection: close\r\n" if self.closes else b"", body)


def take_head(buffer: bytearray) -> RequestHead | None:
    """Remove a head from the start of a buffer. Return None if it is incomplete. Raises RefusedRequestError."""
    while buffer and buffer[0] in b"\r\n":
        del buffer[0]
    headers_start = buffer.find(b"\n", 0, LONGEST_LINE) + 1
    if not headers_start:
        if len(buffer) >= LONGEST_LINE:
            _refuse(414)
        return None
    end = _END.search(buffer, headers_start - 1)
    if (end.start() + 1 if end else len(buffer)) - headers_start > LONGEST_HEADERS:
        _refuse(431)
    if end is None:
        return None
    head = bytes(buffer[: end.start()])
    del buffer[: end.end()]
    try:
        first, *lines = [line.removesuffix("\r") for line in head.decode().split("\n")]
    except UnicodeDecodeError:
        _refuse()
    if len(lines) > MOST_HEADERS:
        _refuse(431)
    if b"\0" in head:
        _refuse()
    method, target, is_http_1_0 = _request_line(first)
    headers = CIMultiDict(_header(line) for line in lines)
    hosts = headers.getall("Host", [])
    if len(hosts) > 1 or not (hosts or is_http_1_0) or not all(map(_HOST.fullmatch, hosts)):
        _refuse()
    path, _, query = _origin_form(method, target, "".join(hosts)).partition("?")
    return RequestHead(method, _decoded_path(path), query, headers, _body_length(headers), is_http_1_0)


def unescaped(text: str) -> str:
    """Decode `%XX`. Unlike `urllib.parse.unquote`, keep what is not UTF-8."""
    return _ESCAPES.sub(lambda found: _decoded(found[0]), text) if "%" in text else text


def _refuse(status: int = 400, headers: dict[str, str] | None = None) -> NoReturn:
    raise RefusedRequestError(status, headers)


def _request_line(line: str) -> tuple[str, str, bool]:
    method, space, rest = line.partition(" ")
    target, has_version, version = rest.partition(" ")
    if not (space and target and target.isascii() and _TOKEN.fullmatch(method)):
        _refuse()
    version = version.lstrip(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        _refuse(505 if len(version) == len("HTTP/1.1") or not has_version else 400)
    return method, target, version == "HTTP/1.0"


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or "\r" in value or not _NAME.fullmatch(name):
        _refuse()
    return name, value.strip(" \t")


def _origin_form(method: str, target: str, host: str) -> str:
    """Return the path and query of a target."""
    if target.startswith("/") and method != "CONNECT":
        return target
    if target == "*":
        return "/*" if method == "OPTIONS" else _refuse(405, {"Allow": "OPTIONS"})
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None or absolute["host"].lower().removesuffix(":80") != host.lower().removesuffix(":80"):
        _refuse()
    rest = absolute["rest"]
    return rest if rest.startswith("/") else f"/{rest}"


def _decoded_path(path: str) -> str:
    if "%" in path:
        if "%00" in path:
            _refuse()
        # An encoded slash does not separate segments (dotnet/aspnetcore issue 4718).
        path = unescaped(_SLASH.sub(lambda found: "%25" + found[0][1:], path))
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/" + "/".join([*kept, ""] if segments[-1] in (".", "..") else kept)


def _decoded(escapes: str) -> str:
    raw, text = bytes.fromhex(escapes.replace("%", "")), ""
    while raw:
        try:
            return text + raw.decode()
        except UnicodeDecodeError as error:
            text += raw[: error.start].decode() + escapes[3 * error.start : 3 * error.end]
            raw, escapes = raw[error.end :], escapes[3 * error.end :]
    return text


def _body_length(headers: CIMultiDict[str]) -> int | None:
    """Return the length, or None for a chunked body. Rewrite the headers as Kestrel does."""
    lengths = headers.getall("Content-Length", [])
    if codings := headers.getall("Transfer-Encoding", []):
        if codings[-1].rpartition(",")[2].strip().lower() != "chunked":
            _refuse()
        if lengths:
            del headers["Content-Length"]
            headers["X-Content-Length"] = ",".join(lengths)
        return None
    if not lengths:
        return 0
    found = _LENGTH.fullmatch(lengths[0])
    if found is None or len(lengths) > 1:
        _refuse()
    headers["Content-Length"] = str(int(found[1]))
    return int(found[1])
