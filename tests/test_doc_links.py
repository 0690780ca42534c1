"""Links and file names in the documentation point to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/docs/*.md", "stored_procedures/*.md")
    for page in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
ANCHORED = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*\.md|)#([^)\s]+)\)")
FILE = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|js|json|md|toml))`")


PICTURES = {".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
# In Markdown, perhaps with a title, or an attribute of <img> or <source>.
PLACES = re.compile(r"""\]\(<?([^)\s>]+)|\b(?:src|srcset)\s*=\s*["']([^"'\s]+)""")


def _pictures_in(text: str) -> set[str]:
    """The pictures of this repository that a page shows or links."""
    places = {in_markdown or in_html for in_markdown, in_html in PLACES.findall(text)}
    return {place for place in places if Path(place).suffix.lower() in PICTURES and "://" not in place}


def test_pictures_are_found_in_every_notation() -> None:
    text = """![A](a.png) [![B](b.JPG "A title")](b.webp 'Large') ![C](<c.gif>) ![](https://example.com/d.png)
    <picture><source srcset="e.avif 2x"><img alt="F" src='f.jpeg'></picture> [G](g.md) `h.png`"""

    assert _pictures_in(text) == {"a.png", "b.JPG", "b.webp", "c.gif", "e.avif", "f.jpeg"}


def test_every_picture_is_shown_and_every_shown_picture_exists() -> None:
    shown = {(page.parent / name).resolve() for page in PAGES for name in _pictures_in(page.read_text("utf-8"))}
    folders = [ROOT / "docs", *(ROOT / "packages").glob("*/docs")]
    found = (path.resolve() for folder in folders for path in folder.rglob("*") if path.suffix.lower() in PICTURES)

    assert set(found) == {path for path in shown if any(folder in path.parents for folder in folders)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_headings(page: Path) -> None:
    links = ANCHORED.findall(page.read_text(encoding="utf-8"))
    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]

    assert [f"{file.name}#{anchor}" for file, anchor in targets if anchor not in _anchors(file)] == []


def _rows_outside_of_tables(text: str) -> list[int]:
    """The lines that look like a row of a table, but are shown as text with pipes."""
    lines = re.sub(r"^ *```.*?^ *```", _without_text, text, flags=re.DOTALL | re.MULTILINE).splitlines()
    separators = {number for number, line in enumerate(lines) if re.fullmatch(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*", line)}
    rows = [number for number, line in enumerate(lines) if line.lstrip().startswith("|")]
    in_tables: set[int] = set()
    for number in rows:
        # A header before the separator, the separator, or a row directly after one.
        if {number, number + 1} & separators or number - 1 in in_tables:
            in_tables.add(number)
    return [number + 1 for number in rows if number not in in_tables]


def _without_text(block: re.Match[str]) -> str:
    return "\n" * block[0].count("\n")


def test_rows_outside_of_tables_are_found() -> None:
    table = "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n"

    assert _rows_outside_of_tables(f"Text\n\n{table}\nText\n\n  {table}") == []
    assert _rows_outside_of_tables(f"{table}\n| 5 | 6 |\n| 7 | 8 |\n") == [6, 7]
    assert _rows_outside_of_tables(f"```\n| 1 | 2 |\n```\n\n| 5 | 6 |\n{table}") == [5]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_row_is_in_a_table(page: Path) -> None:
    assert _rows_outside_of_tables(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", ["architecture", "reliability"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    files = FILE.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))

    assert len(files) > 15
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_tests_that_the_threat_model_names_exist() -> None:
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))
    files = {file: ROOT / "tests" / file for file, _ in named}
    texts = {file: path.read_text(encoding="utf-8") if path.is_file() else "" for file, path in files.items()}

    assert len(named) > 50
    assert sorted(f"{file}::{test}" for file, test in named if f"def {test}(" not in texts[file]) == []
