"""The requests that both hosts receive. Nearly all close the connection, so that one exchange is one request."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fidelity.exchange import Case

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY", "FOO", "get", "M-SEARCH")
_HOST = "Host: {authority}"
_MASTER = "x-functions-key: local"
_JSON = "Content-Type: application/json"
_FORM = "Content-Type: application/x-www-form-urlencoded"
_MULTIPART = (
    b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\n'
    b'Content-Disposition: form-data; name="f"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nfile\r\n--b--\r\n'
)
_LIMIT = 1_000_000  # FUNCTIONS_REQUEST_BODY_SIZE_LIMIT of both hosts


def _case(
    method: str,
    target: str,
    *lines: str,
    body: bytes = b"",
    host: str | None = _HOST,
    version: str = "HTTP/1.1",
    name: str = "",
) -> Case:
    sized = [f"Content-Length: {len(body)}"] if body else []
    given = [*([host] if host is not None else []), "Connection: close", *sized, *lines]
    head = "\r\n".join([f"{method} {target} {version}", *given]).encode("latin-1") + b"\r\n\r\n"
    described = name or " ".join([method, target, *lines, *(["+body"] if body else [])])
    return Case(described[:120], head + body)


def _raw(name: str, data: bytes) -> Case:
    return Case(f"raw: {name}", data)


def _methods() -> Iterator[Case]:
    for method in _METHODS:
        for target in ("/api/echo/x", "/api/items/5", "/", "/api/missing", "/admin/x"):
            yield _case(method, target)
    for method in ("HEAD", "OPTIONS", "GET"):
        yield _case(method, "/api/head")
    yield _case("GET", "/api/posted")
    yield _case("POST", "/api/posted")
    yield _case("POST", "/api/read")
    yield _case("HEAD", "/api/read")
    yield _case("CONNECT", "example.com:80")
    yield _case("OPTIONS", "*")
    yield _case("GET", "*")


def _paths() -> Iterator[Case]:
    for target in (
        *("/api/items/../items/x", "/api/items/%2e%2e/items/x", "/api/items/%2E%2e/items/5", "/api/echo/./a/./b"),
        *(
            "/api/echo/a/..",
            "/api/echo/a/../..",
            "/../../api/read",
            "/api/echo/..%2fa",
            "/api/echo/a%2Fb",
            "/api/echo/%5C",
        ),
        *(
            "/api/echo/a\\b",
            "/api/echo/%00",
            "/api/echo/%e9",
            "/api/echo/%C3%A9",
            "/api/echo/%ff%fe",
            "/api/echo/a%20b",
        ),
        *(
            "/api/echo/%zz",
            "/api/echo/%",
            "/api/echo/%2",
            "/api/echo/%25",
            "/api/echo/%2525",
            "/api/echo/a+b",
            "/api/echo/%2B",
        ),
        *(
            "//api/read",
            "/api//read",
            "/api/read/",
            "/api/read//",
            "/api/echo//",
            "/api/echo//a",
            "/api/echo/a//b",
            "/api/echo",
        ),
        *(
            "/api/echo/",
            "/API/READ",
            "/api/rEaD",
            "/api/items/005",
            "/api/items/-5",
            "/api/items/5.0",
            "/api/items/2147483648",
        ),
        *(
            "/api/items/%35",
            "/api/items/ 5",
            "/api/items/%205",
            "/api/items/\u0665",
            "/api/items/x",
            "/api/items/X",
            "/api/items/",
        ),
        *(
            "/api/upper/a",
            "/API/UPPER/ABC",
            "/api/upper/a b",
            "/api/echo/a;b=c",
            "/api/echo/a:b@c,d&e=f",
            "/api/echo/~x!$'()*",
        ),
        *(
            '/api/echo/<a>"',
            "/api/echo/{x}",
            "/api/echo/|^`",
            "/api/echo/x#frag",
            "/api/echo/%23",
            "/api/echo/%3F",
            "/api",
            "/api/",
        ),
        *(
            "",
            "api/read",
            "?a=1",
            "/?a=1",
            "/favicon.ico",
            "/robots.txt",
            "/.well-known/x",
            "/api/echo/%0d%0a",
            "/api/echo/%7f",
        ),
        *(
            "/api/echo/..%00",
            "/api/%65cho/x",
            "/%61pi/read",
            "/api/echo/%E2%98%83",
            "/api/echo/%ED%A0%80",
            "/api/echo/%c0%af",
        ),
    ):
        if any(ord(character) > 255 for character in target):
            yield _raw(f"path {target!a}", f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        else:
            yield _case("GET", target)
    yield _case("GET", "http://example.com/api/echo/x?y=1")
    yield _case("GET", "http://127.0.0.1/api/read", host="Host: 127.0.0.1")
    yield _case("GET", "https://127.0.0.1/api/echo/s", host="Host: 127.0.0.1")
    yield _case("GET", "http://127.0.0.1", host="Host: 127.0.0.1")
    yield _case("GET", "ftp://127.0.0.1/api/read", host="Host: 127.0.0.1")


def _templates() -> Iterator[Case]:
    for path in (
        *("guid/0f8fad5b-d9cb-469f-a165-70867728950e", "guid/0f8fad5bd9cb469fa16570867728950e", "guid/x", "bool/true"),
        *("guid/%7B0f8fad5b-d9cb-469f-a165-70867728950e%7D", "bool/FALSE", "bool/1", "long/9223372036854775807"),
        *(
            "long/9223372036854775808",
            "double/1.5",
            "double/1e5",
            "double/-.5",
            "double/1,000",
            "double/NaN",
            "double/x",
        ),
        *("decimal/1.5", "decimal/1e5", "decimal/79228162514264337593543950336", "date/2024-01-02", "date/2024-02-30"),
        *(
            "date/2024-01-02T03:04:05Z",
            "date/01-02-2024",
            "date/x",
            "alpha/abc",
            "alpha/ab1",
            "alpha/%C3%A9",
            "min/3",
            "min/2",
        ),
        *(
            "max/3",
            "max/4",
            "range/1",
            "range/10",
            "range/11",
            "length/a",
            "length/ab",
            "length/abcde",
            "regex/aaa",
            "regex/AAA",
        ),
        *(
            "regex/ab",
            "both/5",
            "both/4",
            "optional",
            "optional/",
            "optional/1",
            "optional_int",
            "optional_int/x",
            "default",
        ),
        *(
            "default/8",
            "pair/a-b",
            "pair/a-b-c",
            "pair/-b",
            "pair/a-",
            "file/a.b",
            "file/a",
            "file/a.b.c",
            "file/a.",
            "two/a/b",
        ),
        *(
            "two/a",
            "two/a/",
            "two/a/b/",
            "braces/{v}",
            "braces/%7Bv%7D",
            "fixed/a%20b",
            "fixed/a b",
            "guid/ ",
            "bool/true/",
        ),
    ):
        yield _case("GET", f"/api/template/{path}")


def _queries() -> Iterator[Case]:
    for query in (
        *(
            "b=1&a=2",
            "a=1&a=2",
            "limit=1&LIMIT=2",
            "LIMIT=1&limit=2&Limit=3",
            "a=",
            "a",
            "=1",
            "&&",
            "a=1&&b=2",
            "a=%20b+c",
        ),
        *(
            "a=%zz",
            "a=%e9",
            "a=%C3%A9",
            "a=%00",
            "a=b=c",
            "a[]=1&a[]=2",
            "a=1;b=2",
            "a=%26",
            "z=1&y=&x=3",
            "%61=1",
            "A=1&a=",
            "a=&a=1",
        ),
        *(
            "a=1,2&a=3",
            "a==",
            "?a=1",
            "a=1?b=2",
            "\u00e9=1",
            "a=#",
            "a b=c d",
            "code=x",
            "a=1&B=2&c=3&D=4",
            "b=1&_=2&0=3&A=4&a-b=5",
        ),
    ):
        yield _case("GET", f"/api/echo/q?{query}")
    yield _case("GET", "/api/echo/q?" + "&".join(f"p{n}={n}" for n in range(300)), name="GET 300 parameters")


def _headers() -> Iterator[Case]:
    for lines in (
        *(
            ("X-A: 1", "X-A: 2"),
            ("X-A: 1", "x-a: 2"),
            ("X-A:",),
            ("X-A:   spaced   ",),
            ("X-A: a,b", "X-A: c"),
            ("x_a: 1",),
        ),
        *(
            ("Accept: application/xml",),
            ("Accept-Encoding: gzip, br",),
            ("Cookie: a=b", "Cookie: c=d"),
            ("Cookie: a=b; c=d",),
        ),
        *(
            ("Content-Type: text/plain",),
            ("Content-Type: nonsense",),
            ("User-Agent: x",),
            ("Referer: http://x/",),
            ("X!#$%&'*+-.^_`|~: 1",),
        ),
        *(
            ("X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: example.com"),
            ("X-Original-URL: /x",),
        ),
        *(
            ("X-HTTP-Method-Override: DELETE",),
            ("Range: bytes=0-1",),
            ("If-None-Match: *",),
            ("Expect: 100-continue",),
            ("Expect: x",),
        ),
        *(
            ("Upgrade: websocket",),
            ("X-A: 1;b",),
            ("X-A: \u00e9",),
            ("X-A: a\tb",),
            ("Authorization: Bearer x",),
            ("Via: 1.1 x",),
        ),
        *(
            ("X-ARR-LOG-ID: 1",),
            ("X-SITE-DEPLOYMENT-ID: x",),
            ("MS-ASPNETCORE-TOKEN: x",),
            ("X-MS-CLIENT-PRINCIPAL-NAME: x",),
        ),
        *(
            ("Origin: http://example.com",),
            ("Origin: http://example.com", "Access-Control-Request-Method: GET"),
            ("DISGUISED-HOST: x",),
        ),
        *(("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",), ("X-A: " + "a" * 5000,)),
    ):
        yield _case("GET", "/api/echo/h", *lines, name=f"headers {lines}")
    yield _case("GET", "/api/context")
    parent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    yield _case("GET", "/api/context", parent, "tracestate: a=b")
    yield _case("GET", "/api/context", "traceparent: nonsense")
    for count in (50, 90, 97, 98, 99, 100, 101, 150):
        yield _case("GET", "/api/read", *(f"X-{n}: {n}" for n in range(count)), name=f"{count + 2} headers")
    for size in (8000, 9000, 20_000, 32_000, 32_650, 33_000, 40_000):
        yield _case("GET", "/api/read", "X-A: " + "a" * size, name=f"header of {size} bytes")
    for size in (4000, 8000, 8165, 8180, 9000, 20_000):
        yield _case("GET", "/api/read?" + "a" * size, name=f"target of {size} bytes")
    for first, second in (("1", "2"), ("1", "1")):
        yield _case(
            "POST",
            "/api/echo/h",
            f"Content-Length: {first}",
            f"Content-Length: {second}",
            name=f"lengths {first} {second}",
        )


def _hosts() -> Iterator[Case]:
    for host in (
        *(
            "",
            "localhost",
            "example",
            "example.com",
            "EXAMPLE",
            "localhost:80",
            "localhost:65535",
            "localhost:65536",
            "localhost:",
        ),
        *(
            "localhost:0",
            "localhost:x",
            "[::1]",
            "[::1]:80",
            "[::1",
            "::1",
            "a@evil",
            "a<b>",
            "a b",
            "a/b",
            "a,b",
            "a_b",
            "-a",
            "127.1",
        ),
        *(
            "\u00e9",
            "localhost:99999",
            "localhost:123456",
            "a..b",
            ".",
            "a%20b",
            "a'b",
            "a;b",
            "a|b",
            "a^b",
            'a"b',
            "1.2.3.4:5:6",
        ),
    ):
        yield _case("GET", "/api/echo/host", host=f"Host: {host}", name=f"Host: {host!a}")
    # Microsoft's host answers 500 to HTTP/1.0 without Host, which RFC 9112 (3.2) allows: its URL has no authority then.
    for version in ("HTTP/1.1", "HTTP/1.0"):
        yield _case("GET", "/api/echo/host", host=None, version=version, name=f"{version} without Host")
        yield _case("GET", "/", host=None, version=version, name=f"{version} / without Host")
    yield _case("GET", "/api/echo/host", version="HTTP/1.0", name="HTTP/1.0 with Host")
    yield _case("GET", "/api/echo/host", host="Host: ", version="HTTP/1.0", name="HTTP/1.0 with an empty Host")
    yield _case("GET", "/api/echo/host", "Host: b", host="Host: a", name="two Hosts")
    yield _case("GET", "/admin/host/ping", host="Host: a@evil", name="admin, Host: a@evil")


def _bodies() -> Iterator[Case]:
    for kind, body in (
        *(
            ("", b"x"),
            ("text/plain", b"\xff\x00"),
            ("application/json", b'{"a":1}'),
            ("application/json", b"{"),
            ("application/json", b""),
        ),
        *(
            ("application/json", b'[1, "\xc3\xa9"]'),
            ("application/json", b"\xef\xbb\xbf{}"),
            ("application/json", b"NaN"),
            ("", b'{"a":1}'),
        ),
        *(
            ("application/json", b'"\\ud800"'),
            ("application/json", b"1e400"),
            ("application/json", b'{"a":1,"a":2}'),
            ("application/json", b"null"),
        ),
        *(
            ("application/x-www-form-urlencoded", b"a=1&b=2&a=3"),
            ("application/x-www-form-urlencoded", b"a=%e9"),
            ("multipart/form-data; boundary=b", _MULTIPART),
        ),
        *(
            ("multipart/form-data", b"x"),
            ("multipart/form-data; boundary=b", b"x"),
            ("application/octet-stream", bytes(range(256))),
        ),
        *(
            ("text/plain; charset=latin-1", b"\xe9"),
            ("application/json; charset=utf-16", '{"a":1}'.encode("utf-16")),
            ("text/xml", b"<a/>"),
        ),
    ):
        for target in ("/api/echo/b", "/api/thread"):
            lines = [f"Content-Type: {kind}"] if kind else []
            yield _case("POST", target, *lines, body=body, name=f"POST {target} {kind} {body[:30]!r}")
    yield _case("GET", "/api/echo/b", body=b"of a GET")
    yield _case("DELETE", "/api/echo/b", body=b"of a DELETE")
    yield _case("POST", "/api/echo/b", "Content-Length: 0")
    yield _case("POST", "/api/echo/b", "Content-Encoding: gzip", body=b"not gzip")
    yield _case("POST", "/api/echo/b", "Expect: 100-continue", body=b"continued")
    yield _case("POST", "/api/echo/b", body=b"x" * (_LIMIT - 1), name="a body just below the limit")
    yield _case("POST", "/api/echo/b", body=b"x" * _LIMIT, name="a body of the limit")
    yield _case("POST", "/api/echo/b", f"Content-Length: {_LIMIT + 1}", name="a length over the limit")
    yield _case("POST", "/api/echo/b", "Content-Length: 104857601", name="a length of 100 MiB and a byte")
    yield _case("POST", "/api/missing", f"Content-Length: {_LIMIT + 1}", name="a length over the limit, no function")
    chunks = b"3\r\nabc\r\n0\r\n\r\n"
    chunked = b"Host: {authority}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
    for target in (b"/api/echo/b", b"/api/missing", b"/api/thread", b"/admin/functions/yearly"):
        yield _raw(f"chunked {target!r}", b"POST %b HTTP/1.1\r\n%b\r\n%b" % (target, chunked, chunks))
    yield _raw("chunked with length", b"POST /api/echo/b HTTP/1.1\r\n%bContent-Length: 3\r\n\r\n%b" % (chunked, chunks))
    yield _raw(
        "length, then chunked", b"POST /api/echo/b HTTP/1.1\r\nContent-Length: 3\r\n%b\r\n%b" % (chunked, chunks)
    )
    yield _raw("chunked with trailers", b"POST /api/echo/b HTTP/1.1\r\n%b\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n" % chunked)
    yield _raw("chunked with extension", b"POST /api/echo/b HTTP/1.1\r\n%b\r\n3;a=b\r\nabc\r\n0\r\n\r\n" % chunked)
    yield _raw("bad chunk", b"POST /api/echo/b HTTP/1.1\r\n%b\r\nxyz\r\n" % chunked)
    for coding in (b"gzip", b"gzip, chunked", b"identity", b"CHUNKED", b"chunked, chunked"):
        data = b"POST /api/echo/b HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nTransfer-Encoding: %b\r\n\r\n%b"
        yield _raw(f"coding {coding!r}", data % (coding, chunks))
    # Microsoft's host accepts `+1`, although RFC 9110 (8.6) allows only digits.
    for length in (b"-1", b"+1", b"1e3", b"x", b"", b"99999999999999999999", b"0x1", b" 1 ", b"1, 1", b"1 1"):
        data = b"POST /api/echo/b HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nContent-Length: %b\r\n\r\nx"
        yield _raw(f"length {length!r}", data % length)


def _answers() -> Iterator[Case]:
    for kind in (
        *(
            "text",
            "empty",
            "unicode",
            "json-object",
            "json-array",
            "json-empty-array",
            "json-empty-object",
            "json-string",
        ),
        *("json-number", "json-big", "json-float", "json-true", "json-null", "json-date", "json-dates", "json-unicode"),
        *(
            "json-spaces",
            "json-trailing",
            "json-comment",
            "json-single",
            "described",
            "described-code",
            "described-object",
        ),
        *(
            "described-list",
            "described-null",
            "described-number",
            "described-type",
            "described-bad",
            "described-upper",
            "none",
        ),
        *(
            "bytes",
            "dict",
            "list",
            "int",
            "raised",
            "200",
            "http-text",
            "http-bytes",
            "http-json",
            "http-charset",
            "http-html",
        ),
        *("http-no-type", "http-big", "http-type", "http-bad-type", "http-empty-type", "http-bad-body", "length-right"),
        *("length-short", "length-long", "length-text", "chunked", "gzip", "name-space", "name-empty", "name-colon"),
        *("name-unicode", "value-unicode", "value-latin", "value-break", "value-control", "value-tab", "value-spaces"),
        *(
            "value-empty",
            "value-long",
            "value-number",
            "both",
            "both-case",
            "server",
            "date",
            "connection",
            "keep-alive",
        ),
        *("location", "location-ascii", "cache", "cookie", "cookies", "cookie-full", "cookie-strict", "cookie-none"),
        *("cookie-expires", "cookie-deleted", "cookie-bad-date", "cookie-zero", "cookie-bad-age", "cookie-quoted"),
        *(
            "cookie-special",
            "cookie-bad",
            "cookie-host",
            "cookie-partitioned",
            "repeated",
            "repeated-vary",
            "repeated-link",
        ),
        "unknown",
    ):
        yield _case("GET", f"/api/answer/{kind}")
    for kind in ("text", "http-json", "http-big", "raised", "length-right", "cookie"):
        yield _case("HEAD", f"/api/answer/{kind}")
    for code in (0, 99, 100, 200, 201, 204, 205, 206, 304, 400, 404, 418, 429, 500, 503, 599, 600, 999, 1000):
        yield _case("GET", f"/api/status/{code}/body")
    for code in (200, 204, 205, 304, 404, 500):
        yield _case("GET", f"/api/status/{code}")
    yield _case("HEAD", "/api/status/204/body")
    for version in ("HTTP/1.0",):
        for target in (
            "/api/answer/text",
            "/api/answer/raised",
            "/api/answer/200",
            "/api/missing",
            "/",
            "/api/status/204",
        ):
            yield _case("GET", target, version=version, name=f"{version} {target}")
    yield _raw("HTTP/1.0 keep-alive", b"GET /api/read HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
    yield _raw("HTTP/1.1 keep-alive", b"GET /api/read HTTP/1.1\r\nHost: {authority}\r\nConnection: keep-alive\r\n\r\n")
    yield _raw("HTTP/1.1", b"GET /api/read HTTP/1.1\r\nHost: {authority}\r\n\r\n")
    for target in ("/api/out", "/api/disabled", "/api/retried", "/api/retried-not"):
        yield _case("GET", target)
    yield _case("GET", "/api/disabled", _MASTER)


def _keys() -> Iterator[Case]:
    yield _case("GET", "/api/keyed")
    # The real host accepts a key in another case if its cache has the right one: not here, because it is not certain.
    for given in ("local", "x", "", "{key}", " local", "local ", "localx"):
        yield _case("GET", "/api/keyed", f"x-functions-key: {given}")
        yield _case("GET", f"/api/keyed?code={given.strip()}&a=1")
    yield _case("GET", "/api/keyed?CODE=local")
    yield _case("GET", "/api/keyed?code=x", _MASTER)
    yield _case("GET", "/api/keyed?code=local", "x-functions-key: x")
    yield _case("GET", "/api/keyed?code=local&code=local")
    yield _case("GET", "/api/keyed?code=x&code=local")
    yield _case("POST", "/api/keyed", body=b"x")
    yield _case("GET", "/api/keyed", "x-functions-clientid: x", _MASTER)
    for given in ("local", "{key}", "{hostkey}", "x", ""):
        yield _case("GET", "/api/master", f"x-functions-key: {given}")
        yield _case("GET", "/admin/host/ping", f"x-functions-key: {given}")
        yield _case("GET", "/admin/functions/missing", f"x-functions-key: {given}")
    yield _case("GET", "/api/master")
    yield _case("GET", "/api/master?code=local")


def _admin() -> Iterator[Case]:
    for target in (
        *(
            "/admin",
            "/admin/",
            "/admin/x",
            "/admin/host",
            "/admin/host/x",
            "/admin/host/ping",
            "/admin/host/status",
            "/admin/functions",
        ),
        *(
            "/admin/functions/keyed",
            "/admin/functions/keyed/status",
            "/admin/functions/missing",
            "/admin/functions/yearly/status",
        ),
        *(
            "/admin/functions/missing/status",
            "/admin/host/keys",
            "/admin/functions/keyed/keys",
            "/admin/host/config",
            "/admin/host/drain/status",
        ),
        *(
            "/admin/host/systemkeys",
            "/admin/host/functionkeys",
            "/admin/functions/KEYED",
            "/ADMIN/HOST/STATUS",
            "/admin/host/status/",
        ),
        *("/admin/warmup", "/admin/instance/info", "/administrators"),
        *(
            "/runtime",
            "/runtime/",
            "/runtime/x",
            "/runtime/webhooks",
            "/runtime/webhooks/x",
            "/runtime/webhooks/x/y",
            "/RUNTIME/WEBHOOKS/X",
        ),
    ):
        yield _case("GET", target)
        yield _case("GET", target, _MASTER)
        yield _case("GET", target, "x-functions-key: {key}")
        yield _case("GET", target, "x-functions-key: {hostkey}")
    yield _case("GET", "/admin/vfs/", _MASTER)
    for target in (
        "/admin/functions/missing",
        "/admin/functions/keyed",
        "/admin/functions/yearly",
        "/admin/host/status",
        "/admin/host/ping",
    ):
        yield _case("POST", target)
        yield _case("POST", target, _MASTER)
        yield _case("POST", target, _MASTER, _JSON)
        for body in (b'{"input":"x"}', b"{}", b"{", b'{"input":null}', b"[]", b'"x"', b'{"Input":"x"}'):
            yield _case("POST", target, _MASTER, _JSON, body=body, name=f"POST {target} {body!r}")
        yield _case("POST", target, _MASTER, "Content-Type: text/plain", body=b'{"input":"x"}')
        yield _case("POST", target, _MASTER, body=b'{"input":"x"}')
        yield _case("POST", target, _MASTER, "Content-Type: application/json; charset=utf-8", body=b'{"input":"x"}')
    for method in ("PATCH", "HEAD", "OPTIONS"):
        yield _case(method, "/admin/host/status", _MASTER)
        yield _case(method, "/admin/functions/keyed", _MASTER)
    for target in ("/runtime/webhooks/x", "/admin/x", "/runtime/x"):
        yield _case("POST", target)


def _malformed() -> Iterator[Case]:
    rest = b"Host: {authority}\r\nConnection: close\r\n"
    for name, data in {
        "bare LF": b"GET /api/read HTTP/1.1\nHost: {authority}\nConnection: close\n\n",
        "bare LF after the request line": b"GET /api/read HTTP/1.1\n%b\r\n" % rest,
        "bare LF after a header": b"GET /api/read HTTP/1.1\r\nX-A: 1\n%b\r\n" % rest,
        "bare CR": b"GET /api/read HTTP/1.1\r\nX-A: a\rb\r\n%b\r\n" % rest,
        "bare CR in the request line": b"GET /api\r/read HTTP/1.1\r\n%b\r\n" % rest,
        "no version": b"GET /api/read\r\n%b\r\n" % rest,
        "HTTP/2.0": b"GET /api/read HTTP/2.0\r\n%b\r\n" % rest,
        "HTTP/1.2": b"GET /api/read HTTP/1.2\r\n%b\r\n" % rest,
        "HTTP/0.9": b"GET /api/read HTTP/0.9\r\n%b\r\n" % rest,
        "http/1.1": b"GET /api/read http/1.1\r\n%b\r\n" % rest,
        "HTTP/1.10": b"GET /api/read HTTP/1.10\r\n%b\r\n" % rest,
        "two spaces": b"GET  /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "trailing space": b"GET /api/read HTTP/1.1 \r\n%b\r\n" % rest,
        "tab": b"GET\t/api/read\tHTTP/1.1\r\n%b\r\n" % rest,
        "leading space": b" GET /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "leading line": b"\r\nGET /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "method with a brace": b"G{T /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "method with a high byte": b"G\xe9T /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "no method": b" /api/read HTTP/1.1\r\n%b\r\n" % rest,
        "only a word": b"GET\r\n\r\n",
        "garbage": b"\x16\x03\x01\x00\xa5\x01\r\n\r\n",
        "zero byte": b"GET /api/\x00read HTTP/1.1\r\n%b\r\n" % rest,
        "header without colon": b"GET /api/read HTTP/1.1\r\nX-A\r\n%b\r\n" % rest,
        "header without name": b"GET /api/read HTTP/1.1\r\n: a\r\n%b\r\n" % rest,
        "space before the colon": b"GET /api/read HTTP/1.1\r\nX-A : 1\r\n%b\r\n" % rest,
        "space in a name": b"GET /api/read HTTP/1.1\r\nX A: 1\r\n%b\r\n" % rest,
        "folded": b"GET /api/read HTTP/1.1\r\nX-A: 1\r\n 2\r\n%b\r\n" % rest,
        "leading space of a name": b"GET /api/read HTTP/1.1\r\n X-A: 1\r\n%b\r\n" % rest,
        "name with a parenthesis": b"GET /api/read HTTP/1.1\r\nX(A: 1\r\n%b\r\n" % rest,
        "zero byte in a value": b"GET /api/read HTTP/1.1\r\nX-A: a\x00b\r\n%b\r\n" % rest,
        "control byte in a value": b"GET /api/read HTTP/1.1\r\nX-A: a\x01b\r\n%b\r\n" % rest,
        "UTF-8 value": b"GET /api/echo/h HTTP/1.1\r\nX-A: \xc3\xa9\r\n%b\r\n" % rest,
        "Latin-1 value": b"GET /api/echo/h HTTP/1.1\r\nX-A: \xe9\r\n%b\r\n" % rest,
        "high byte in a name": b"GET /api/read HTTP/1.1\r\nX-\xe9: 1\r\n%b\r\n" % rest,
        "UTF-8 in the path": b"GET /api/echo/\xc3\xa9 HTTP/1.1\r\n%b\r\n" % rest,
        "UTF-8 in the query": b"GET /api/echo/q?a=\xc3\xa9 HTTP/1.1\r\n%b\r\n" % rest,
        "UTF-8 Host": b"GET /api/read HTTP/1.1\r\nHost: \xc3\xa9\r\nConnection: close\r\n\r\n",
        "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    }.items():
        yield _raw(name, data)


CASES = {
    case.name: case
    for group in (
        _methods,
        _paths,
        _templates,
        _queries,
        _headers,
        _hosts,
        _bodies,
        _answers,
        _keys,
        _admin,
        _malformed,
    )
    for case in group()
}
