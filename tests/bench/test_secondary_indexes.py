"""The benchmark that compares the hand-made views with global secondary indexes."""

from __future__ import annotations

import pytest

from bench.secondary_indexes import (
    CHANGES,
    CHECKS,
    COMMENT,
    COPIES_Q3,
    COPIES_Q6,
    EVENTS,
    INDEXES,
    LATE_LIKE,
    LIKE,
    NAMES,
    POST,
    Q3,
    Q6,
    Q6_BY_ID,
    Q6_OF_SEARCH,
    RENAME,
    break_even_partitions,
    gb_per_user,
    least_ru,
    measure_by_hand,
    measure_indexed,
)
from bench.servers import emulator


@pytest.mark.nightly
async def test_indexes_serve_the_lists_and_find_what_a_rename_changes() -> None:
    async with emulator(None, "--partitions", "2") as server:
        by_hand = await measure_by_hand(server)
        indexed = await measure_indexed(server)

    for view in (Q3, Q6):
        assert by_hand.reads[view] < indexed.reads[view] < by_hand.reads[view] + 0.2
    assert indexed.reads[Q6_BY_ID] == indexed.reads[Q6]
    if Q6_OF_SEARCH in indexed.reads:
        assert indexed.reads[Q6] < indexed.reads[Q6_OF_SEARCH]  # which has whole contents
    assert indexed.reads[RENAME] < by_hand.reads[RENAME]  # which reads both physical partitions

    assert by_hand.updates.keys() == indexed.changes.keys() == set(EVENTS)
    for event in EVENTS:
        assert by_hand.updates[event][CHANGES] == pytest.approx(indexed.changes[event], abs=0.02)
        # The author and, for a comment or like, another user.
        assert by_hand.updates[event][NAMES] == (1 if event == POST else 2)
        assert by_hand.update(event) == sum(by_hand.updates[event][part] for part in (COPIES_Q3, COPIES_Q6, CHECKS))
        for view in INDEXES:
            assert len(indexed.writes[view][event]) == (1 if event == POST else 2)
    assert indexed.update(Q3, POST) < by_hand.updates[POST][COPIES_Q3]
    for event in (COMMENT, LIKE, LATE_LIKE):
        assert by_hand.updates[event][CHECKS] == 0
        assert by_hand.updates[event][COPIES_Q3] < indexed.update(Q3, event)
        assert indexed.update(RENAME, event) < indexed.update(Q6, event) < indexed.update(Q3, event)
    assert by_hand.updates[LATE_LIKE][COPIES_Q6] < by_hand.updates[LIKE][COPIES_Q6]
    assert by_hand.commands[LIKE] < indexed.commands[LIKE]

    for sizes_kb in indexed.sizes_kb.values():
        assert sizes_kb.keys() == {"post", "comment", "like"}
        assert max(sizes_kb.values()) < 1
    few, many = (break_even_partitions(indexed, 2.82, rewrites=rewrites) for rewrites in (False, True))
    assert 1_000 < few < many


@pytest.mark.parametrize(("gb", "ru"), [(0, 100), (100, 100), (101, 200), (5_001, 5_100)])
def test_autoscale_bills_at_least_one_ru_per_second_and_gb_in_steps(gb: float, ru: float) -> None:
    assert least_ru(gb) == pytest.approx(ru)


def test_a_user_has_many_more_likes_than_posts() -> None:
    sizes_gb = gb_per_user({"post": 1, "comment": 1, "like": 1})

    assert sizes_gb["comment"] / sizes_gb["post"] == pytest.approx(12.5)
    assert sizes_gb["like"] / sizes_gb["post"] == pytest.approx(50)
