"""Properties that modeled charges have for any item."""

from typing import Any

import pytest
from cosmos_emulator.charges import PROFILES, ChargeModel
from cosmos_emulator.charges.model import READ_RU, SIZES_KB, WRITE_UNITS, interpolated
from cosmos_emulator.indexing_policy import IndexingPolicy
from hypothesis import given
from hypothesis import strategies as st

Document = dict[str, Any]

model = ChargeModel()

policies = st.sampled_from(
    [
        IndexingPolicy(None, ["/pk"]),
        IndexingPolicy(None, ["/id"]),
        IndexingPolicy({"indexingMode": "none"}, ["/pk"]),
        IndexingPolicy(
            {"includedPaths": [{"path": "/a/*"}, {"path": "/b/?"}], "excludedPaths": [{"path": "/*"}]},
            ["/pk"],
        ),
    ]
)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("ab1é\u2028", max_size=40)
names = st.sampled_from(["a", "b", "c", "d"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
documents = st.builds(
    lambda properties, ts: {"id": "x", **properties, "_ts": ts},
    st.dictionaries(names, values, max_size=4),
    st.integers(0, 3),
)
sizes = st.integers(0, 3 * 1024 * 1024)


@given(documents, policies)
def test_a_delete_costs_as_much_as_the_create(item: Document, policy: IndexingPolicy) -> None:
    assert model.delete(item, policy) == model.create(item, policy)


@given(documents, documents, policies, st.integers(1, 10))
def test_a_patch_is_never_cheaper_than_the_replace(
    old: Document, new: Document, policy: IndexingPolicy, operations: int
) -> None:
    assert model.patch(old, new, operations, policy) > model.replace(old, new, policy)


@given(documents, documents, policies)
def test_a_replace_costs_the_same_in_both_directions(old: Document, new: Document, policy: IndexingPolicy) -> None:
    assert model.replace(old, new, policy) == pytest.approx(model.replace(new, old, policy))


@given(documents, policies)
def test_a_replace_with_the_same_item_changes_no_index_term(item: Document, policy: IndexingPolicy) -> None:
    assert policy.changed(policy.terms(item), policy.terms(item)) == 0


@given(documents, documents, policies)
def test_a_replace_changes_no_more_terms_than_a_delete_and_a_create(
    old: Document, new: Document, policy: IndexingPolicy
) -> None:
    old_terms, new_terms = policy.terms(old), policy.terms(new)

    assert policy.changed(old_terms, new_terms) <= old_terms.units + new_terms.units


@given(documents, policies, sizes, sizes)
def test_a_larger_item_never_costs_less_to_write(item: Document, policy: IndexingPolicy, one: int, other: int) -> None:
    smaller, larger = sorted((one, other))

    assert model.create(item, policy, size_bytes=smaller) <= model.create(item, policy, size_bytes=larger)


@given(sizes, sizes, st.sampled_from(list(PROFILES.values())))
def test_a_larger_item_never_costs_less_to_read(one: int, other: int, profile: Any) -> None:
    smaller, larger = sorted((one, other))
    either = ChargeModel(profile.name)

    assert either.point_read(smaller) <= either.point_read(larger)
    assert either.query(1, 1, smaller, filtered=True) <= either.query(1, 1, larger, filtered=True)


@given(documents, policies)
def test_indexing_is_never_cheaper_than_not_indexing(item: Document, policy: IndexingPolicy) -> None:
    unindexed = IndexingPolicy({"indexingMode": "none"}, ["/pk"])

    assert model.create(item, unindexed) <= model.create(item, policy)


@pytest.mark.parametrize("size_kb", SIZES_KB)
def test_interpolation_passes_through_the_published_sizes(size_kb: float) -> None:
    below, size, above = ((size_kb + difference) * 1024 for difference in (-1e-9, 0, 1e-9))

    for column in (READ_RU, WRITE_UNITS):
        charge = pytest.approx(interpolated(column, size))
        assert interpolated(column, below) == charge == interpolated(column, above)
