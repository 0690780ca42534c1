"""The `service-2026` profile, compared with recorded responses of a hosted account.

Source: github.com/xo/dbimp, testdata/cosmos. Test IDs are recording numbers. Charges in headers are rounded to two
decimals; charges of batch operations are not.
"""

from typing import Any

import pytest
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.charges.model import item_size_bytes
from cosmos_emulator.indexing_policy import IndexingPolicy

CENT = 0.0051
SMALL_BYTES = 400

model = ChargeModel("service-2026")
policy = IndexingPolicy(None, ["/pk"])

Document = dict[str, Any]


def document(leaves: int, ts: int = 1, **changes: Any) -> Document:
    """An item with this many scalar properties, including `id`, plus system properties."""
    properties = {f"p{number}": number for number in range(leaves - 2)}
    system = {"_rid": "r", "_self": "s", "_etag": '"e"', "_attachments": "attachments/", "_ts": ts}
    return {"id": "a", "pk": "k", **properties, **changes, **system}


def nested_document(ts: int = 1) -> Document:
    """22 leaves, six of them in two arrays and two objects."""
    return document(16, ts, tags=["x", "y"], sizes=[1, 2], owner={"name": "n"}, place={"city": "c"})


@pytest.mark.parametrize(
    ("leaves", "recorded"),
    [
        pytest.param(3, 6.2857142857142856, id="193"),
        pytest.param(4, 6.67, id="039"),
        pytest.param(5, 7.0476190476190474, id="008"),
        pytest.param(14, 10.48, id="061"),
    ],
)
def test_a_create_costs_two_units_per_leaf(leaves: int, recorded: float) -> None:
    assert model.create(document(leaves), policy) == pytest.approx(recorded, abs=CENT)


@pytest.mark.parametrize(("leaves", "recorded"), [(3, 6.2857142857142856), (5, 7.0476190476190474)])
def test_a_batch_charge_matches_to_the_last_digit(leaves: int, recorded: float) -> None:
    assert model.create(document(leaves), policy) == recorded


def test_a_create_with_a_deeply_nested_leaf_is_within_one_unit_of_recording_044() -> None:
    item = document(8, outer={"inner": {"leaf": 1}})

    assert model.create(item, policy) == pytest.approx(9.14, abs=4 / 21 + CENT)


def test_a_create_costs_one_unit_per_nested_container() -> None:
    assert model.create(nested_document(), policy) == pytest.approx(14.29, abs=CENT)


def test_an_upsert_that_creates_costs_as_much_as_a_create() -> None:
    assert model.create(document(4), policy) == pytest.approx(6.67, abs=CENT)


@pytest.mark.parametrize(
    ("changes", "recorded"),
    [pytest.param({"p0": "x"}, 10.6667, id="196"), pytest.param({"p0": "x", "p1": "y"}, 11.05, id="138")],
)
def test_a_replace_costs_both_versions_and_the_changed_leaves(changes: Document, recorded: float) -> None:
    charge_ru = model.replace(document(4), document(4, ts=2, **changes), policy)

    assert charge_ru == pytest.approx(recorded, abs=CENT)


def test_a_replace_that_removes_twenty_leaves_costs_their_removal() -> None:
    charge_ru = model.replace(nested_document(), {"id": "a", "pk": "k", "_ts": 2}, policy)

    assert charge_ru == pytest.approx(18.67, abs=CENT)


def test_a_patch_of_three_operations_on_two_leaves_matches_the_recording() -> None:
    charge_ru = model.patch(document(4), document(4, ts=2, p0="x", p1="y"), 3, policy)

    assert charge_ru == pytest.approx(11.42, abs=CENT)


def test_a_patch_after_a_write_in_the_same_batch_excludes_the_timestamp() -> None:
    charge_ru = model.patch(document(4), document(4, p0="x"), 1, policy)

    assert charge_ru == pytest.approx(10.6008, abs=0.0005)


def test_a_delete_costs_as_much_as_the_create() -> None:
    assert model.delete(document(4), policy) == pytest.approx(6.67, abs=CENT)


def test_a_batch_of_a_hundred_creates_costs_their_sum() -> None:
    assert sum(model.create(document(5), policy) for _ in range(100)) == pytest.approx(704.76, abs=CENT)


def test_a_unique_key_adds_to_the_cost_of_a_create() -> None:
    assert model.create(document(3), policy, unique_keys=1) == pytest.approx(7.77, abs=CENT)


@pytest.mark.parametrize(
    ("status", "recorded"),
    [(409, 1.48), (412, 1.24), (404, 1.0), (429, 0.38), (400, 0.0), (304, 1.0), (401, 0.0)],
)
def test_a_rejected_request_has_a_fixed_charge(status: int, recorded: float) -> None:
    assert model.refusal(status) == recorded


def test_a_change_feed_page_with_one_small_item_costs_one_request_unit() -> None:
    assert model.change_feed([SMALL_BYTES]) == 1.0


@pytest.mark.parametrize(("sizes", "charge_ru"), [([], 1.0), ([SMALL_BYTES] * 5, 5.0), ([2048], 1.04)])
def test_a_feed_costs_the_sum_of_its_items(sizes: list[int], charge_ru: float) -> None:
    assert model.feed(sizes) == pytest.approx(charge_ru)


def test_a_script_has_a_base_charge() -> None:
    assert model.script(0, 0) == 4.27


def test_a_script_adds_the_cost_of_its_reads_and_writes() -> None:
    assert model.script(2.82, 6.29) == pytest.approx(4.27 + 2.82 + 6.29)


@pytest.mark.parametrize(
    ("items", "filtered", "recorded"),
    [
        pytest.param(0, False, 2.25, id="072 touches no item"),
        pytest.param(1, False, 2.26, id="040 one item without a filter"),
        pytest.param(1, True, 2.82, id="046 one item by an indexed equality"),
    ],
)
def test_a_query_costs_a_base_charge_and_the_items_it_loads(items: int, filtered: bool, recorded: float) -> None:
    charge_ru = model.query(1, items, items * SMALL_BYTES, filtered=filtered)

    assert charge_ru == pytest.approx(recorded, abs=0.01)


def test_a_large_page_is_charged_by_its_size() -> None:
    assert model.query(1, 2500, 1841 * 1024, filtered=False) == pytest.approx(38.14, abs=0.01)


@pytest.mark.parametrize("items", [0, 500, 2500])
def test_an_indexed_aggregate_has_a_flat_charge_per_partition(items: int) -> None:
    assert model.query(1, items, items * SMALL_BYTES, filtered=True, aggregate=True) == 2.99
    assert model.query(4, items, items * SMALL_BYTES, filtered=True, aggregate=True) == pytest.approx(4 * 2.99)


def test_a_query_has_a_base_charge_per_physical_partition() -> None:
    assert model.query(4, 0, 0, filtered=True) == pytest.approx(4 * 2.82)


@pytest.mark.parametrize(
    ("size_kb", "charge_ru"), [(0.1, 1.0), (1, 1.0), (2, 1.04), (24, 1.93), (64, 4.76), (2048, 291.8)]
)
def test_a_point_read_matches_the_published_sizes(size_kb: float, charge_ru: float) -> None:
    assert model.point_read(round(size_kb * 1024)) == pytest.approx(charge_ru)


def test_a_write_without_indexes_costs_the_published_charge_of_its_size() -> None:
    unindexed = IndexingPolicy({"indexingMode": "none"}, ["/pk"])

    assert model.create(document(14), unindexed) == pytest.approx(4.95, abs=CENT)
    assert model.create(document(14), unindexed, size_bytes=64 * 1024) == pytest.approx(22.67)
    assert model.replace(document(4), document(9, ts=2), unindexed) == pytest.approx(2 * 4.95, abs=2 * CENT)


def test_a_given_size_overrides_the_computed_size() -> None:
    item = document(4, text="x" * 3000)

    assert model.create(item, policy, size_bytes=item_size_bytes(item)) == model.create(item, policy)


@pytest.mark.parametrize(
    ("value", "size"),
    [("é", 12), (2**70, 30), ("\ud800", 13), (1.5, 11)],
    ids=["é", "2**70", "surrogate", "1.5"],
)
def test_the_size_of_an_item_is_its_json_in_utf8(value: Any, size: int) -> None:
    assert item_size_bytes({"key": value}) == size


def test_the_label_marks_charges_as_modeled() -> None:
    assert model.label == "service-2026 (modeled)"
