"""Editing and running scripts in the data explorer."""

from __future__ import annotations

import pytest
from azure.cosmos.aio import ContainerProxy
from tests.explorer.explorer import Explorer

from tests.browser import expect

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROCEDURE = """function greet(name) {
  console.log("greeting " + name);
  getContext().getResponse().setBody({greeting: "hello " + name});
}"""
STAMP = """function stamp() {
  const item = getContext().getRequest().getBody();
  item.stamped = true;
  getContext().getRequest().setBody(item);
}"""


async def test_a_stored_procedure_is_created_run_and_changed(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("scripts")
    await explorer.press("New stored procedure")
    await explorer.fill("Name", "greet")
    await explorer.page.fill("#code", PROCEDURE)
    await explorer.press("Save")
    await explorer.status("Saved")

    await explorer.fill("Partition key", "c1")
    await explorer.page.fill("#arguments", '["Ada"]')
    await explorer.press("Execute")
    await explorer.status("Executed: 4.27 RU")
    assert await explorer.json("#result") == {"greeting": "hello Ada"}
    await expect(explorer.page.locator("#log")).to_contain_text("greeting Ada")

    await explorer.page.fill("#code", PROCEDURE.replace("hello", "bye"))
    await explorer.press("Save")
    await explorer.status("Saved")
    await explorer.press("Execute")
    await expect(explorer.page.locator("#result")).to_contain_text("bye Ada")
    await explorer.press("Delete")
    await explorer.press("Delete", within="dialog")
    await expect(explorer.page.get_by_text("greet is deleted.")).to_be_visible()
    assert [one async for one in orders.scripts.list_stored_procedures()] == []


async def test_a_script_that_throws_shows_its_error(explorer: Explorer, orders: ContainerProxy) -> None:
    body = 'function fails() { throw new Error("no stock"); }'
    await orders.scripts.create_stored_procedure({"id": "fails", "body": body})
    await explorer.view("scripts")
    await explorer.press("fails")
    await explorer.fill("Partition key", "c1")
    await explorer.page.fill("#arguments", "{}")
    await explorer.press("Execute")
    await explorer.status("Enter the arguments as a JSON list")

    await explorer.page.fill("#arguments", "")
    await explorer.press("Execute")

    await explorer.status("no stock")


async def test_a_trigger_runs_with_a_write(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("scripts")
    await explorer.press("New trigger")
    await explorer.fill("Name", "stamp")
    await explorer.page.get_by_label("On", exact=True).select_option("Create")
    await explorer.page.fill("#code", STAMP)
    await explorer.press("Save")
    await explorer.status("Saved")

    await explorer.page.fill("#trigger-item", '{"id": "new", "customer": "c1"}')
    await explorer.press("Write the item")
    await explorer.status("Executed")

    assert (await explorer.json("#result"))["stamped"] is True
    assert (await orders.read_item("new", "c1"))["stamped"] is True


async def test_a_user_defined_function_is_called_with_arguments(explorer: Explorer, orders: ContainerProxy) -> None:
    body = "function twice(value) { return {twice: value * 2}; }"
    await orders.scripts.create_user_defined_function({"id": "twice", "body": body})
    await explorer.view("scripts")
    await explorer.press("twice")
    await explorer.page.fill("#arguments", "[21]")
    await explorer.press("Call")
    await explorer.status("Executed")

    assert await explorer.json("#result") == {"twice": 42}
