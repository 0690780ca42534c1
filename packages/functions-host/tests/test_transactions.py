"""Items of one transaction arrive in one batch."""

from __future__ import annotations

from pathlib import Path

from tests.cosmos_apps import Account, calls, ids_of, trigger
from tests.running import eventually, running, write_app

PROCEDURE = """
function createAll(ids) {
    const container = getContext().getCollection();
    for (const id of ids) {
        const accepted = container.createDocument(container.getSelfLink(), {id: id, pk: "one"}, error => {
            if (error) throw error;
        });
        if (!accepted) throw new Error("not accepted");
    }
}
"""


def batches() -> list[list[str]]:
    return [ids for ids, _, _ in calls()]


async def delivered(account: Account, tmp_path: Path, count: int) -> list[list[str]]:
    """Return the batches of a function with a maximum of two items per call."""
    source = trigger(start_from_beginning=True, max_items_per_invocation=2)
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: len(ids_of(calls())) >= count)
        return batches()


async def test_a_transactional_batch_over_the_maximum_is_delivered_whole(account: Account, tmp_path: Path) -> None:
    await account.write("before", pk="one")
    operations = [("create", ({"id": f"b{n}", "pk": "one"},)) for n in range(5)]
    await account.items.execute_item_batch(operations, "one")
    await account.write("after", pk="one")

    assert await delivered(account, tmp_path, 7) == [["before", "b0", "b1", "b2", "b3", "b4"], ["after"]]


async def test_stored_procedure_writes_over_the_maximum_are_delivered_whole(account: Account, tmp_path: Path) -> None:
    await account.items.scripts.create_stored_procedure({"id": "createAll", "body": PROCEDURE})
    await account.items.scripts.execute_stored_procedure("createAll", partition_key="one", parameters=[["a", "b", "c"]])
    await account.write("after", "later", "last")

    assert await delivered(account, tmp_path, 6) == [["a", "b", "c"], ["after", "later"], ["last"]]


async def test_items_of_one_transaction_share_their_lsn(account: Account, tmp_path: Path) -> None:
    operations = [("create", ({"id": f"b{n}", "pk": "one"},)) for n in range(3)]
    await account.items.execute_item_batch(operations, "one")
    await account.write("after", pk="one")
    async with running(write_app(tmp_path, trigger(start_from_beginning=True)), account.environment):
        await eventually(lambda: len(ids_of(calls())) == 4)
        lsns = [item["_lsn"] for _, _, items in calls() for item in items]

    assert len(set(lsns[:3])) == 1
    assert lsns[3] > lsns[0]
