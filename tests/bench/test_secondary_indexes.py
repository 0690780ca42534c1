"""The benchmark that compares the hand-made views with global secondary indexes."""

from __future__ import annotations

from bench.secondary_indexes import measure
from bench.servers import emulator


async def test_indexes_serve_the_lists_and_find_what_a_rename_changes() -> None:
    async with emulator(None, "--partitions", "2") as server:
        rows, sizes_kb = await measure(server)

    measured = {name: (by_hand, indexed) for name, by_hand, indexed in rows}
    for name in ("Q3 list a user's posts", "Q6 list the most recent posts"):
        assert all(2 < charge < 10 for charge in measured[name])
    by_hand, indexed = measured["find what a rename must change"]
    assert indexed < by_hand  # which reads both physical partitions
    updates = [charges for name, charges in measured.items() if name.startswith("update")]
    assert len(updates) == 6
    assert all(min(charges) > 5 for charges in updates)
    assert all(0 < indexed <= by_hand for name, (by_hand, indexed) in measured.items() if name.startswith("read"))
    assert sizes_kb.keys() == {"post", "comment", "like"}
