"""The data explorer in Chromium."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from playwright.async_api import Browser, Page, expect

from tests.browser import PageLog, running_chromium

# All tests share one browser, so they share its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
PROCEDURE = """function greet(name) {
  console.log("greeting " + name);
  getContext().getResponse().setBody({greeting: "hello " + name});
}"""
OTHER_KEY = "YW5vdGhlciBrZXk="


class Explorer:
    """The page, operated the way a user would."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log = PageLog(page)
        page.on("dialog", lambda dialog: dialog.accept())

    async def choose(self, view: str) -> None:
        """Open a view of the only container."""
        await self.page.click(".container")
        await self.page.click(f"[data-view={view}]")

    async def submit(self) -> None:
        await self.page.click("main [type=submit]")

    async def press(self, name: str) -> None:
        await self.page.locator("main").get_by_role("button", name=name, exact=True).click()

    async def status(self, part: str) -> str:
        """Wait for a status line that contains `part`, and return all of it."""
        line = self.page.locator("main .status", has_text=part)
        await expect(line).to_be_visible()
        return await line.inner_text()

    async def text(self, selector: str) -> str:
        return await self.page.locator(selector).inner_text()

    async def json(self, selector: str) -> Any:
        element = self.page.locator(selector)
        await expect(element).to_be_visible()
        return json.loads(await element.evaluate("(element) => element.value ?? element.innerText"))

    async def ids(self) -> list[str]:
        """Wait for a list of items, and return their ids."""
        await self.page.locator(".item").first.wait_for()
        return await self.page.locator(".item").all_text_contents()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def emulator() -> AsyncIterator[CosmosEmulator]:
    async with CosmosEmulator(EmulatorSettings(partitions=4)) as emulator:
        yield emulator


@pytest_asyncio.fixture(loop_scope="module")
async def orders(emulator: CosmosEmulator) -> AsyncIterator[ContainerProxy]:
    """A container with 30 orders of 7 customers."""
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        container = await database.create_container("orders", PartitionKey("/customer"), offer_throughput=600)
        for number in range(30):
            await container.create_item({"id": f"order-{number}", "customer": f"c{number % 7}", "total": number})
        yield container


@pytest_asyncio.fixture(loop_scope="module")
async def explorer(emulator: CosmosEmulator, orders: ContainerProxy, browser: Browser) -> AsyncIterator[Explorer]:
    async with await browser.new_page() as page:
        explorer = Explorer(page)
        await page.goto(f"{emulator.endpoint}_explorer/")
        yield explorer
        assert [url for url in explorer.log.requested if not url.startswith(emulator.endpoint)] == []


async def test_items_can_be_listed_edited_and_deleted_under_their_etags(
    explorer: Explorer, orders: ContainerProxy
) -> None:
    await explorer.choose("Items")
    assert len(await explorer.ids()) == 25
    await explorer.press("Next page")
    await explorer.status("5 items")
    await explorer.page.fill("#items-key", "c3")
    await explorer.submit()
    await explorer.status("4 items")
    assert sorted(await explorer.ids()) == ["order-10", "order-17", "order-24", "order-3"]

    await explorer.page.locator(".item").first.click()
    await explorer.status("Read: 1.00 RU")
    item = await explorer.json("#item")
    await explorer.page.fill("#item", json.dumps({**item, "total": 99}))
    await explorer.press("Save")
    await explorer.status("Saved")
    stored = await orders.read_item(item["id"], "c3")
    assert stored["total"] == 99

    await orders.upsert_item({**stored, "total": 100})
    await explorer.press("Delete")
    await explorer.status("412 PreconditionFailed")
    await explorer.press("Reload")
    await explorer.status("Read: 1.00 RU")
    await explorer.press("Delete")
    await explorer.status("Deleted")
    left = {item["id"] async for item in orders.query_items("SELECT c.id FROM c", partition_key="c3")}
    assert left == {"order-3", "order-10", "order-17", "order-24"} - {item["id"]}


async def test_a_new_item_is_created_in_its_logical_partition(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.choose("Items")
    await explorer.press("New item")
    template = await explorer.json("#item")
    assert template["customer"] == ""

    await explorer.page.fill("#item", json.dumps({"id": "..", "customer": "Zoë"}))
    await explorer.press("Save")
    await explorer.status("Saved")

    assert (await explorer.json("#item"))["customer"] == "Zoë"
    assert [item["id"] async for item in orders.query_items("SELECT * FROM c", partition_key="Zoë")] == [".."]


async def test_a_query_shows_its_rows_page_by_page_with_their_charge(explorer: Explorer) -> None:
    await explorer.choose("Query")
    await explorer.page.fill("#query", "SELECT VALUE c.total FROM c WHERE c.total >= @least ORDER BY c.total DESC")
    await explorer.page.fill("#parameters", '{"@least": 5}')
    await explorer.page.select_option("#page-size", "10")
    await explorer.submit()

    assert await explorer.json("#rows") == list(range(29, 19, -1))
    assert "RU (modeled)" in await explorer.status("Page 1: 10 rows")
    await explorer.press("Next page")
    assert "RU for all 2 pages" in await explorer.status("Page 2: 10 rows")
    assert await explorer.json("#rows") == list(range(19, 9, -1))
    assert explorer.log.errors == []


async def test_a_rejected_query_shows_the_error(explorer: Explorer) -> None:
    await explorer.choose("Query")
    await explorer.page.fill("#query", "SELECT * FORM c")
    await explorer.submit()
    assert "syntax" in (await explorer.status("400 BadRequest")).lower()

    await explorer.page.fill("#parameters", "{")
    await explorer.submit()
    await explorer.status("The parameters are not valid JSON")


async def test_scripts_are_listed_and_a_stored_procedure_can_be_executed(
    explorer: Explorer, orders: ContainerProxy
) -> None:
    await orders.scripts.create_stored_procedure({"id": "greet", "body": PROCEDURE})
    await orders.scripts.create_trigger(
        {"id": "stamp", "body": "function stamp() {}", "triggerType": "Pre", "triggerOperation": "Create"}
    )

    await explorer.choose("Scripts")
    await explorer.page.click(".script >> text=greet")
    assert await explorer.text(".source") == PROCEDURE
    await explorer.page.fill("#script-key", "c1")
    await explorer.page.fill("#arguments", '["Ada"]')
    await explorer.submit()

    assert await explorer.json("#result") == {"greeting": "hello Ada"}
    assert "greeting Ada" in await explorer.text("#log")
    await explorer.status("Executed: 4.27 RU")


async def test_settings_show_the_definition_throughput_and_partitions(explorer: Explorer) -> None:
    await explorer.choose("Settings")

    facts = await explorer.text("#facts")
    assert "/customer (Hash, version 2)" in facts
    assert "600 RU/s" in facts
    assert (await explorer.json("#indexing-policy"))["indexingMode"] == "consistent"
    assert "30 items in 4 physical partitions" in await explorer.text("main table")


async def test_settings_report_a_key_that_cannot_read_the_throughput(
    explorer: Explorer, emulator: CosmosEmulator
) -> None:
    await explorer.choose("Settings")
    emulator.settings.rbac = True

    await explorer.page.click("[data-view=Scripts]")
    await explorer.status("403/5300 Forbidden")
    await explorer.page.click("[data-view=Settings]")
    assert "not shown: with --rbac, this key is limited to data operations" in await explorer.text("#facts")


async def test_every_field_has_a_label_and_every_action_a_name(explorer: Explorer, orders: ContainerProxy) -> None:
    await orders.scripts.create_stored_procedure({"id": "greet", "body": PROCEDURE})
    nameless = """() => [
      ...[...document.querySelectorAll("input, textarea, select")].filter((field) => !field.labels.length),
      ...[...document.querySelectorAll("button")].filter((button) => !button.textContent.trim()),
      ...[...document.querySelectorAll("nav, section, dialog, pre")].filter(
        (region) => !region.ariaLabel && !region.hasAttribute("aria-labelledby")
      ),
      ...[...document.querySelectorAll("[onclick], a:not([href])")],
    ].map((element) => element.outerHTML.slice(0, 80))"""

    for view, shown in {"Items": "main table", "Query": "#query", "Scripts": ".source", "Settings": "#facts"}.items():
        await explorer.choose(view)
        if view == "Scripts":
            await explorer.page.click(".script")
        await expect(explorer.page.locator(shown)).to_be_visible()
        assert await explorer.page.evaluate(nameless) == [], view


async def test_markup_in_data_is_shown_as_text(explorer: Explorer, orders: ContainerProxy) -> None:
    await orders.create_item({"id": HOSTILE.replace("/", "|"), "customer": HOSTILE, HOSTILE: HOSTILE})
    body = f"function hostile() {{ return `{HOSTILE}`; }}"
    await orders.scripts.create_stored_procedure({"id": HOSTILE.replace("/", "|"), "body": body})

    await explorer.choose("Items")
    await explorer.page.fill("#items-key", HOSTILE)
    await explorer.submit()
    await explorer.status("1 items")
    await explorer.page.click(".item")
    await explorer.status("Read: ")
    await explorer.choose("Query")
    await explorer.page.fill("#query-key", HOSTILE)
    await explorer.submit()
    rows = await explorer.json("#rows")
    await explorer.choose("Scripts")
    await explorer.page.click(".script")

    assert rows[0][HOSTILE] == HOSTILE
    assert await explorer.text(".source") == body
    assert await explorer.page.locator("main script, main img, nav script, nav img").count() == 0
    assert await explorer.page.title() == "Data explorer"
    assert explorer.log.errors == []


async def test_trusted_types_reject_markup_set_by_the_page_itself(explorer: Explorer) -> None:
    set_markup = """() => {
      try { document.querySelector("main").innerHTML = "<b>bold</b>"; return "set"; }
      catch (error) { return error.name; }
    }"""
    assert await explorer.page.evaluate(set_markup) == "TypeError"


async def test_the_page_prompts_for_a_custom_key(browser: Browser) -> None:
    async with (
        CosmosEmulator(EmulatorSettings(key=OTHER_KEY)) as emulator,
        CosmosClient(emulator.endpoint, OTHER_KEY) as client,
        await browser.new_page() as page,
    ):
        await client.create_database("secret")
        await page.goto(f"{emulator.endpoint}_explorer/")
        await expect(page.locator("#key-dialog[open] #key-title")).to_be_visible()

        await page.fill("#key", "d3Jvbmc=")
        await page.click("#key-form button")
        await expect(page.locator("#key-problem")).to_contain_text("wrong key")
        await page.fill("#key", OTHER_KEY)
        await page.click("#key-form button")

        await expect(page.locator("#tree summary")).to_have_text("secret")
        assert await page.evaluate("() => [sessionStorage.length, localStorage.length]") == [1, 0]
