"""Queries in the data explorer: results, paging, charges, metrics and history."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import WELL_KNOWN_KEY
from tests.explorer.explorer import Explorer

from tests.browser import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_more_rows_are_loaded_with_the_continuation_token(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    await explorer.page.fill("#query", "SELECT VALUE c.total FROM c WHERE c.total >= @least ORDER BY c.total DESC")
    await explorer.page.fill("#parameters", '{"@least": 15}')
    await explorer.page.select_option("#page-size", "10")
    await explorer.page.focus("#query")
    await explorer.page.keyboard.press("Control+Enter")

    first = await explorer.status("Page 1: 10 rows")
    await explorer.press("Load more")
    second = await explorer.status("Page 2: 5 rows")
    await explorer.page.get_by_role("tab", name="JSON").click()

    assert "RU (modeled)" in first
    assert "there are more" in first
    assert "for 15 rows on 2 pages" in second
    assert await explorer.json("#rows") == list(range(29, 14, -1))
    await expect(explorer.page.locator("#load-more")).to_be_hidden()
    assert explorer.log.errors == []


async def test_rows_are_a_table_with_a_column_for_each_property(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    await explorer.page.fill(
        "#query", "SELECT c.id, c.total, {n: 1} AS more FROM c WHERE c.customer = 'c3' ORDER BY c.total"
    )
    await explorer.press("Run")
    await explorer.status("Page 1: 4 rows")

    assert await explorer.column(explorer.rows, "id") == ["order-3", "order-10", "order-17", "order-24"]
    assert await explorer.column(explorer.rows, "total") == ["3", "10", "17", "24"]
    assert await explorer.column(explorer.rows, "more") == ['{"n":1}'] * 4


@pytest.mark.parametrize(
    "query", ["SELECT * FROM c WHERE c.total = 3", "SELECT c.id, c.customer FROM c WHERE c.total = 3"]
)
async def test_a_row_opens_its_item(explorer: Explorer, orders: ContainerProxy, query: str) -> None:
    await explorer.view("query")
    await explorer.page.fill("#query", query)
    await explorer.press("Run")
    await explorer.rows.get_by_role("gridcell", name="order-3", exact=True).click()

    await explorer.status("Read: ")
    assert (await explorer.json("#item"))["total"] == 3


async def test_results_are_copied_and_downloaded_as_json_and_csv(explorer: Explorer, orders: ContainerProxy) -> None:
    formula = '=HYPERLINK("x")'
    await orders.create_item({"id": "evil", "customer": "c3", "total": -1, "note": formula, "lines": [1, "a,b"]})
    await explorer.view("query")
    await explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await explorer.page.fill(
        "#query", "SELECT c.id, c.total, c.note, c.lines FROM c WHERE c.total < 1 ORDER BY c.total"
    )
    await explorer.press("Run")
    await explorer.status("2 rows")
    await explorer.page.get_by_text("Export", exact=True).click()

    await explorer.press("Copy as CSV")
    await explorer.status("Copied 2 rows")
    copied = await explorer.page.evaluate("navigator.clipboard.readText()")
    await explorer.page.get_by_text("Export", exact=True).click()
    async with explorer.page.expect_download() as download:
        await explorer.press("Download JSON")
    file = await download.value
    downloaded = json.loads(await asyncio.to_thread(Path(await file.path()).read_text, "utf-8"))

    assert list(csv.reader(io.StringIO(copied, newline=""))) == [
        ["id", "total", "note", "lines"],
        ["evil", "-1", f"'{formula}", '[1,"a,b"]'],
        ["order-0", "0", "", ""],
    ]
    assert file.suggested_filename == "orders.json"
    assert downloaded[0]["note"] == formula


async def test_metrics_name_the_used_index(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    await explorer.page.fill("#query", "SELECT * FROM c WHERE c.total = 3")
    await explorer.press("Run")
    await explorer.status("1 row;")
    await explorer.page.get_by_role("tab", name="Metrics").click()

    await expect(explorer.page.get_by_role("region", name="Indexes used")).to_contain_text("/total/?")
    await expect(explorer.page.get_by_role("row", name="Rows returned")).to_contain_text("1")


async def test_the_history_recalls_queries_after_a_reload(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    for query in ("SELECT VALUE 1", "SELECT VALUE 2"):
        await explorer.page.fill("#query", query)
        await explorer.press("Run")
        await explorer.status("Page 1")

    await explorer.view("query")
    assert await explorer.page.input_value("#query") == "SELECT VALUE 2"
    await explorer.page.get_by_text("History", exact=True).click()
    await explorer.press("SELECT VALUE 1")

    assert await explorer.page.input_value("#query") == "SELECT VALUE 1"


async def test_a_rejected_query_says_what_to_do(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    await explorer.page.fill("#query", "SELECT * FORM c")
    await explorer.press("Run")
    assert "syntax" in (await explorer.status("400 BadRequest")).lower()

    await explorer.page.fill("#query", "SELECT * FROM c ORDER BY c.a, c.b")
    await explorer.press("Run")
    await explorer.status("several paths need a composite index")

    await explorer.page.fill("#parameters", "{")
    await explorer.press("Run")
    await explorer.status("The text in Parameters is not valid JSON")


async def test_the_colored_copy_has_the_text_of_the_query(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("query")
    text = "SELECT c.id -- 'comment'\nFROM c WHERE c.a = \"it's\" AND c.b >= @least"

    await explorer.page.fill("#query", text)

    copy = explorer.page.locator(".code:has(#query) pre")
    assert await copy.evaluate("(copy) => copy.textContent") == f"{text}\n"
    assert await copy.locator(".token-keyword").all_text_contents() == ["SELECT", "FROM", "WHERE", "AND"]
    assert await copy.locator(".token-string").all_text_contents() == ['"it\'s"']


async def test_containers_of_the_articles_blog_offer_its_queries(explorer: Explorer, orders: ContainerProxy) -> None:
    async with CosmosClient(explorer.url.removesuffix("_explorer/"), WELL_KNOWN_KEY) as client:
        paths = ("/type", "/creationDate", "/id")
        newest = {"compositeIndexes": [[{"path": path, "order": "descending"} for path in paths]]}
        database = client.get_database_client("db")
        posts = await database.create_container("posts", PartitionKey("/postId"), indexing_policy=newest)
        await posts.create_item({"id": "p", "postId": "p", "type": "post"})
        for number in range(3):
            await posts.create_item({"id": f"c{number}", "postId": "p", "type": "comment", "creationDate": f"{number}"})
    await explorer.view("query")
    await expect(explorer.page.get_by_text("Examples", exact=True)).to_have_count(0)
    await explorer.open("#/dbs/db/colls/posts/query")
    await explorer.page.get_by_text("Examples", exact=True).click()
    await explorer.press("Q4: a post's comments, newest first")
    await expect(explorer.page.locator("#query-key")).to_have_value('"p"')
    await explorer.press("Run")

    await explorer.status("Page 1: 3 rows")
    assert await explorer.column(explorer.rows, "id") == ["c2", "c1", "c0"]
    assert explorer.log.errors == []
