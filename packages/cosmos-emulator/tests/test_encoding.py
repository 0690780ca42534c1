"""Encoded values sort in the order of ORDER BY."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from cosmos_emulator.query.ordering import sort_key
from cosmos_emulator.query.values import UNDEFINED
from cosmos_emulator.store.encoding import encoded, end_of_value, inverted, successor
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.sampled_from("\0\1ab\ud7ff\ue000😀"), max_size=4) | st.sampled_from(["x" * 511 + "\0", "x" * 600])
values = st.one_of(
    st.sampled_from([UNDEFINED, None, False, True, 2**53, 2**53 + 1, 2**63, -(2**63), 5e-324, 1e308, -1e308]),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)


@given(st.lists(values, min_size=2, max_size=8))
def test_encodings_sort_like_their_values(unsorted: list[Any]) -> None:
    ordered = sorted(unsorted, key=sort_key)

    for low, high in pairwise(ordered):
        low_data, high_data = encoded(low)[0], encoded(high)[0]
        assert low_data <= high_data
        assert inverted(low_data) >= inverted(high_data) or not encoded(low)[1]


@given(values, values)
def test_only_equal_values_share_an_exact_encoding(left: Any, right: Any) -> None:
    (left_data, left_exact), (right_data, right_exact) = encoded(left), encoded(right)

    if left_exact and right_exact:
        assert (left_data == right_data) == (sort_key(left) == sort_key(right))


@given(values, st.booleans())
def test_an_encoding_ends_where_the_next_one_starts(value: Any, descending: bool) -> None:
    data, exact = encoded(value)
    stored = inverted(data) if descending else data

    if exact:
        assert end_of_value(b"start" + stored + stored, 5, descending=descending) == 5 + len(stored)


@given(values)
def test_an_encodings_extensions_sort_before_its_successor(value: Any) -> None:
    data = encoded(value)[0]

    assert data < data + b"\xff" * 3 < successor(data)
