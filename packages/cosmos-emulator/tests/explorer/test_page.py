"""The data explorer's page: first steps, keys, keyboard, accessibility, themes and security."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.explorer.explorer import Explorer

from tests.browser import expect

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
OTHER_KEY = "YW5vdGhlciBrZXk="
VIEWS = ["items", "query", "changes", "load", "scripts", "settings"]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


async def test_an_empty_account_tells_how_to_begin(explorer: Explorer, emulator: CosmosEmulator) -> None:
    await explorer.open()

    await expect(explorer.main).to_contain_text(f"AccountEndpoint={emulator.endpoint};AccountKey={emulator.key};")
    await expect(explorer.main).to_contain_text("from azure.cosmos import CosmosClient")
    await explorer.press("Create sample data")
    await explorer.status("Page 1: 25 items")
    await explorer.view("items")
    await expect(explorer.main).to_contain_text("The container db / orders does not exist")


async def test_databases_and_containers_are_created_and_deleted(explorer: Explorer, emulator: CosmosEmulator) -> None:
    await explorer.open()
    await explorer.press("New database…", within="nav")
    await explorer.fill("Name", "shop")
    await explorer.press("Create database", within="dialog")
    await explorer.press("New container…", within="nav")
    await explorer.fill("Name", "carts")
    await explorer.fill("Partition key", "tenant, /user")
    await explorer.press("Create container", within="dialog")

    await expect(explorer.main).to_contain_text("Partition key: /tenant, /user")
    await explorer.page.get_by_role("tab", name="Settings").click()
    await explorer.press("Delete the whole database…")
    await explorer.press("Delete", within="dialog")
    await expect(explorer.dialog).to_contain_text("Enter the name of the database: shop")
    await explorer.fill("Name", "shop")
    await explorer.press("Delete", within="dialog")
    await expect(explorer.main).to_contain_text("this account is empty")


async def test_a_second_start_loads_only_the_page_and_its_data(explorer: Explorer, orders: ContainerProxy) -> None:
    loaded = """performance.getEntriesByType("resource").filter((one) => one.transferSize > 0).map((one) => one.name)"""
    for _ in range(2):
        await explorer.open()
        await expect(explorer.main).to_contain_text("30 items")

    files = [url for url in await explorer.page.evaluate(loaded) if "/_explorer/" in url]

    assert files == []


async def test_the_overview_shows_counts(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.open()

    await expect(explorer.page.get_by_role("region", name="db").get_by_role("listitem")).to_have_text("orders 30 items")


async def test_the_tree_and_the_tabs_are_operated_with_the_keyboard(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.open()
    keys = explorer.page.keyboard
    focused = explorer.page.locator(":focus")
    await explorer.page.get_by_role("treeitem", name="db").focus()
    await keys.press("ArrowLeft")
    await expect(focused).to_have_attribute("aria-expanded", "false")
    await keys.press("ArrowRight")
    await keys.press("ArrowRight")
    await expect(focused).to_have_text("orders")
    await keys.press("Enter")
    await explorer.status("Page 1: 25 items")

    await explorer.page.get_by_role("tab", name="Items").focus()
    await keys.press("ArrowRight")
    await expect(focused).to_have_text("Query")
    await keys.press("Enter")
    await expect(explorer.page.locator("#query")).to_be_visible()
    await keys.press("/")
    await expect(focused).to_have_id("query")
    await explorer.page.get_by_role("tab", name="Query").focus()
    await keys.press("4")
    await expect(explorer.page.get_by_role("tab", name="Load")).to_have_attribute("aria-selected", "true")
    await keys.press("?")
    await expect(explorer.dialog).to_contain_text("Keyboard shortcuts")
    await keys.press("Escape")
    await expect(explorer.dialog).to_have_count(0)


async def test_the_address_survives_a_reload_and_the_back_button(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.open()
    await explorer.page.get_by_role("treeitem", name="orders").click()
    await explorer.page.get_by_role("tab", name="Query").click()

    await explorer.page.reload()
    await expect(explorer.page.locator("#query")).to_be_visible()
    await explorer.page.go_back()

    await expect(explorer.main).to_contain_text("Connection string")


async def test_an_address_that_cannot_be_decoded_is_explained(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.open("#/dbs/%E0%A4%A/colls/orders")

    await expect(explorer.main).to_contain_text("does not exist. Choose another one")
    assert explorer.log.errors == []


@pytest.mark.nightly
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_every_view_is_accessible_and_fits(
    explorer: Explorer, orders: ContainerProxy, viewport: dict[str, int]
) -> None:
    await orders.scripts.create_stored_procedure({"id": "greet", "body": "function greet() {}"})
    await explorer.page.set_viewport_size(viewport)

    for name in VIEWS:
        await explorer.view(name)
        await expect(explorer.main.locator("[role=tabpanel]")).to_be_visible()
        match name:
            case "items":
                await explorer.items.locator("td").first.click()
                await explorer.status("Read: ")
            case "query":
                await explorer.press("Run")
                await explorer.status("Page 1")
            case "changes":
                await explorer.page.select_option("#feed-start", "beginning")
                await explorer.press("Start")
                await explorer.status("30 changes")
            case "load":
                await expect(explorer.page.locator(".chart")).to_be_visible()
            case "scripts":
                await explorer.press("greet")
            case "settings":
                await expect(explorer.page.locator("#facts")).to_be_visible()
        assert await explorer.violations() == [], name
        assert await explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    for page in ("", "#/simulation"):
        await explorer.open(page)
        await expect(explorer.main.locator("h2")).to_be_visible()
        assert await explorer.violations() == [], page
        assert await explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
    await explorer.page.get_by_role("button", name="Shortcuts").click()
    assert await explorer.violations() == []


async def test_the_theme_can_be_chosen_and_is_kept(explorer: Explorer, emulator: CosmosEmulator) -> None:
    await explorer.page.emulate_media(color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    await explorer.open()
    light = await explorer.page.evaluate(background)

    await explorer.page.select_option("#theme", "dark")
    dark = await explorer.page.evaluate(background)
    await explorer.open()

    assert light != dark
    assert await explorer.page.evaluate(background) == dark


async def test_markup_in_data_is_shown_as_text(explorer: Explorer, orders: ContainerProxy) -> None:
    hostile_id = HOSTILE.replace("/", "|")
    await orders.create_item({"id": hostile_id, "customer": HOSTILE, HOSTILE: HOSTILE})
    await orders.scripts.create_stored_procedure({"id": hostile_id, "body": f"function a() {{ return `{HOSTILE}`; }}"})

    await explorer.view("items")
    await explorer.fill("Partition key", HOSTILE)
    await explorer.press("Apply")
    await explorer.status("1 item;")
    await explorer.items.locator("td").first.click()
    await explorer.status("Read: ")
    assert (await explorer.json("#item"))[HOSTILE] == HOSTILE
    await explorer.view("changes")
    await explorer.page.select_option("#feed-start", "beginning")
    await explorer.press("Start")
    await explorer.status("31 changes")
    await explorer.view("scripts")
    await explorer.page.locator(".script").click()

    assert HOSTILE in await explorer.page.input_value("#code")
    assert await explorer.page.locator("main script, main img, nav script, nav img").count() == 0
    assert await explorer.page.title() == "orders – Data explorer"
    assert explorer.log.errors == []


async def test_trusted_types_reject_markup_set_by_the_page_itself(explorer: Explorer, emulator: CosmosEmulator) -> None:
    await explorer.open()
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
        explorer = Explorer(page, emulator.endpoint)
        await client.create_database("secret")
        await explorer.open()
        await expect(explorer.dialog).to_contain_text("Account key")

        await explorer.fill("Key (base64)", "d3Jvbmc=")
        await explorer.press("Use this key", within="dialog")
        await expect(page.locator("#key-problem")).to_contain_text("wrong key")
        await explorer.fill("Key (base64)", OTHER_KEY)
        await explorer.press("Use this key", within="dialog")

        await expect(page.get_by_role("treeitem", name="secret")).to_be_visible()
        await expect(explorer.main).not_to_contain_text(OTHER_KEY)
        assert await page.evaluate("() => [sessionStorage.length, localStorage.length]") == [1, 0]


async def test_pages_of_another_origin_cannot_use_the_emulator(browser: Browser, emulator: CosmosEmulator) -> None:
    """Another port is another origin."""
    send = """async ([url, method]) => {
      try { return (await fetch(url, {method, body: method === "GET" ? undefined : "{}"})).status; }
      catch (error) { return error.name; }
    }"""
    async with (
        CosmosEmulator(EmulatorSettings()) as other,
        await browser.new_page() as page,
    ):
        await page.goto(f"{other.endpoint}_emulator/health")
        answers = [
            await page.evaluate(send, [f"{emulator.endpoint}{path}", method])
            for path, method in [
                ("_emulator/faults", "POST"),
                ("_emulator/settings", "PATCH"),
                ("_emulator/load", "GET"),
            ]
        ]

    assert answers == ["TypeError"] * 3
    assert list(emulator.faults) == []


async def test_pages_of_another_origin_cannot_write_without_a_signature(
    browser: Browser, emulator: CosmosEmulator
) -> None:
    """Browsers send such a request, but do not show its response to the page."""
    emulator.settings.check_signatures = False
    send = """url => fetch(url, {method: "POST", mode: "no-cors", body: '{"id": "foreign"}'})"""
    async with CosmosEmulator(EmulatorSettings()) as other, await browser.new_page() as page:
        await page.goto(f"{other.endpoint}_emulator/health")
        await page.evaluate(send, f"{emulator.endpoint}dbs")

    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        assert [database["id"] async for database in client.list_databases()] == []


async def test_a_rebound_host_name_cannot_open_the_explorer(browser: Browser, emulator: CosmosEmulator) -> None:
    """The route stands for a name server that lets the attacker's name point to this machine."""
    async with await browser.new_page() as page:
        host = f"rebound.example.com:{emulator.endpoint.rstrip('/').rpartition(':')[2]}"

        async def rebind(route: object) -> None:
            request = route.request
            url = request.url.replace(f"http://{host}/", emulator.endpoint)
            response = await route.fetch(url=url, headers={**request.headers, "host": host})
            await route.fulfill(response=response)

        await page.route("**/*", rebind)
        response = await page.goto(f"http://{host}/_explorer/")

    assert response is not None
    assert response.status == 403
