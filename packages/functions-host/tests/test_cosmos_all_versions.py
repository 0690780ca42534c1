"""The Cosmos DB trigger with `changeFeedMode` AllVersionsAndDeletes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from tests.cosmos_apps import FAST, Account
from tests.running import app_module, eventually, running, write_app

OPTIONS = {
    "connection": "COSMOS",
    "database_name": "db",
    "container_name": "audited",
    "create_lease_container_if_not_exists": True,
    "change_feed_mode": "AllVersionsAndDeletes",
    **FAST,
}
ARGUMENTS = ", ".join(f"{name}={value!r}" for name, value in OPTIONS.items())
SOURCE = f"""
received = []

@app.cosmos_db_trigger(arg_name="docs", {ARGUMENTS})
async def changed(docs: func.DocumentList) -> None:
    received.extend(doc.to_dict() for doc in docs)
"""


@pytest.fixture
async def audited(account: Account) -> Any:
    return await account.database.create_container(
        "audited", PartitionKey("/pk"), change_feed_policy={"retentionDuration": 10}
    )


def received() -> list[dict[str, Any]]:
    return app_module().received


async def test_every_version_and_each_delete_is_delivered(account: Account, audited: Any, tmp_path: Path) -> None:
    await audited.create_item({"id": "before", "pk": "p"})
    async with running(write_app(tmp_path, SOURCE), account.environment) as host:
        await host.ready()
        await eventually(account.has_checkpoint)
        await audited.create_item({"id": "a", "pk": "p", "n": 1})
        await audited.upsert_item({"id": "a", "pk": "p", "n": 2})
        await audited.delete_item("a", "p")
        await eventually(lambda: len(received()) >= 3)
        changes = list(received())

    assert [change["metadata"]["operationType"] for change in changes] == ["create", "replace", "delete"]
    assert [change["current"].get("n") for change in changes] == [1, 2, None]
    assert (changes[2]["metadata"]["id"], changes[2]["previous"]["n"]) == ("a", 2)


async def test_changes_made_while_the_host_is_down_are_delivered(
    account: Account, audited: Any, tmp_path: Path
) -> None:
    app_dir = write_app(tmp_path, SOURCE)
    async with running(app_dir, account.environment) as host:
        await host.ready()
        await eventually(account.has_checkpoint)  # although nothing has changed
    await audited.create_item({"id": "a", "pk": "p"})
    await audited.delete_item("a", "p")

    async with running(app_dir, account.environment):
        await eventually(lambda: len(received()) >= 2)
        changes = list(received())

    assert [change["metadata"]["operationType"] for change in changes] == ["create", "delete"]
    assert {lease["Mode"] for lease in await account.lease_items()} == {"Full-Fidelity Feed"}
