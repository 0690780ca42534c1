"""The data explorer in a real browser, on an emulator with a few orders."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from tests.browser import Page, eventually, find_chromium, page_in, running_browser

HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
PROCEDURE = """function greet(name) {
  console.log("greeting " + name);
  getContext().getResponse().setBody({greeting: "hello " + name});
}"""
OTHER_KEY = "YW5vdGhlciBrZXk="


class Explorer:
    """The page, used as a person would."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def choose(self, view: str) -> None:
        """The only container, in one of its views."""
        await self.page.click(".container")
        await self.page.click(f"[data-view={view}]")

    async def type(self, selector: str, text: str) -> None:
        await self.page.text("main .tabs")
        await self.page.evaluate(
            "(selector, text) => { document.querySelector(selector).value = text; }", selector, text
        )

    async def submit(self) -> None:
        await self.page.click("main [type=submit]")

    async def press(self, name: str) -> None:
        """A button of `main` by its name; questions of the page are answered with yes."""
        pressed = """(name) => {
          window.confirm = () => true;
          const found = [...document.querySelectorAll("main button")].find(
            (one) => one.textContent === name && one.checkVisibility()
          );
          found?.click();
          return found ? true : null;
        }"""
        await eventually(lambda: self.page.evaluate(pressed, name), f"a button {name}")

    async def status(self, part: str, place: str = "main") -> str:
        """The first status line with `part` in it, once there is one."""
        found = """(place, part) => [...document.querySelectorAll(`${place} .status`)]
          .map((one) => one.innerText).find((text) => text.includes(part)) ?? null"""
        return str(await eventually(lambda: self.page.evaluate(found, place, part), f"a status with {part!r}"))

    async def json(self, selector: str) -> Any:
        return json.loads(await self.page.text(selector))

    async def ids(self) -> list[str]:
        """Of the items listed, once there are any."""
        listed = """() => {
          const ids = [...document.querySelectorAll(".item")].map((one) => one.textContent);
          return ids.length ? ids : null;
        }"""
        found: list[str] = await eventually(lambda: self.page.evaluate(listed), "a list of items")
        return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[str]:
    """The address of one browser for the tests of this file, each of which has a page of its own."""
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium, or name one in the environment variable CHROME")
    async with running_browser(found) as address:
        yield address


@pytest.fixture
async def orders(database: DatabaseProxy) -> ContainerProxy:
    container = await database.create_container("orders", PartitionKey("/customer"), offer_throughput=600)
    for number in range(30):
        await container.create_item({"id": f"order-{number}", "customer": f"c{number % 7}", "total": number})
    return container


@pytest.fixture
async def explorer(
    emulator: CosmosEmulator, orders: ContainerProxy, browser: str, tmp_path: Path
) -> AsyncIterator[Explorer]:
    async with page_in(browser, tmp_path / "explorer.png") as page:
        await page.open(f"{emulator.endpoint}_explorer/")
        yield Explorer(page)
        assert [url for url in page.requested if not url.startswith(emulator.endpoint)] == []


async def test_an_item_is_found_changed_and_deleted_and_none_is_overwritten_unseen(
    explorer: Explorer, orders: ContainerProxy
) -> None:
    await explorer.choose("Items")
    assert len(await explorer.ids()) == 25
    await explorer.press("Next page")
    await explorer.status("5 items")
    await explorer.type("#items-key", "c3")
    await explorer.submit()
    await explorer.status("4 items")
    assert sorted(await explorer.ids()) == ["order-10", "order-17", "order-24", "order-3"]

    await explorer.page.click(".item")
    await explorer.status("Read: 1.00 RU")
    item = await explorer.json("#item")
    await explorer.type("#item", json.dumps({**item, "total": 99}))
    await explorer.press("Save")
    await explorer.status("Stored")
    stored = await orders.read_item(item["id"], "c3")
    assert stored["total"] == 99

    await orders.upsert_item({**stored, "total": 100})
    await explorer.press("Delete")
    await explorer.status("412 PreconditionFailed")
    await explorer.press("Read again")
    await explorer.status("Read: 1.00 RU")
    await explorer.press("Delete")
    await explorer.status("Deleted")
    left = {one["id"] async for one in orders.query_items("SELECT c.id FROM c", partition_key="c3")}
    assert left == {"order-3", "order-10", "order-17", "order-24"} - {item["id"]}


async def test_a_new_item_goes_where_its_partition_key_says(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.choose("Items")
    await explorer.press("New item")
    offered = await explorer.json("#item")
    assert offered["customer"] == ""

    await explorer.type("#item", json.dumps({"id": "..", "customer": "Zoë"}))
    await explorer.press("Save")
    await explorer.status("Stored")

    assert (await explorer.json("#item"))["customer"] == "Zoë"
    assert [one["id"] async for one in orders.query_items("SELECT * FROM c", partition_key="Zoë")] == [".."]


async def test_a_query_shows_its_rows_page_by_page_and_what_they_cost_or_what_is_wrong_with_it(
    explorer: Explorer,
) -> None:
    await explorer.choose("Query")
    await explorer.type("#query", "SELECT VALUE c.total FROM c WHERE c.total >= @least ORDER BY c.total DESC")
    await explorer.type("#parameters", '{"@least": 5}')
    await explorer.type("#page-size", "10")
    await explorer.submit()

    assert await explorer.json("#rows") == list(range(29, 19, -1))
    assert "RU (modelled)" in await explorer.status("Page 1: 10 rows")
    await explorer.press("Next page")
    assert "RU for all 2 pages" in await explorer.status("Page 2: 10 rows")
    assert await explorer.json("#rows") == list(range(19, 9, -1))
    assert explorer.page.complaints == []

    await explorer.type("#query", "SELECT * FORM c")
    await explorer.submit()
    assert "syntax" in (await explorer.status("400 BadRequest")).lower()

    await explorer.type("#parameters", "{")
    await explorer.submit()
    await explorer.status("The parameters are no JSON")


async def test_the_scripts_are_shown_and_a_procedure_runs(explorer: Explorer, orders: ContainerProxy) -> None:
    await orders.scripts.create_stored_procedure({"id": "greet", "body": PROCEDURE})
    await orders.scripts.create_trigger(
        {"id": "stamp", "body": "function stamp() {}", "triggerType": "Pre", "triggerOperation": "Create"}
    )
    await explorer.choose("Scripts")
    await explorer.page.click(".script")
    assert await explorer.page.text(".source") == PROCEDURE

    await explorer.type("#script-key", "c1")
    await explorer.type("#arguments", '["Ada"]')
    await explorer.submit()

    assert await explorer.json("#result") == {"greeting": "hello Ada"}
    assert "greeting Ada" in await explorer.page.text("#log")
    await explorer.status("Executed: 4.27 RU")


async def test_the_settings_say_how_the_container_is_made_and_how_its_items_are_spread_where_the_key_may_see_it(
    explorer: Explorer, emulator: CosmosEmulator
) -> None:
    await explorer.choose("Settings")

    facts = await explorer.page.text("#facts")
    assert "/customer (Hash, version 2)" in facts
    assert "600 RU/s" in facts
    assert (await explorer.json("#indexing-policy"))["indexingMode"] == "consistent"
    assert "30 items in 4 physical partitions" in await explorer.page.text("main table")

    emulator.settings.rbac = True
    await explorer.page.click("[data-view=Scripts]")
    await explorer.status("403/5300 Forbidden")
    await explorer.page.click("[data-view=Settings]")
    assert "not shown: the emulator grants this key data operations only" in await explorer.page.text("#facts")


async def test_every_field_has_a_label_and_every_action_a_name(explorer: Explorer, orders: ContainerProxy) -> None:
    await orders.scripts.create_stored_procedure({"id": "greet", "body": PROCEDURE})
    nameless = """() => [
      ...[...document.querySelectorAll("input, textarea, select")].filter((one) => !one.labels.length),
      ...[...document.querySelectorAll("button")].filter((one) => !one.textContent.trim()),
      ...[...document.querySelectorAll("nav, section, dialog, pre")].filter(
        (one) => !one.ariaLabel && !one.hasAttribute("aria-labelledby")
      ),
      ...[...document.querySelectorAll("[onclick], a:not([href])")],
    ].map((one) => one.outerHTML.slice(0, 80))"""

    for view, shown in {"Items": "main table", "Query": "#query", "Scripts": ".source", "Settings": "#facts"}.items():
        await explorer.choose(view)
        if view == "Scripts":
            await explorer.page.click(".script")
        await explorer.page.text(shown)
        assert await explorer.page.evaluate(nameless) == [], view


async def test_data_stay_text_and_could_not_become_markup_by_a_mistake_of_the_page(
    explorer: Explorer, orders: ContainerProxy
) -> None:
    await orders.create_item({"id": HOSTILE.replace("/", "|"), "customer": HOSTILE, HOSTILE: HOSTILE})
    body = f"function hostile() {{ return `{HOSTILE}`; }}"
    await orders.scripts.create_stored_procedure({"id": HOSTILE.replace("/", "|"), "body": body})

    await explorer.choose("Items")
    await explorer.type("#items-key", HOSTILE)
    await explorer.submit()
    await explorer.status("1 items")
    await explorer.page.click(".item")
    await explorer.status("Read: ")
    await explorer.choose("Query")
    await explorer.type("#query-key", HOSTILE)
    await explorer.submit()
    rows = await explorer.json("#rows")
    await explorer.choose("Scripts")
    await explorer.page.click(".script")

    assert rows[0][HOSTILE] == HOSTILE
    assert await explorer.page.text(".source") == body
    injected = "() => document.querySelectorAll('main script, main img, nav script, nav img').length"
    assert await explorer.page.evaluate(injected) == 0
    assert await explorer.page.evaluate("() => document.title") == "Data explorer"
    assert explorer.page.complaints == []
    mistake = """() => {
      try { document.querySelector("main").innerHTML = "<b>bold</b>"; return "set"; }
      catch (error) { return error.name; }
    }"""
    assert await explorer.page.evaluate(mistake) == "TypeError"


async def test_another_key_than_the_well_known_one_is_asked_for(browser: str, tmp_path: Path) -> None:
    async with (
        CosmosEmulator(EmulatorSettings(key=OTHER_KEY)) as emulator,
        CosmosClient(emulator.endpoint, OTHER_KEY) as client,
        page_in(browser, tmp_path / "explorer.png") as page,
    ):
        await client.create_database("secret")
        await page.open(f"{emulator.endpoint}_explorer/")
        await page.text("#key-dialog[open] #key-title")

        fill = "(key) => { document.querySelector('#key').value = key; }"
        await page.evaluate(fill, "d3Jvbmc=")
        await page.click("#key-form button")
        assert "wrong key" in await page.text("#key-problem")
        await page.evaluate(fill, OTHER_KEY)
        await page.click("#key-form button")

        assert await page.text("#tree summary") == "secret"
        assert await page.evaluate("() => [sessionStorage.length, localStorage.length]") == [1, 0]
