"""Markdown tables, and the numbers in them."""

from __future__ import annotations

from bench.report import TargetResult, target_lines
from bench.tables import number, people, percent, table
from bench.timing import Times


def test_numbers_are_rounded() -> None:
    assert [number(value) for value in (0, 2.0, 0.01234, 4.5678, 123.456, 1_234_567)] == [
        "0",
        "2",
        "0.0123",
        "4.57",
        "123",
        "1,230,000",
    ]
    assert [percent(0.004), percent(12.345)] == ["0.40%", "1,200%"]
    assert [people(100_000), people(10_000_000), people(1e9)] == ["100,000", "10 million", "1 billion"]


def test_a_table_is_markdown() -> None:
    assert table(["a", "b"], [("1", "2")]) == ["| a | b |", "|---|---|", "| 1 | 2 |"]
    assert table(["a", "b"], [("1", "2")], words=1)[1] == "|---|---:|"


def test_a_ratio_is_met_at_its_limit_and_missed_above() -> None:
    fast, slow = Times((0.010,)), Times((0.020,))

    lines = target_lines(
        [
            TargetResult.ratio("equal", 1, fast, fast),
            TargetResult.ratio("equal, must be below", 1, fast, fast, below=True),
            TargetResult.ratio("twice as slow", 1.5, slow, fast),
        ]
    )

    assert lines[0] == "1 targets met, 2 missed."
    assert lines[4:] == [
        "| equal | at most 1× | 1.00× | met | 10.00 ms against 10.00 ms |",
        "| equal, must be below | below 1× | 1.00× | **missed** | 10.00 ms against 10.00 ms |",
        "| twice as slow | at most 1.5× | 2.00× | **missed** | 20.00 ms against 10.00 ms |",
    ]
