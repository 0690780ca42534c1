"""Strategies for HTTP requests that no client library sends, as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

_VERBS: Final = b"GET POST PUT PATCH DELETE HEAD OPTIONS get X TRACE".split()
_PATHS: Final = b"""
    / /api /API/ECHO /api/echo /api/echo/1 /api/items/5/abc /api/items/99999999999999999999 /api/all/a/b /api/read
    /api/dates/2024-01-01/x/1 /api/dates/9999999-13-45T99/00000000-0000-0000-0000-000000000000/1e999
    /admin/functions /admin/functions/echo /admin/functions/echo/status /admin/host/status /admin/host/ping
""".split()
_PIECES: Final = [
    *b".. %2e%2e %2F %5C %00 %ff % %zz %C3%BC // / %250a {id} * ?a=1&a=2&&=&b ?%ff=%00 #x ; %0d%0a + -1 1e5".split(),
    *b"function_app.py local.settings.json host.json ..%2F..%2Fetc%2Fpasswd %D9%A1 code=x".split(),
    *(b"\xc3\xbc", b"x" * 5000, b"?" + b"a=1&" * 2000),
]
_HEADERS: Final = b"""
    content-type content-length origin access-control-request-method x-forwarded-for traceparent tracestate
    cookie host transfer-encoding expect content-encoding x-functions-key accept range if-none-match upgrade
""".split()
_VALUES: Final = [
    *b'x 0 -1 chunked gzip application/json multipart/form-data * http://x null " 100-continue bytes=0-5'.split(),
    *(b"", b"websocket", b"9" * 30, b"a" * 7000, b"\xff", b"\xc3\xbc", b"a=b; c", b"text/plain; charset=utf-7"),
    *(b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", b"multipart/form-data; boundary=" + b"x" * 200),
]
_JUNK: Final = [
    *(b"\x00", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b":", b"\xff", b"\x16\x03\x01", b"\x7f", b"\x0b"),
    *(b"0" * 20, b"a" * 20000, b"X: " + b"y" * 9000 + b"\r\n", b"Host: \xff\r\n", b" folded\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Expect: 100-continue\r\n"),
    *(b"Content-Length: %b\r\n" % length for length in (b"5", b"-1", b"1e3", b"99999999999999999999")),
    *(
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: deflate\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
    ),
    *(
        b"ffffffffffffffff\r\n",
        b"5;ext=1\r\n",
        b"-1\r\n",
        b"HTTP/0.9",
        b"HTTP/2.0",
        b"GET http://[::1 HTTP/1.1\r\n\r\n",
    ),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]
_NOT_QUITE_JSON: Final = [
    *('{"input": 1e400}', "NaN", "[" * 20000, '{"a":' * 20000, '{"a": 1, "a": 2}', '"\\ud800"', "\ufeff{}", "\x00"),
    *("//c\n{}", "01", "[1.]", "[.5]", "[0x10]", "[+1]", "9" * 400, '"\\x41"', '{"input": "a"', '{"input": [' * 200),
]

_json: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("input"), inner),
    max_leaves=10,
)
_texts: Final = _json.map(json.dumps) | st.sampled_from(_NOT_QUITE_JSON)
_bodies: Final = (
    st.just(b"") | st.binary() | st.builds(str.encode, _texts, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
)
_fraction: Final = st.floats(0, 1)


def _with_pieces(path: bytes, pieces: Sequence[tuple[float, bytes]]) -> bytes:
    for where, piece in pieces:
        at = 1 + int(where * (len(path) - 1))
        path = path[:at] + piece + path[at:]
    return path


_targets: Final = st.builds(
    _with_pieces, st.sampled_from(_PATHS), st.lists(st.tuples(_fraction, st.sampled_from(_PIECES)), max_size=4)
)
_headers: Final = st.lists(st.tuples(st.sampled_from(_HEADERS), st.sampled_from(_VALUES)), max_size=3)


@st.composite
def requests(draw: Draw, *, last: bool = True) -> bytes:
    """Return a request whose framing is correct unless a header contradicts it. `last` asks the server to close."""
    lines = [b"%b %b HTTP/1.1" % (draw(st.sampled_from(_VERBS)), draw(_targets)), b"Host: x"]
    lines += [b"%b: %b" % header for header in draw(_headers)]
    if last:
        lines.append(b"Connection: close")
    body = draw(_bodies)
    if draw(st.integers(0, 9)) == 9:
        lines.append(b"Transfer-Encoding: chunked")
        pieces = [body[at : at + 100] for at in range(0, len(body), 100)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    else:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@st.composite
def broken_requests(draw: Draw) -> bytes:
    """Return requests with bytes cut, inserted, repeated or changed, mostly in the head."""
    data: bytes = b"".join(draw(st.lists(requests(last=False), min_size=1, max_size=3)))
    for where, edit in draw(st.lists(st.tuples(_fraction, st.integers(0, 5)), max_size=4)):
        end = data.find(b"\r\n\r\n") + 4 if draw(st.integers(0, 4)) else len(data)
        at = int(where * min(end, len(data)))
        match edit:
            case 0:
                data = data[:at]
            case 1 | 2:
                line = data.rfind(b"\r\n", 0, at) + 2 if edit == 1 else at
                data = data[:line] + draw(st.sampled_from(_JUNK)) + data[line:]
            case 3:
                data = data[:at] + data[at + draw(st.sampled_from([1, 2, 10, 100])) :]
            case 4:
                data = data[:at] + draw(st.binary(min_size=1, max_size=1)) + data[at + 1 :]
            case _:
                data = data[:at] + data[: draw(st.integers(0, len(data)))] + data[at:]
    return data
