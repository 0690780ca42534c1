"""Malformed and random requests get 4xx responses and never stop the server."""

from __future__ import annotations

import asyncio
import gzip
import random
import time
import zlib
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient
from yarl import URL

VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
SEGMENTS = [
    *("dbs", "db", "colls", "items", "docs", "a", "sprocs", "triggers", "udfs", "pkranges", "offers", "operations"),
    *("partitionkeydelete", "users", "gAABAA==", "%00", "%2F", "%ff", "..", "ü", "x" * 300),
]
HEADERS = {
    "x-ms-documentdb-partitionkey": ['["p"]', "[]", "[1, 2, 3]", "nonsense", '{"a": 1}', "[[[]]]", "\udcff"],
    "x-ms-documentdb-isquery": ["True", "odd"],
    "x-ms-documentdb-is-upsert": ["True"],
    "x-ms-cosmos-is-batch-request": ["True"],
    "x-ms-cosmos-is-query-plan-request": ["True"],
    "x-ms-max-item-count": ["0", "-1", "1", "many", "9" * 30],
    "x-ms-continuation": ["x", "e30=", "eyJyYW5nZSI6IjkiLCJlcGsiOiIiLCJudW1iZXIiOjF9", "eyJnaXZlbiI6dHJ1ZX0="],
    "x-ms-documentdb-partitionkeyrangeid": ["0", "99", "-1", ""],
    "x-ms-start-epk": ["", "FF", "zz"],
    "x-ms-end-epk": ["", "FF", "0"],
    "a-im": ["Incremental Feed", "?"],
    "if-none-match": ["*", '"5"', "9" * 100, "²"],
    "if-modified-since": ["x", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 99 Jan 99999 00:00:00 GMT"],
    "if-match": ["x", "*"],
    "content-type": ["application/query+json", "text/plain"],
    "x-ms-documentdb-pre-trigger-include": ["none", ","],
    "x-ms-offer-throughput": ["x", "1", "[1]"],
    "x-ms-activity-id": ["ü", "a b"],
}
BODIES = [
    *(b"", b"{}", b"[]", b"null", b'"x"', b"\xff", b'{"id": "a", "pk": "p"}', b'{"id": "a", "pk": {"x": []}}'),
    *(b"[" * 5000, b'{"query": "SELECT * FROM c"}', b'{"query": "' + b"(" * 3000 + b'"}', b'{"query": null}'),
    *(b'{"query": "SELECT * FROM c WHERE c.a = @a", "parameters": [5]}', b'{"operations": [{"op": "add"}]}'),
    *(
        b'[{"operationType": "Create", "resourceBody": {}}]',
        b'{"id": "\\u0000", "pk": "p"}',
        b'{"id": "x", "body": "("}',
    ),
    b'{"id": "c", "partitionKey": {"paths": ["/a", 5]}, "indexingPolicy": [], "uniqueKeyPolicy": 5}',
]


@pytest.mark.parametrize("seed", range(4))
async def test_random_requests_never_cause_a_server_error(
    emulator: CosmosEmulator, container: ContainerProxy, seed: int
) -> None:
    emulator.settings.check_signatures = False
    dice = random.Random(seed)
    async with ClientSession() as session:
        for _ in range(300):
            verb = dice.choice(VERBS)
            prefix = dice.choice(["/", "/dbs/db/", "/dbs/db/colls/items/", "/dbs/db/colls/items/docs/"])
            path = prefix + "/".join(dice.choices(SEGMENTS, k=dice.randrange(3)))
            if verb == "DELETE" and path.strip("/") in ("dbs/db", "dbs/db/colls/items"):
                continue
            names = dice.sample(sorted(HEADERS), dice.randrange(6))
            headers = {name: dice.choice(HEADERS[name]) for name in names}
            body = dice.choice(BODIES)
            url = URL(emulator.endpoint.rstrip("/") + path.replace("ü", "%C3%BC"), encoded=True)
            async with session.request(verb, url, headers=headers, data=body) as response:
                text = await response.text()
            assert response.status < 500 or response.status == 501, (verb, path, headers, body, text)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /dbs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
        b"POST /dbs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nshort",
    ],
)
async def test_malformed_http_does_not_stop_the_server(
    emulator: CosmosEmulator, container: ContainerProxy, caplog: pytest.LogCaptureFixture, request_bytes: bytes
) -> None:
    address = urlsplit(emulator.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(request_bytes)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()

    assert b'"code":' in answer or not answer
    assert [record for record in caplog.records if record.exc_info] == []
    assert (await container.create_item({"id": "a", "pk": "p"}))["id"] == "a"


@pytest.mark.parametrize(
    "date", ["Tue, 01 Jan 99999999999999999999 00:00:00 GMT", "Tue, 01 Jan 2030 00:00:00 +" + "9" * 17]
)
async def test_a_start_time_with_a_huge_number_is_rejected(
    raw: RawClient, container: ContainerProxy, date: str
) -> None:
    headers = {**PARTITION_KEY, "A-IM": "Incremental Feed", "If-Modified-Since": date}

    response = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers)

    assert response.status == 400


async def test_a_body_with_the_wrong_content_encoding_is_rejected(raw: RawClient, container: ContainerProxy) -> None:
    response = await raw.create_item(data=b'{"id": "a"}', headers={"Content-Encoding": "gzip"})

    assert response.status == 400
    assert "The request payload is invalid" in response.json["message"]


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress])
async def test_a_compressed_body_is_decoded(
    raw: RawClient, container: ContainerProxy, encode: Callable[[bytes], bytes]
) -> None:
    encoding = {gzip.compress: "gzip", zlib.compress: "deflate"}[encode]
    body = encode(b'{"id": "a", "pk": "p"}')

    whole = await raw.create_item(data=body, headers={"Content-Encoding": encoding})
    half = await raw.create_item(data=body[:-5], headers={"Content-Encoding": encoding})
    unknown = await raw.create_item(data=body, headers={"Content-Encoding": "compress"})

    assert (whole.status, half.status, unknown.status) == (201, 400, 400)


async def test_a_body_is_decompressed_no_further_than_the_limit(raw: RawClient, container: ContainerProxy) -> None:
    """A compressed body of 204 KB with 210 MB of zeros."""
    bomb = gzip.compress(b"\0" * 210_000_000)
    start_s = time.process_time()
    gzip.decompress(bomb)
    whole_s = time.process_time() - start_s

    response = await raw.create_item(data=bomb, headers={"Content-Encoding": "gzip"})

    assert response.status == 413
    assert time.process_time() - start_s - whole_s < whole_s / 2


async def test_a_client_that_disconnects_during_its_body_logs_nothing(
    emulator: CosmosEmulator, container: ContainerProxy, caplog: pytest.LogCaptureFixture
) -> None:
    emulator.settings.check_signatures = False
    address = urlsplit(emulator.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(b"POST /dbs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nshort")
    writer.write_eof()

    await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()
    await container.create_item({"id": "a", "pk": "p"})

    assert [record for record in caplog.records if record.name.startswith("cosmos_emulator")] == []


async def test_a_rid_under_the_wrong_parent_returns_404(
    emulator: CosmosEmulator, database: DatabaseProxy, container: ContainerProxy, client: CosmosClient, raw: RawClient
) -> None:
    item = await container.create_item({"id": "a", "pk": "p"})
    own, owned = (await database.read())["_rid"], (await container.read())["_rid"]
    elsewhere = (await (await client.create_database("elsewhere")).read())["_rid"]
    neighbor = (await (await database.create_container("neighbor", PartitionKey("/pk"))).read())["_rid"]
    emulator.settings.check_signatures = False

    async def status(path: str) -> int:
        response = await raw.send("GET", path, kind="docs", headers=PARTITION_KEY)
        return response.status

    assert await status(f"/dbs/{own}/colls/{owned}/docs/{item['_rid']}") == 200
    assert await status(f"/dbs/{elsewhere}/colls/{owned}/docs/{item['_rid']}") == 404
    assert await status(f"/dbs/{elsewhere}/colls/{owned}") == 404
    assert await status(f"/dbs/{own}/colls/{neighbor}/docs/{item['_rid']}") == 404


async def test_a_header_that_is_not_utf8_is_rejected(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    emulator.settings.check_signatures = False
    address = urlsplit(emulator.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(
        b"GET /dbs/db/colls/items/docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"x-ms-documentdb-partitionkeyrangeid: \xff\r\n\r\n"
    )

    response = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()

    assert response.startswith(b"HTTP/1.1 410 ")
    assert b"is gone" in response


@pytest.mark.parametrize("host", [b"\xfc", b"\x80", b"[", b"a b", b"localhost:abc", b"user@localhost", b""])
@pytest.mark.parametrize("verb", [b"GET", b"HEAD"])
async def test_an_odd_host_header_never_causes_a_server_error(
    emulator: CosmosEmulator, monkeypatch: pytest.MonkeyPatch, verb: bytes, host: bytes
) -> None:
    monkeypatch.setattr(emulator.settings, "check_signatures", False)
    address = urlsplit(emulator.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(verb + b" / HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")

    answer = await reader.read()

    writer.close()
    assert answer.startswith(b"HTTP/1.1 ")
    assert answer.split()[1] < b"500"


@pytest.mark.parametrize("feed", ["query", "docs", "sprocs", "offers"])
async def test_an_invalid_continuation_token_gets_the_text_that_microsofts_tests_expect(
    raw: RawClient, container: ContainerProxy, feed: str
) -> None:
    headers = {"x-ms-continuation": "junk", **PARTITION_KEY}

    if feed == "query":
        query = {"x-ms-documentdb-isquery": "true", **headers}
        body = {"query": "SELECT * FROM c"}
        path = f"/{CONTAINER}/docs"
        response = await raw.send("POST", path, kind="docs", link=CONTAINER, headers=query, body=body)
    elif feed == "offers":
        response = await raw.send("GET", "/offers", kind="offers", headers=headers)
    else:
        response = await raw.send("GET", f"/{CONTAINER}/{feed}", kind=feed, link=CONTAINER, headers=headers)

    assert response.status == 400
    assert "Invalid Continuation Token" in response.json["message"]
    assert "The continuation token specified in the request is malformed" in response.json["message"]
