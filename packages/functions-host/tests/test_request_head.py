"""Kestrel's rules for request lines and headers. `make test-host-fidelity` compares them with the real host."""

from __future__ import annotations

import pytest
from functions_host.http.request_head import RefusedRequestError, RequestHead, take_head


def head(
    target: str = "/", *lines: str, method: str = "GET", version: str = "HTTP/1.1", host: str = "x"
) -> RequestHead:
    return taken(f"{method} {target} {version}\r\nHost: {host}\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n")


def taken(data: str) -> RequestHead:
    found = take_head(bytearray(data.encode("latin-1")))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("target", "path", "url"),
    [
        ("/items/../items/x", "/items/x", "/items/x"),
        ("/items/%2e%2E/x", "/x", "/x"),
        ("/../../x", "/x", "/x"),
        ("/a/.", "/a/", "/a/"),
        ("/a/b/..", "/a/", "/a/"),
        ("//a", "//a", "//a"),
        ("/a%2Fb", "/a%2Fb", "/a%2Fb"),
        ("/%e9/%C3%A9", "/%e9/é", "/%e9/%C3%A9"),
        ("/%2525/%zz/%", "/%25/%zz/%", "/%25/%25zz/%25"),
        ("/a b".replace(" ", "%20") + "?a=#", "/a b", "/a%20b?a=%23"),
        ("/<{|", "/<{|", "/%3C%7B%7C"),
        ("http://x/y?z", "/y", "/y?z"),
        ("https://X:80", "/", "/"),
    ],
)
def test_a_path_is_decoded_and_written_again(target: str, path: str, url: str) -> None:
    assert (head(target).path, head(target).url) == (path, url)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        *((f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", 400) for host in ("[::1", "a@evil", "a<b>", "\xe9", "a:", "a:b")),
        ("GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET * HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("G{T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX-A : 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nX-A: \xe9\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        ("GET /" + "a" * 8180 + " HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        ("GET /" + "a" * 9000, 414),
        ("GET / HTTP/1.1\r\nHost: x\r\nX-A: " + "a" * 33_000 + "\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: x\r\nX-A: " + "a" * 40_000, 431),
        ("GET / HTTP/1.1\r\nHost: x\r\n" + "X: 1\r\n" * 100 + "\r\n", 431),
    ],
)
def test_an_invalid_head_is_refused(data: str, status: int) -> None:
    with pytest.raises(RefusedRequestError) as refused:
        take_head(bytearray(data.encode("latin-1")))

    assert refused.value.status == status


def test_unusual_heads_are_accepted() -> None:
    assert head(method="FOO").method == "FOO"
    assert taken("GET / HTTP/1.1\nHost: x\n\n").host == "x"
    assert taken("\r\nGET / HTTP/1.0\r\n\r\n").is_http_1_0
    assert head("/", "X-A: " + "a" * 32_000).headers["X-A"] == "a" * 32_000
    assert head("/", "X(A: a\x01b").headers["X(A"] == "a\x01b"


def test_a_chunked_body_wins_over_a_length() -> None:
    chunked = head("/", "Content-Length: 3", "Transfer-Encoding: gzip, chunked")

    assert (chunked.length, chunked.headers["X-Content-Length"], chunked.closes) == (None, "3", True)
    assert "Content-Length" not in chunked.headers
    assert head("/", "Content-Length: +3").length == 3


@pytest.mark.parametrize(
    "data", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r"]
)
def test_an_incomplete_head_stays_in_the_buffer(data: bytes) -> None:
    buffer = bytearray(data)

    assert take_head(buffer) is None
    assert buffer == data


def test_what_follows_a_head_stays_in_the_buffer() -> None:
    buffer = bytearray(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /")

    assert take_head(buffer) is not None
    assert buffer == b"abcGET /"
