"""Tables and the page that contains them."""

from __future__ import annotations

import pytest

from bench.capacity.formatting import duration, number, people, percent, table
from bench.capacity.hot_post_measurement import LIKE_METHODS, LikesTaken
from bench.capacity.report import basis_tables, size_tables
from bench.capacity.scale_page import BEGIN, END, MarkersMissingError, with_tables
from bench.capacity.skew_report import hot_tables
from bench.servers import REPOSITORY
from tests.bench.capacity.example_basis import BASIS


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
    assert [duration(5), duration(312.5), duration(7_200), duration(3e7)] == [
        "5 s",
        "5.2 minutes",
        "2 hours",
        "350 days",
    ]


def test_a_table_is_markdown() -> None:
    assert table(["a", "b"], [("1", "2")]) == ["| a | b |", "|---|---|", "| 1 | 2 |"]


def test_new_tables_replace_the_old_ones() -> None:
    page = f"Words.\n\n{BEGIN}\n\nold\n\n{END}\n"

    once = with_tables(page, "new\n")

    assert once == f"Words.\n\n{BEGIN}\n\nnew\n\n{END}\n"
    assert with_tables(once, "new\n") == once


def test_a_page_without_markers_is_rejected() -> None:
    with pytest.raises(MarkersMissingError):
        with_tables("Words.", "new")


def test_all_rows_of_a_table_have_equally_many_cells() -> None:
    taken = [LikesTaken(method, 100, 120, 1_010.0, 1_000) for method in LIKE_METHODS]

    sections = [*size_tables(BASIS), *hot_tables(BASIS, taken), *basis_tables(BASIS)]

    for section in sections:
        rows = [line.count("|") for line in section if line.startswith("|")]
        assert section[0].startswith("### ")
        assert len(set(rows)) == 1, section[0]


def test_the_repositorys_page_has_the_markers() -> None:
    page = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")

    assert with_tables(page, "new").count(BEGIN) == 1
