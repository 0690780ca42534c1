"""The tables and the page they go into."""

from __future__ import annotations

import pytest

from bench.capacity.figures import duration, number, people, percent, table
from bench.capacity.hot_partition import WAYS, Taken
from bench.capacity.hot_report import hot_tables
from bench.capacity.page import BEGIN, END, MarkersMissingError, with_tables
from bench.capacity.report import basis_tables, size_tables
from bench.servers import REPOSITORY
from tests.bench.capacity.made_up import BASIS


def test_figures_have_few_digits() -> None:
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
    assert [duration(5), duration(312.5), duration(7_200), duration(3e7)] == [
        "5 s",
        "5.2 minutes",
        "2 hours",
        "350 days",
    ]


def test_a_table_is_markdown() -> None:
    assert table(["a", "b"], [("1", "2")]) == ["| a | b |", "|---|---|", "| 1 | 2 |"]


def test_tables_take_the_place_of_those_before() -> None:
    page = f"Words.\n\n{BEGIN}\n\nold\n\n{END}\n"

    once = with_tables(page, "new\n")

    assert once == f"Words.\n\n{BEGIN}\n\nnew\n\n{END}\n"
    assert with_tables(once, "new\n") == once


def test_a_page_without_a_place_for_tables_is_refused() -> None:
    with pytest.raises(MarkersMissingError):
        with_tables("Words.", "new")


def test_every_table_has_as_many_cells_in_each_row() -> None:
    taken = [Taken(way, 100, 120, 1_010.0, 1_000) for way in WAYS]

    sections = [*size_tables(BASIS), *hot_tables(BASIS, taken), *basis_tables(BASIS)]

    for section in sections:
        rows = [line.count("|") for line in section if line.startswith("|")]
        assert section[0].startswith("### ")
        assert len(set(rows)) == 1, section[0]


def test_the_page_of_the_repository_has_a_place_for_the_tables() -> None:
    page = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")

    assert with_tables(page, "new").count(BEGIN) == 1
