"""The data explorer's files, and the gateway features that support it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator import WELL_KNOWN_KEY, CosmosEmulator, EmulatorSettings
from tests.clock import Clock
from tests.raw_client import CONTAINER, RawClient, RawResponse
from yarl import URL

pytestmark = pytest.mark.emulator_only("the emulator's own page")

OTHER_KEY = "YW5vdGhlciBrZXk="


@pytest.fixture
async def session(emulator: CosmosEmulator) -> AsyncIterator[ClientSession]:
    async with ClientSession(emulator.endpoint) as opened:
        yield opened


async def test_the_page_and_its_files_need_no_signature(session: ClientSession) -> None:
    async with session.get("/_explorer/") as page:
        text = await page.text()
        assert (page.status, page.content_type) == (200, "text/html")

    named = set(re.findall(r'(?:href|src)="[0-9a-f]{16}/([^"#]+)"', text))
    assert named == {"theme.css", "layout.css", "controls.css", "views.css", "explorer.js", "icon.svg"}
    for name in named | await imported_by("explorer.js", session):
        async with session.get(f"/_explorer/{name}") as file:
            assert (file.status, bool(await file.text())) == (200, True), name


async def imported_by(name: str, session: ClientSession) -> set[str]:
    async with session.get(f"/_explorer/{name}") as file:
        direct = set(re.findall(r' from "\./([^"]+)"', await file.text()))
    return direct.union(*[await imported_by(module, session) for module in direct])


async def test_files_are_cached_by_version_and_the_page_is_not(session: ClientSession) -> None:
    async with session.get("/_explorer/") as page:
        script = re.findall(r'src="([^"]+/explorer.js)"', await page.text())[0]
        assert page.headers["Cache-Control"] == "no-store"

    async with session.get(f"/_explorer/{script}") as file:
        assert (file.status, file.headers["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
    async with session.get("/_explorer/0123456789abcdef/explorer.js") as file:
        assert file.status == 404


@pytest.mark.parametrize("name", ["", "explorer.js", "theme.css", "icon.svg"])
async def test_files_have_a_strict_content_security_policy(session: ClientSession, name: str) -> None:
    async with session.get(f"/_explorer/{name}") as file:
        policy = file.headers["Content-Security-Policy"].split("; ")

        assert {"default-src 'none'", "script-src 'self'", "connect-src 'self'"} <= set(policy)
        assert {"frame-ancestors 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} <= set(policy)
        assert not [rule for rule in policy if "unsafe" in rule or "http" in rule or "*" in rule]
        assert file.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in file.headers


async def test_only_the_explorers_files_are_served(session: ClientSession, emulator: CosmosEmulator) -> None:
    for path in ["missing.js", "pages.py", "static/explorer.js", "..%2fpages.py", "dbs", "/"]:
        async with session.get(URL(f"{emulator.endpoint}_explorer/{path}", encoded=True)) as response:
            assert response.status == 404, path
    async with session.post("/_explorer/", data=b"{}") as response:
        assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")
    async with session.head("/_explorer/") as response:
        assert response.status == 200


async def test_the_address_without_a_trailing_slash_redirects_to_the_page(session: ClientSession) -> None:
    async with session.get("/_explorer", allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (308, "/_explorer/")


async def test_similar_paths_belong_to_the_api(session: ClientSession) -> None:
    for path in ["/_explorers", "/_explorer.js", "/dbs/_explorer/"]:
        async with session.get(path) as response:
            assert response.status == 401, path


async def test_the_page_must_sign_its_api_requests(session: ClientSession, emulator: CosmosEmulator) -> None:
    page = {"Referer": f"{emulator.endpoint}_explorer/", "Sec-Fetch-Site": "same-origin"}
    async with session.get("/dbs", headers=page) as response:
        assert response.status == 401


async def test_no_file_contains_a_custom_key() -> None:
    async with (
        CosmosEmulator(EmulatorSettings(key=OTHER_KEY)) as emulator,
        ClientSession(emulator.endpoint) as session,
    ):
        for name in ["index.html", "explorer.js", *await imported_by("explorer.js", session)]:
            async with session.get(f"/_explorer/{name}") as file:
                assert OTHER_KEY not in await file.text()
        async with session.get("/_explorer/signature.js") as file:
            assert WELL_KNOWN_KEY in await file.text()


async def test_partition_statistics_count_items_on_request(container: ContainerProxy) -> None:
    for number in range(20):
        await container.create_item({"id": str(number), "pk": f"p{number}"})

    assert sum((await counts(container)).values()) == 20
    assert set(await counts(container)) == {"0", "1", "2", "3"}
    assert "statistics" not in await container.read()


async def test_partition_statistics_omit_expired_items(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=-1)
    await container.create_item({"id": "short", "pk": "p", "ttl": 5})
    await container.create_item({"id": "long", "pk": "p"})

    clock.advance(10)

    assert sum((await counts(container)).values()) == 1


async def counts(container: ContainerProxy) -> dict[str, int]:
    """Return the item count of each physical partition, by ID."""
    read = await container.read(populate_partition_key_range_statistics=True)
    return {partition["id"]: partition["documentCount"] for partition in read["statistics"]}


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 3", [8, 7, 6]),
        ("SELECT VALUE COUNT(1) FROM c", [10]),
        ("SELECT DISTINCT VALUE c.even FROM c ORDER BY c.even", [False, True]),
        ("SELECT COUNT(1) AS items FROM c GROUP BY c.even", [{"items": 5}, {"items": 5}]),
    ],
)
async def test_the_emulator_merges_partitions_only_on_request(
    container: ContainerProxy, raw: RawClient, query: str, rows: list[Any]
) -> None:
    for number in range(10):
        await container.create_item({"id": str(number), "pk": f"p{number}", "n": number, "even": number % 2 == 0})

    refused = await query_raw(raw, query)
    assert (refused.status, refused.headers["x-ms-substatus"]) == (400, "1004")

    merged = await query_raw(raw, query, {"x-ms-cosmos-emulator-merge-partitions": "true"})
    assert (merged.status, merged.json["Documents"]) == (200, rows)


async def test_a_merged_query_resumes_from_its_continuation_token(container: ContainerProxy, raw: RawClient) -> None:
    for number in range(10):
        await container.create_item({"id": str(number), "pk": f"p{number}", "n": number})

    seen, continuation = [], ""
    while continuation is not None:
        headers = {"x-ms-cosmos-emulator-merge-partitions": "true", "x-ms-max-item-count": "3"}
        page = await query_raw(
            raw, "SELECT VALUE c.n FROM c ORDER BY c.n", headers | {"x-ms-continuation": continuation}
        )
        seen.append(page.json["Documents"])
        continuation = page.headers.get("x-ms-continuation")

    assert seen == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


async def query_raw(raw: RawClient, query: str, headers: dict[str, str] | None = None) -> RawResponse:
    sent = {"content-type": "application/query+json", "x-ms-documentdb-query-enablecrosspartition": "true"}
    sent |= headers or {}
    body = {"query": query, "parameters": []}
    return await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=sent)
