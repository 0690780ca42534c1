"""Requests recorded from the Python SDK, for mutation."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError
from cosmos_emulator import WELL_KNOWN_KEY
from cosmos_emulator.messages import headers as h
from tests.fuzz import hostile_json
from tests.fuzz.fuzz_target import ENTRA, FuzzTarget
from tests.fuzz.hostile_requests import TEMPLATES, hostile_header, path, token
from tests.fuzz.http_bytes import HttpRequest


class _Recorder(AioHttpTransport):
    """The SDK's transport, which also records requests."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[HttpRequest] = []

    async def send(self, request: Any, **options: Any) -> Any:
        url = urlsplit(request.url)
        body = request.data if request.data is not None else b""
        headers = tuple((name.lower().encode(), str(value).encode()) for name, value in request.headers.items())
        kept = tuple(header for header in headers if header[0] not in (b"content-length", b"connection"))
        self.requests.append(
            HttpRequest(request.method, url.path.encode(), kept, body.encode() if isinstance(body, str) else body)
        )
        return await super().send(request, **options)


def recorded(port: int) -> list[HttpRequest]:
    """Record one signed request of each kind."""
    return asyncio.run(_recorded(port))


async def _recorded(port: int) -> list[HttpRequest]:
    recorder = _Recorder()
    async with CosmosClient(f"http://127.0.0.1:{port}/", WELL_KNOWN_KEY, transport=recorder) as client:
        scrap = client.get_database_client("scrap")
        with suppress(CosmosHttpResponseError):
            await scrap.delete_container("sdk")
        container = await scrap.create_container(
            "sdk",
            PartitionKey("/pk"),
            default_ttl=100,
            offer_throughput=ThroughputProperties(auto_scale_max_throughput=4000),
        )
        await container.replace_throughput(500)
        await scrap.replace_container(container, PartitionKey("/pk"), default_ttl=-1)
        _ = [one async for one in client.list_databases()], [one async for one in scrap.list_containers()]
        _ = [one async for one in client.query_databases("SELECT * FROM d WHERE d.id = 'scrap'")]
        await _use_items(client.get_database_client("target").get_container_client("items"))
        await _use_scripts(client.get_database_client("target").get_container_client("items"))
        await scrap.delete_container("sdk")
    return recorder.requests


async def _use_items(items: ContainerProxy) -> None:
    await items.upsert_item({"id": "i0", "pk": "p", "n": 0, "tags": ["a"]})
    item = await items.read_item("i0", "p")
    await items.replace_item("i0", {**item, "n": 1}, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    await items.patch_item(
        "i0", "p", [{"op": "incr", "path": "/n", "value": 1}], filter_predicate="from c where c.n = 1"
    )
    await items.execute_item_batch(
        [
            ("upsert", ({"id": "i1", "pk": "p"},)),
            ("read", ("i0",)),
            ("patch", ("i0", [{"op": "add", "path": "/m", "value": 1}])),
        ],
        "p",
    )
    queries: list[tuple[str, list[dict[str, Any]]]] = [
        ("SELECT * FROM c WHERE c.n >= @n ORDER BY c.n", [{"name": "@n", "value": 0}]),
        ("SELECT VALUE COUNT(1) FROM c", []),
        ("SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk", []),
        ("SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags OFFSET 0 LIMIT 2", []),
    ]
    for text, parameters in queries:
        scoped = items.query_items(text, parameters=parameters, partition_key="p", max_item_count=1)
        with suppress(CosmosHttpResponseError):  # GROUP BY with pages of one row can be rejected
            _ = [one async for one in scoped]
    _ = [one async for one in items.query_items("SELECT * FROM c WHERE c.n >= 0 ORDER BY c.n")]
    _ = [one async for one in items.read_all_items(max_item_count=2)]
    feed = items.query_items_change_feed(start_time="Beginning", partition_key="p", max_item_count=2)
    _ = [one async for one in feed]
    _ = [one async for one in items.query_items_change_feed(start_time="Beginning")]
    await items.create_item({"id": "gone", "pk": "p"}, pre_trigger_include="stamp", post_trigger_include="after")
    await items.delete_item("gone", "p")


async def _use_scripts(items: ContainerProxy) -> None:
    scripts = items.scripts
    body = {"id": "made", "body": "function (a) { getContext().getResponse().setBody(a); }"}
    await scripts.create_stored_procedure(body)
    await scripts.execute_stored_procedure(
        "made", partition_key="p", parameters=[{"a": 1}, {"b": None}], enable_script_logging=True
    )
    await scripts.replace_stored_procedure("made", body)
    await scripts.delete_stored_procedure("made")
    _ = [one async for one in scripts.list_triggers()]
    _ = [one async for one in scripts.query_user_defined_functions("SELECT * FROM u")]


def changed(rng: random.Random, given: HttpRequest, others: list[HttpRequest], fuzz_target: FuzzTarget) -> HttpRequest:
    """Change parts of a request; replace its signature with a token that always passes."""
    headers = [header for header in given.headers if header[0] != b"authorization"]
    made = replace(given, headers=(ENTRA, *headers))
    for _ in range(rng.choice([1, 1, 2, 3])):
        made = _changed_once(rng, made, rng.choice(others), fuzz_target)
    return made


def _changed_once(rng: random.Random, given: HttpRequest, other: HttpRequest, fuzz_target: FuzzTarget) -> HttpRequest:
    headers = list(given.headers)
    at = rng.randrange(1, len(headers)) if len(headers) > 1 else 0
    match rng.randrange(9):
        case 0 if at:
            del headers[at]
        case 1 if at:
            text = hostile_json.changed_text(rng, headers[at][1].decode("latin-1"))
            headers[at] = (headers[at][0], text.encode("utf-8"))
        case 2:
            headers.insert(rng.randrange(1, len(headers) + 1), hostile_header(rng))
        case 3:
            headers += [header for header in other.headers if header[0] != b"authorization"][: rng.randrange(1, 8)]
        case 4:
            return replace(given, target=rng.choice([other.target, path(rng, fuzz_target, rng.choice(TEMPLATES))]))
        case 5:
            return replace(given, verb=other.verb)
        case 6:
            return replace(given, body=other.body)
        case 7:
            headers.append((h.CONTINUATION.encode(), token(rng)))
        case _ if given.body:
            return replace(given, body=_changed_body(rng, given.body))
    return replace(given, headers=tuple(headers))


def _changed_body(rng: random.Random, body: bytes) -> bytes:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return body[: rng.randrange(len(body) + 1)]
    return hostile_json.encoded(rng, hostile_json.changed(rng, content, rng.choice([1, 2])))
