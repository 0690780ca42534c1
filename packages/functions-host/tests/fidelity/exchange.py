"""Raw HTTP exchanges: bytes out, and what a client can notice of the response."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_LONGEST_S = 10.0
# A longer body is compared, and recorded, by its hash.
_LONGEST_BODY = 30_000


@dataclass(frozen=True)
class Response:
    """A response. `headers` are sorted, with lowercase names. `status` is 0 if the connection closed without one."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    closed: bool = False


@dataclass(frozen=True)
class Case:
    """A request to both hosts. `{authority}` and the names of keys in it are replaced."""

    name: str
    data: bytes

    @property
    def is_head(self) -> bool:
        return self.data.startswith(b"HEAD ")


async def exchange(case: Case, port: int, keys: Mapping[str, str]) -> Response:
    """Send a request and read one response."""
    data = case.data
    for name, value in {**keys, "authority": f"127.0.0.1:{port}"}.items():
        data = data.replace(f"{{{name}}}".encode(), value.encode())
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    try:
        async with asyncio.timeout(_LONGEST_S):
            writer.write(data)
            return comparable(await _response(reader, has_body=not case.is_head))
    except (TimeoutError, ConnectionError, asyncio.IncompleteReadError) as error:
        return Response(0, body=b"timeout" if isinstance(error, TimeoutError) else b"", closed=True)
    finally:
        writer.close()


async def _response(reader: asyncio.StreamReader, *, has_body: bool) -> Response:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    if not first.startswith("HTTP/1."):  # the rest of a response that no client expects
        return Response(-1, body=head.encode("latin-1"), closed=True)
    status = int(first.split()[1])
    if status == 100 and not lines:
        return await _response(reader, has_body=has_body)
    pairs = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    headers = dict(pairs)
    closed = False
    if not has_body or status in (204, 304):
        body = b""
    elif "chunked" in headers.get("transfer-encoding", ""):
        body = await _chunked(reader)
    elif "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    else:
        body = await reader.read()
        closed = True
    return Response(status, tuple(sorted(pairs)), body, closed or headers.get("connection", "").lower() == "close")


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while length := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(length + 2))[:-2]
    await reader.readexactly(2)
    return body


_OWN = (
    (re.compile(rb"127\.0\.0\.1:\d{4,5}"), b"AUTHORITY"),
    (re.compile(rb'"(script_href|test_data_href|functionDirectory)":"[^"]*"'), rb'"\1":"FILE"'),
    (re.compile(rb'"id":"[^"]*","state"'), b'"id":"HOST","state"'),
    (re.compile(rb'"(version|versionDetails)":"4\.[^"]*"'), rb'"\1":"4"'),
    (re.compile(rb'"computerName":"[^"]*"'), b'"computerName":""'),
    (re.compile(rb'"processUptime":\d+'), b'"processUptime":0'),
)


def comparable(response: Response) -> Response:
    """Replace what differs between two runs, machines or versions: addresses, folders, names and times."""
    body = response.body
    for pattern, replacement in _OWN:
        body = pattern.sub(replacement, body)
    headers = tuple(
        (name, str(len(body)) if name == "content-length" and len(body) != len(response.body) else value)
        for name, value in response.headers
        if name != "date"
    )
    if len(body) > _LONGEST_BODY:
        body = f"{len(body)} bytes, SHA-256 {hashlib.sha256(body).hexdigest()}".encode()
    return Response(response.status, headers, body, response.closed)
