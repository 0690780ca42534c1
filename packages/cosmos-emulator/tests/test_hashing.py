"""Effective partition keys, compared with published vectors and the SDK's hashing."""

from __future__ import annotations

import pytest
from azure.cosmos import PartitionKey
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition, key_of_header
from cosmos_emulator.partitioning.ranges import even_ranges
from hypothesis import given
from hypothesis import strategies as st

V2 = PartitionKeyDefinition.parse({"paths": ["/a"], "kind": "Hash", "version": 2})
V1 = PartitionKeyDefinition.parse({"paths": ["/a"], "kind": "Hash", "version": 1})
MULTI = PartitionKeyDefinition.parse({"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2})
COMPONENT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    st.booleans(),
    st.floats(allow_nan=False).map(lambda number: number + 0.0),  # -0.0 is stored as 0
)


@pytest.mark.parametrize(
    ("header", "epk"),
    [
        ('["p1"]', "062B23DEC15212F01B9A85F4E93A940C"),
        ('["p2"]', "3168F37E29288C0DC65558485479060F"),
        ('["pk"]', "20FD8FE780DCFA0692905152C35E10D9"),
        ('[""]', "32E9366E637A71B4E710384B2F4970A0"),
        ('["\\u00e9"]', "007199F104E04116EE25AF912CA4889B"),
        ("[1]", "20CD98B339BA78A5D0CF6953B87070B0"),
        ("[1.0]", "20CD98B339BA78A5D0CF6953B87070B0"),
        ("[1.5]", "35C5DDEB6C795D16A9963C73C54E97BC"),
        ("[true]", "0E711127C5B5A8E4726AC6DD306A3E59"),
        ("[null]", "378867E4430E67857ACE5C908374FE16"),
        ("[{}]", "11622DAA78F835834610ABE56EFF5CB5"),
        ("[]", "11622DAA78F835834610ABE56EFF5CB5"),
    ],
)
def test_version_2_matches_the_published_vectors(header: str, epk: str) -> None:
    assert key_of_header(V2, header).epk == epk


@pytest.mark.parametrize(
    ("value", "header"),
    [
        (1234567890123456789, "[1.2345678901234568E+18]"),
        (10**16, "[1E+16]"),
        (1e16, "[10000000000000000]"),
        (9007199254740993, "[9007199254740992]"),
    ],
)
def test_a_number_in_a_key_is_a_double(value: float, header: str) -> None:
    """.NET and Java send doubles: `new PartitionKey(1234567890123456789L)`."""
    assert V2.of_document({"a": value}).text == key_of_header(V2, header).text


def test_version_1_matches_the_published_vector() -> None:
    assert key_of_header(V1, '["p1"]').epk == "05C1CFEDCF076008713200"


@given(COMPONENT)
def test_version_2_matches_the_sdk(value: str | float | bool) -> None:
    assert V2.of_values([value]).epk == PartitionKey("/a")._get_effective_partition_key_string([value])


@given(st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x7F), max_size=90))
def test_version_1_matches_the_sdk(value: str) -> None:
    expected = PartitionKey("/a", version=1)._get_effective_partition_key_string([value])

    assert V1.of_values([value]).epk == str(expected).upper()


@given(COMPONENT, COMPONENT)
def test_a_hierarchical_key_starts_with_the_hash_of_its_prefix(first: str | float, second: str | float) -> None:
    whole = MULTI.of_values([first, second])

    expected = PartitionKey(["/a", "/b"], kind="MultiHash")._get_effective_partition_key_string([first, second])
    assert whole.epk == expected
    assert whole.epk.startswith(MULTI.of_values([first]).epk)


@pytest.mark.parametrize("definition", [V1, V2, MULTI])
@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_ranges_cover_all_hashes_without_gaps(definition: PartitionKeyDefinition, count: int) -> None:
    ranges = [each.keys(definition) for each in even_ranges(definition, count)]

    assert [ranges[0].start, ranges[-1].end] == ["", "FF"]
    assert [left.end for left in ranges[:-1]] == [right.start for right in ranges[1:]]
    assert sorted({each.start for each in ranges}) == [each.start for each in ranges]


@pytest.mark.parametrize(
    ("definition", "ends"),
    [
        (V2, ["1" + "F" * 31]),
        (V2, ["0" + "C" * 31, "1" + "9" * 30 + "8", "2" + "6" * 30 + "4", "3" * 31 + "0"]),
        (V1, ["05C1DFFFFFFFFC"]),
        (V1, ["05C1CFFFFFFFF8", "05C1DFFFFFFFF8", "05C1E7FFFFFFFA"]),
        (V1, ["05C1C9CD673398", "05C1D9CD673398", "05C1E399CD6732", "05C1E9CD673398"]),
    ],
)
def test_ranges_split_where_the_service_splits(definition: PartitionKeyDefinition, ends: list[str]) -> None:
    # Version 2: azure-cosmos test_feed_range.py and test_circuit_breaker_emulator.py
    # Version 1, .NET: MockSetupsHelper.cs, EndToEndTraceWriterBaselineTests.QueryAsync.xml, OrderByContinuationToken.cs
    assert [each.keys(definition).end for each in even_ranges(definition, len(ends) + 1)] == [*ends, "FF"]


@pytest.mark.parametrize("definition", [V1, V2, MULTI])
def test_the_halves_of_a_range_cover_it(definition: PartitionKeyDefinition) -> None:
    for parent in even_ranges(definition, 3):
        halves = [half.keys(definition) for half in parent.halves(3)]

        assert (halves[0].start, halves[1].end) == (parent.keys(definition).start, parent.keys(definition).end)
        assert halves[0].start < halves[0].end == halves[1].start < halves[1].end


@pytest.mark.parametrize("definition", [V1, V2])
def test_keys_spread_evenly_over_ranges(definition: PartitionKeyDefinition) -> None:
    ranges = [each.keys(definition) for each in even_ranges(definition, 4)]
    epks = [definition.of_values([f"key {index}"]).epk for index in range(400)]

    assert all(60 < sum(epk in each for epk in epks) < 140 for each in ranges)
