"""Every operation on items, run once."""

from __future__ import annotations

from azure.cosmos.aio import ContainerProxy

ITEM = {"id": "a", "pk": "p"}
PROCEDURE = {"id": "add", "body": "function add() { getContext().getResponse().setBody(1); }"}


async def run_every_item_operation(container: ContainerProxy) -> None:
    """Run each item operation on an empty container that has the stored procedure PROCEDURE."""
    created = await container.create_item(ITEM)
    await container.upsert_item(ITEM)
    await container.read_item("a", "p")
    await container.replace_item(created, ITEM)  # addressed by rid link
    await container.patch_item("a", "p", [{"op": "set", "path": "/n", "value": 1}])
    assert [item["id"] async for item in container.read_all_items()] == ["a"]
    assert [item async for item in container.query_items("SELECT * FROM c", partition_key="p")]
    assert [item async for item in container.query_items_change_feed(start_time="Beginning", partition_key="p")]
    await container.execute_item_batch([("read", ("a",))], "p")
    await container.scripts.execute_stored_procedure("add", partition_key="p")
    await container.delete_item("a", "p")
