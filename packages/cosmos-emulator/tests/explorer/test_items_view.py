"""Browsing and editing items in the data explorer."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator
from tests.explorer.explorer import Explorer

from tests.browser import expect

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Route

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.nightly]


async def test_items_are_shown_page_by_page(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")

    await explorer.status("Page 1: 25 items")
    first = await explorer.column(explorer.items, "id")
    await explorer.press("Next")
    await explorer.status("Page 2: 5 items")
    second = await explorer.column(explorer.items, "id")
    await explorer.press("Previous")
    await explorer.status("Page 1: 25 items")

    assert len({*first, *second}) == 30
    assert await explorer.column(explorer.items, "id") == first
    assert explorer.log.errors == []


async def test_the_server_sorts_and_filters(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")

    await explorer.items.get_by_role("button", name="total").click()
    await explorer.status("sorted by total")
    assert await explorer.column(explorer.items, "total") == [str(number) for number in range(25)]
    await explorer.items.get_by_role("button", name="total").click()
    await expect(explorer.items.get_by_role("columnheader", name="total")).to_have_attribute("aria-sort", "descending")
    await explorer.fill("Filter (SQL condition)", "c.total < 20")
    await explorer.fill("Partition key", "c3")
    await explorer.press("Apply")
    await explorer.status("3 items")

    assert await explorer.column(explorer.items, "id") == ["order-17", "order-10", "order-3"]


async def test_an_edit_needs_the_current_etag(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
    await explorer.status("Read: 1.00 RU")
    item = await explorer.json("#item")
    await explorer.page.fill("#item", json.dumps({**item, "total": 99}))
    await explorer.press("Save")
    await explorer.status("Saved")
    stored = await orders.read_item("order-3", "c3")
    assert stored["total"] == 99

    await orders.upsert_item({**stored, "total": 100})
    await explorer.page.fill("#item", json.dumps({**stored, "total": 101}))
    await explorer.press("Save")
    conflict = await explorer.status("412 PreconditionFailed")
    await explorer.press("Save anyway")
    await explorer.status("Saved")

    assert "changed after you read it" in conflict
    assert (await orders.read_item("order-3", "c3"))["total"] == 101


async def test_a_deletion_is_confirmed_and_needs_the_current_etag(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
    await explorer.status("Read: 1.00 RU")
    await orders.upsert_item({"id": "order-3", "customer": "c3", "total": 100})

    await explorer.press("Delete")
    await explorer.press("Cancel", within="dialog")
    await explorer.press("Delete")
    await explorer.press("Delete", within="dialog")
    await explorer.status("412 PreconditionFailed")
    await explorer.main.locator(".error").get_by_role("button", name="Reload").click()
    await explorer.status("Read: 1.00 RU")
    await explorer.press("Delete")
    await explorer.press("Delete", within="dialog")
    await explorer.status("Deleted")

    left = {item["id"] async for item in orders.query_items("SELECT c.id FROM c", partition_key="c3")}
    assert left == {"order-10", "order-17", "order-24"}


async def test_a_new_item_is_created_in_its_logical_partition(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.press("New item")
    assert (await explorer.json("#item"))["customer"] == ""

    await explorer.page.fill("#item", json.dumps({"id": "..", "customer": "Zoë"}))
    await explorer.page.keyboard.press("Control+s")
    await explorer.status("Saved")

    assert [item["id"] async for item in orders.query_items("SELECT * FROM c", partition_key="Zoë")] == [".."]


async def test_an_invalid_item_is_explained(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.press("New item")

    for text, reason in {
        '{"id": "a",}': "The item is not valid JSON",
        "[]": "An item must be a JSON object",
        '{"customer": "c1"}': "An item needs an id",
        '{"id": "order-1", "customer": "c1"}': "An item or resource with this id exists",
    }.items():
        await explorer.page.fill("#item", text)
        await explorer.press("Save")

        await explorer.status(reason)
        assert await explorer.page.input_value("#item") == text


async def test_an_invalid_filter_is_explained_and_can_be_repaired(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.status("Page 1")
    await explorer.fill("Filter (SQL condition)", "c.total = '3")
    await explorer.press("Apply")

    assert "at character" in await explorer.status("400 BadRequest")
    await expect(explorer.items).to_have_count(0)
    await explorer.fill("Filter (SQL condition)", "c.total = 3")
    await explorer.press("Try again")

    await explorer.status("1 item;")


async def test_a_filter_error_names_the_position_in_the_filter(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")

    for text, position in (("c.total = = 3", 11), ("  where c.total = = 3 ", 19)):
        await explorer.fill("Filter (SQL condition)", text)
        await explorer.press("Apply")

        await explorer.status(f"(at character {position} of the filter)")


async def test_unsaved_edits_are_discarded_only_after_a_question(explorer: Explorer, orders: ContainerProxy) -> None:
    page = explorer.page
    leave = {
        "close": lambda: explorer.press("Close"),
        "new item": lambda: explorer.press("New item"),
        "another item": lambda: explorer.items.get_by_role("gridcell", name="order-10", exact=True).click(),
        "tab": lambda: page.get_by_role("tab", name="Query").click(),
        "overview": lambda: page.get_by_role("link", name="Overview").click(),
        "refresh": lambda: explorer.press("Refresh", within="nav"),
    }
    for name, action in leave.items():
        # The others before stay in this view.
        if name in ("close", "overview", "refresh"):
            await explorer.view("items")
            await explorer.fill("Partition key", "c3")
            await explorer.press("Apply")
        await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
        await explorer.status("Read: ")
        await page.fill("#item", "my edit")

        await action()
        await expect(explorer.dialog, name).to_contain_text("Discard your edits?")
        address = page.url
        await explorer.press("Cancel", within="dialog")
        await expect(explorer.dialog).to_have_count(0)
        assert (await page.input_value("#item"), page.url) == ("my edit", address), name
        await action()
        await explorer.press("Discard", within="dialog")

        await expect(page.get_by_text("my edit"), name).to_be_hidden()


async def test_closing_the_page_asks_only_if_edits_are_unsaved(explorer: Explorer, orders: ContainerProxy) -> None:
    kinds: list[str] = []

    async def accept(dialog: Dialog) -> None:
        kinds.append(dialog.type)
        await dialog.accept()

    explorer.page.on("dialog", accept)
    await explorer.view("items")
    await explorer.items.locator("td").first.click()
    await explorer.status("Read: ")
    await explorer.page.reload()
    await explorer.status("Read: ")
    assert kinds == []

    await explorer.page.fill("#item", "my edit")
    await explorer.page.reload()

    assert kinds == ["beforeunload"]


async def test_an_item_has_an_address(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
    await explorer.status("Read: ")
    address = explorer.page.url.partition("_explorer/")[2]

    await explorer.open(address)
    await explorer.status("Read: ")
    assert (await explorer.json("#item"))["id"] == "order-3"
    await explorer.press("Close")
    assert explorer.page.url.endswith("#/dbs/db/colls/orders/items")

    await orders.delete_item("order-3", "c3")
    await explorer.open(address)
    await explorer.status("There is no item")


async def test_a_menu_is_closed_with_escape(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.status("Page 1")
    await explorer.page.get_by_text("Columns", exact=True).click()
    await explorer.page.get_by_role("checkbox", name="total").focus()
    await explorer.page.keyboard.press("Escape")

    await expect(explorer.page.get_by_role("checkbox", name="total")).to_be_hidden()
    await expect(explorer.page.locator(":focus")).to_have_text("Columns")


async def test_the_chosen_columns_are_kept(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.status("Page 1")
    await explorer.page.get_by_text("Columns", exact=True).click()
    await explorer.page.get_by_role("checkbox", name="total").uncheck()

    await explorer.view("items")
    await explorer.status("Page 1")

    titles = await explorer.items.get_by_role("columnheader").all_text_contents()
    assert [title.rstrip("↕") for title in titles] == ["id", "customer", "modified"]


async def test_the_grid_is_operated_with_the_keyboard(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.status("Page 1")
    keys = explorer.page.keyboard
    focused = explorer.page.locator(":focus")

    await explorer.items.locator("td").first.focus()
    await keys.press("ArrowDown")
    await keys.press("ArrowRight")
    await expect(focused).to_have_text((await explorer.column(explorer.items, "customer"))[1])
    await keys.press("Control+Home")
    await expect(focused).to_have_text("id↕")
    await keys.press("Enter")
    await explorer.status("sorted by id")
    await expect(focused).to_have_text("id▲")
    await keys.press("ArrowDown")
    await keys.press("Enter")
    await explorer.status("Read: ")
    await expect(focused).to_have_text("order-0")
    await keys.press("Escape")

    await expect(explorer.page.locator("#item")).to_be_hidden()
    await expect(focused).to_have_text("order-0")
    assert await explorer.items.locator("[tabindex='0']").count() == 1


async def test_the_item_that_was_chosen_last_is_shown_and_deleted(explorer: Explorer, orders: ContainerProxy) -> None:
    """The response to the first choice comes after the second choice."""
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await explorer.view("items")
    await explorer.fill("Partition key", "c3")
    await explorer.press("Apply")
    await explorer.status("4 items")
    await explorer.page.route("**/docs/*", hold, times=1)
    await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
    await expect(explorer.page.locator(".detail h3")).to_have_text("order-3")
    await explorer.items.get_by_role("gridcell", name="order-10", exact=True).press("Delete")
    await explorer.press("Delete", within="dialog")
    await expect(explorer.page.locator(".detail h3")).to_have_text("order-10")
    released.set()
    await explorer.status("Deleted")

    left = {item["id"] async for item in orders.query_items("SELECT c.id FROM c", partition_key="c3")}
    assert left == {"order-3", "order-17", "order-24"}


async def test_a_slow_read_does_not_replace_a_new_item(explorer: Explorer, orders: ContainerProxy) -> None:
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await explorer.view("items")
    await explorer.status("Page 1")
    await explorer.page.route("**/docs/*", hold)
    await explorer.items.locator("td").first.click()
    await expect(explorer.page.locator(".detail h3")).not_to_have_text("")

    await explorer.press("New item")
    await explorer.page.fill("#item", "{}")
    async with explorer.page.expect_request_finished():
        released.set()
    await explorer.page.evaluate("() => new Promise((resolve) => setTimeout(resolve))")

    assert await explorer.page.input_value("#item") == "{}"


async def test_properties_named_like_those_of_every_object_are_shown(
    explorer: Explorer, orders: ContainerProxy
) -> None:
    hostile = {"constructor": 1, "toString": "text", "__proto__": {"x": 1}}
    await orders.create_item({"id": "hostile", "customer": "c3", **hostile})
    await explorer.view("items")
    await explorer.fill("Partition key", "c3")
    await explorer.press("Apply")
    await explorer.status("5 items")

    assert sorted(await explorer.column(explorer.items, "constructor")) == ["", "", "", "", "1"]
    await explorer.view("query")
    await explorer.page.fill("#query-key", "c3")
    await explorer.press("Run")
    await explorer.status("Page 1")
    assert sorted(await explorer.column(explorer.rows, "constructor")) == ["", "", "", "", "1"]
    assert explorer.log.errors == []


async def test_a_new_item_of_a_hostile_container_changes_no_other_object(
    explorer: Explorer, emulator: CosmosEmulator
) -> None:
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        await database.create_container("orders", PartitionKey("/__proto__/polluted"))
    await explorer.view("items")
    await explorer.press("New item")

    assert (await explorer.json("#item"))["__proto__"] == {"polluted": ""}
    assert await explorer.page.evaluate("'polluted' in {}") is False


@pytest.mark.parametrize("opens", ["Delete", "Shortcuts", "Key…"])
async def test_a_dialog_closes_when_the_browser_goes_back(
    explorer: Explorer, orders: ContainerProxy, opens: str
) -> None:
    """Otherwise it asks about an item that the page no longer shows."""
    await explorer.open("#/simulation")
    await explorer.page.evaluate("location.hash = '#/dbs/db/colls/orders/items'")
    await explorer.items.get_by_role("gridcell", name="order-3", exact=True).click()
    await explorer.status("Read: ")
    await explorer.press(opens, within="body")
    await expect(explorer.dialog).to_be_visible()

    await explorer.page.go_back()

    await expect(explorer.dialog).to_have_count(0)
    assert await orders.read_item("order-3", "c3")
