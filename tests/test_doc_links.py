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
FILE = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|js|json|md|toml))`")


IMAGES = re.compile(r"\(([\w./-]+\.(?:png|svg))\)")


def test_every_picture_is_shown_and_every_shown_picture_exists() -> None:
    shown = {(page.parent / name).resolve() for page in PAGES for name in IMAGES.findall(page.read_text("utf-8"))}
    folders = [ROOT / "docs", *(ROOT / "packages").glob("*/docs")]
    files = {path.resolve() for folder in folders for path in folder.rglob("*") if path.suffix in (".png", ".svg")}

    assert files == {path for path in shown if any(folder in path.parents for folder in folders)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_files_in_the_call_paths_exist() -> None:
    files = FILE.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))

    assert len(files) > 15
    assert [file for file in files if not (ROOT / file).is_file()] == []
