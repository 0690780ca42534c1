"""The change feed, the load, the simulation and the settings in the data explorer."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest
from azure.cosmos import GlobalSecondaryIndexDefinition, PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator
from cosmos_emulator.http.access import MasterKey
from cosmos_emulator.latency import Latency
from cosmos_emulator.messages.links import parse_link
from tests.explorer.explorer import Explorer

from tests.browser import expect

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.nightly]


async def test_the_change_feed_shows_changes_as_they_happen(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("changes")
    await explorer.press("Start")
    await explorer.status("Listening: 0 changes")

    await orders.upsert_item({"id": "order-3", "customer": "c3", "total": 77})
    entry = explorer.page.locator(".changes li")
    await expect(entry).to_contain_text(["order-3"])
    await orders.create_item({"id": "order-30", "customer": "c9"})
    await expect(entry).to_contain_text(["order-30", "order-3"])
    await entry.nth(1).locator("summary").click()
    await expect(entry.nth(1).locator("pre")).to_contain_text('"total": 77')
    await explorer.press("Stop")

    await explorer.status("Stopped after 2 changes")
    assert explorer.log.errors == []


async def test_a_restarted_change_feed_shows_each_change_once(explorer: Explorer, orders: ContainerProxy) -> None:
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await explorer.view("changes")
    await explorer.page.select_option("#feed-start", "beginning")
    await explorer.page.route("**/docs", hold)
    async with explorer.page.expect_request("**/docs"):
        await explorer.press("Start")
    await explorer.press("Stop")
    async with explorer.page.expect_request("**/docs"):
        await explorer.press("Start")
    released.set()
    await explorer.status("Listening: 30 changes")
    await orders.create_item({"id": "order-30", "customer": "c9"})
    await explorer.status("Listening: 31 changes")

    assert await explorer.page.locator(".changes li").count() == 31


async def test_a_container_can_be_used_after_a_split(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("items")
    await explorer.status("Page 1")
    await orders.replace_throughput(50_000)

    for _ in range(2):  # the second request has the session token of the first
        await explorer.press("Apply")
        await explorer.status("Page 1: 25 items")
        await explorer.press("Next")
        await explorer.status("Page 2: 5 items")


async def test_the_change_feed_can_start_at_the_beginning(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("changes")
    await explorer.page.select_option("#feed-start", "beginning")
    await explorer.press("Start")

    await explorer.status("Listening: 30 changes")


async def test_the_change_feed_shows_deletes_if_the_container_logs_them(
    explorer: Explorer, emulator: CosmosEmulator
) -> None:
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        container = await database.create_container(
            "orders", PartitionKey("/customer"), change_feed_policy={"retentionDuration": 5}
        )
        await explorer.view("changes")
        await explorer.page.get_by_label("Mode").select_option("all versions and deletes")
        await explorer.press("Start")
        await explorer.status("Listening: 0 changes")
        await container.create_item({"id": "a", "customer": "c1"})
        await container.delete_item("a", "c1")

        await expect(explorer.page.locator(".changes li")).to_contain_text(["delete", "create"])


async def test_the_load_shows_the_hot_partition(explorer: Explorer, orders: ContainerProxy) -> None:
    for _ in range(40):
        await orders.upsert_item({"id": "hot", "customer": "c3"})
    hot = (await orders.read_item("hot", "c3")).get_response_headers()["x-ms-documentdb-partitionkeyrangeid"]

    await explorer.view("load")

    await expect(explorer.page.locator(".note")).to_contain_text(f"Partition {hot} took")
    assert await explorer.page.locator(".chart rect").count() > 0
    row = explorer.page.get_by_role("table").get_by_role("row").nth(int(hot) + 1)
    before = await row.inner_text()
    for _ in range(3):
        await orders.read_item("hot", "c3")
    await expect(row).not_to_have_text(before, use_inner_text=True)
    assert explorer.log.errors == []


async def test_switches_change_the_emulator(explorer: Explorer, emulator: CosmosEmulator) -> None:
    await explorer.open("#/simulation")
    await explorer.page.get_by_role("checkbox", name="Throttling").check()
    await expect(explorer.page.locator(".setting", has_text="Throttling")).to_contain_text("On.")
    await explorer.page.fill("#latency", "5ms")
    await explorer.page.focus("#latency")
    await explorer.page.keyboard.press("Enter")
    await explorer.status("On: 5ms±0ms")
    await explorer.page.fill("#replicaLag", "soon")
    await explorer.page.focus("#replicaLag")
    await explorer.page.keyboard.press("Enter")
    await explorer.status("'soon' is not a duration")

    assert (emulator.settings.throttle, emulator.settings.latency) == (True, Latency(0.005))
    await explorer.press("Switch Latency off")
    await explorer.status("Off.")
    assert emulator.settings.latency is None


async def test_faults_are_added_counted_and_removed(
    explorer: Explorer, emulator: CosmosEmulator, orders: ContainerProxy
) -> None:
    await explorer.open("#/simulation")
    await explorer.page.select_option("#fault", "503")
    await explorer.page.select_option("#fault-operation", "create")
    await explorer.page.fill("#fault-container", "orders")
    await explorer.press("Add fault")
    rule = explorer.page.get_by_role("row", name="503")
    await expect(rule).to_contain_text("container=orders")

    await explorer.view("items")
    await explorer.press("New item")
    await explorer.page.fill("#item", '{"id": "a", "customer": "c1"}')
    await explorer.press("Save")
    await explorer.status("Remove the fault under Simulation")
    await explorer.open("#/simulation")
    await expect(rule.get_by_role("cell").nth(2)).to_have_text("1")
    await explorer.press("Remove fault 1")

    await expect(explorer.page.get_by_text("No faults.")).to_be_visible()
    assert list(emulator.faults) == []


async def test_settings_show_and_change_the_definition(explorer: Explorer, orders: ContainerProxy) -> None:
    await explorer.view("settings")
    facts = explorer.page.locator("#facts")
    await expect(facts).to_contain_text("/customer (Hash, version 2)")
    await expect(facts).to_contain_text("600 RU/s")
    await expect(explorer.page.get_by_role("table").first).to_contain_text("30 items in 4 physical partitions")
    policy = await explorer.json("#indexing-policy")
    assert policy["indexingMode"] == "consistent"

    await explorer.page.fill("#ttl", "3600")
    await explorer.press("Save")
    await explorer.status("Saved")
    assert (await orders.read())["defaultTtl"] == 3600


async def test_settings_show_the_source_of_an_index(
    explorer: Explorer, emulator: CosmosEmulator, orders: ContainerProxy
) -> None:
    definition = f"SELECT c.id, c.total, {', '.join(f'c.property{number}' for number in range(20))} FROM c"  # noqa: S608
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        source = GlobalSecondaryIndexDefinition("orders", definition)
        database = client.get_database_client("db")
        await database.create_container("by-total", PartitionKey("/total"), global_secondary_index=source)

    await explorer.open("#/dbs/db/colls/by-total/settings")

    await expect(explorer.main.locator(".view-title")).to_contain_text("/total; global secondary index of orders")
    await expect(explorer.page.locator("#facts")).to_contain_text(f"orders ({definition})")
    async with asyncio.timeout(30):
        while "Active" not in await explorer.page.locator("#facts").inner_text():
            await explorer.page.reload()
            await expect(explorer.page.locator("#facts")).to_contain_text("Status")
    await explorer.page.set_viewport_size({"width": 360, "height": 740})
    assert await explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await explorer.violations() == []


async def test_a_key_without_rights_is_told_what_to_do(
    explorer: Explorer, emulator: CosmosEmulator, orders: ContainerProxy
) -> None:
    emulator.settings.rbac = True

    await explorer.view("scripts")
    await explorer.status("switch RBAC off under Simulation")
    await explorer.page.get_by_role("tab", name="Settings").click()
    await expect(explorer.page.locator("#facts")).to_contain_text("with --rbac, this key is limited")
    await explorer.page.get_by_role("tab", name="Load").click()
    await expect(explorer.page.locator(".chart")).to_be_visible()
    await explorer.open("#/simulation")
    await explorer.page.get_by_role("checkbox", name="RBAC").uncheck()
    await expect(explorer.page.locator(".setting", has_text="RBAC")).to_contain_text("Off.")

    assert emulator.settings.rbac is False


async def test_administration_is_signed_for_emulators_on_other_machines(
    explorer: Explorer, emulator: CosmosEmulator
) -> None:
    sent: list[tuple[str, str, dict[str, str]]] = []
    explorer.page.on(
        "request",
        lambda request: sent.append((request.method, request.url.removeprefix(emulator.endpoint), request.headers)),
    )
    await explorer.open("#/simulation")
    await explorer.press("Add fault")
    await explorer.press("Remove fault 1")
    await expect(explorer.page.get_by_text("No faults.")).to_be_visible()

    requests = {
        (method, path): MasterKey(emulator.key).has_signed(method, parse_link(f"/{path}"), headers)
        for method, path, headers in sent
        if path.startswith("_emulator/")
    }
    assert requests == {
        ("GET", "_emulator/settings"): True,
        ("GET", "_emulator/faults"): True,
        ("POST", "_emulator/faults"): True,
        ("DELETE", "_emulator/faults/1"): True,
    }


async def test_the_explorer_sees_its_own_writes_in_spite_of_a_replica_lag(
    explorer: Explorer, emulator: CosmosEmulator, orders: ContainerProxy
) -> None:
    emulator.settings.replica_lag = Latency(3600)
    await explorer.view("items")
    await explorer.fill("Partition key", "c3")
    await explorer.press("Apply")
    await explorer.status("4 items")
    await orders.upsert_item({"id": "order-3", "customer": "c3", "total": 50})
    await explorer.press("Apply")
    await explorer.status("4 items")
    stale = await explorer.column(explorer.items, "total")

    await explorer.press("New item")
    await explorer.page.fill("#item", '{"id": "own", "customer": "c3", "total": 60}')
    await explorer.press("Save")
    await explorer.status("Saved")
    await explorer.status("5 items")

    assert "50" not in stale
    assert {"50", "60"} <= set(await explorer.column(explorer.items, "total"))


async def test_the_overview_shows_how_far_change_feed_processors_are_behind(
    explorer: Explorer, orders: ContainerProxy, emulator: CosmosEmulator
) -> None:
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        watched = await orders.read()
        database_rid, container_rid = watched["_self"].split("/")[1:4:2]
        leases = await client.get_database_client("db").create_container("leases", PartitionKey("/id"))
        lease = {
            "id": f"billing127.0.0.1_{database_rid}_{container_rid}..0",
            "LeaseToken": "0",
            "ContinuationToken": None,
            "Owner": None,
            "timestamp": "2026-01-01T00:00:00.0000000Z",
        }
        await leases.create_item(lease)
        await explorer.open()
        row = explorer.page.get_by_role("region", name="Change feed processors").locator("tbody tr")
        await expect(row).to_have_text(re.compile(r"^billingorders[1-9]\d*stopped$"))

        feed_range = await anext(orders.read_feed_ranges())
        async for _ in orders.query_items_change_feed(feed_range=feed_range, start_time="Beginning"):
            pass
        state = json.loads(b64decode(orders.client_connection.last_response_headers["etag"]))
        end = state["continuation"]["continuation"][0]["token"]
        await leases.replace_item(lease["id"], lease | {"ContinuationToken": end, "Owner": "a host"})
        await expect(row).to_have_text("billingorders0lease expired")
