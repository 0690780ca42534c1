"""What HTTP caches make of the app's responses: 304, 404, and responses without a lifetime of their own."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest
import requests
from aiohttp import ClientSession
from cachecontrol import CacheControl

from tests.addons.web.pages import MOVED
from tests.api import Api
from tests.plain_http import PlainClient
from tests.polling import eventually
from tests.running_app import RunningApp

ENCODINGS = pytest.mark.parametrize("encoding", ["identity", "gzip"])


@pytest.fixture
async def client(app: RunningApp) -> AsyncIterator[PlainClient]:
    async with ClientSession() as session:
        yield PlainClient(session, app.url)


@pytest.fixture
async def paths(api: Api, client: PlainClient) -> list[str]:
    """One path of each route that has GET, except the catch-all."""
    author = await api.new_user()
    post = await api.new_post(author, content="Some content. " * 200)

    async def is_listed() -> bool:
        return bool((await api.list_user_posts(author["id"])).body["items"])

    await eventually(is_listed)
    names = {
        "postId": post["id"],
        "userId": author["id"],
        "version": "v",
        "name": "site.css",
        "asset": "docs.js",
        "words": "a-title",
    }
    functions = json.loads((await client.get("/admin/functions")).content)
    triggers = [function["config"]["bindings"][0] for function in functions]
    routes = [trigger["route"] for trigger in triggers if "GET" in trigger.get("methods", [])]
    routes = [route for route in routes if "*" not in route and route not in MOVED]
    return [
        "/",
        *(
            "/" + re.sub(r"{(\w+)}", lambda name: names[name[1]], route)
            for route in routes
            if "*" not in route and route not in MOVED
        ),
    ]


@ENCODINGS
async def test_a_304_has_the_type_and_lifetime_of_its_representation(
    client: PlainClient, paths: list[str], encoding: str
) -> None:
    accepts = {"Accept-Encoding": encoding}
    with_etag = 0
    for path in paths:
        full = await client.get(path, accepts)
        assert full.status == 200, path
        if "etag" not in full.headers:
            continue
        with_etag += 1
        known = await client.get(path, accepts | {"If-None-Match": "*"})
        assert (known.status, known.content) == (304, b""), path
        for name in ("content-type", "cache-control", "vary", "content-security-policy"):
            assert known.headers.get(name) == full.headers.get(name), (path, name)
    assert with_etag > 12


@ENCODINGS
async def test_a_cache_serves_what_the_app_serves(
    app: RunningApp, client: PlainClient, paths: list[str], encoding: str
) -> None:
    def types_and_starts(path: str) -> set[tuple[str, bytes]]:
        # The cache revalidates on the second and third request, and its answer has the headers of the 304.
        headers = {"Accept-Encoding": encoding, "Cache-Control": "max-age=0"}
        with CacheControl(requests.Session()) as cached:
            answers = [cached.get(app.url + path, headers=headers, timeout=30) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {200}, path
        return {(answer.headers["Content-Type"], answer.content[:20]) for answer in answers}

    for path in paths:
        for _ in range(10):  # until a change of the front page does not come between
            direct = await client.get(path)
            cached = await asyncio.to_thread(types_and_starts, path)
            if (await client.get(path)).content == direct.content:
                break
        assert cached == {(direct.headers["content-type"], direct.content[:20])}, path


async def test_no_response_leaves_its_lifetime_to_the_cache(api: Api, client: PlainClient, paths: list[str]) -> None:
    """Caches can choose one for 200 and 404 (RFC 9111, 4.2.2). Varnish keeps both for two minutes."""
    missing = ["/api/posts/unknown", "/posts/unknown", "/assets/v/unknown", "/api/docs/unknown", "/api/feed?limit=x"]

    assert [path for path in paths + missing if "cache-control" not in (await client.get(path)).headers] == []
    errors = [await client.get(path) for path in missing]
    assert {answer.headers["cache-control"] for answer in errors} == {"no-store"}
