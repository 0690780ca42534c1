"""The types of items."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

from shared.models.base import ItemOfPost
from tests.running_app import REPOSITORY


def test_a_type_that_would_hide_the_tombstone_of_a_post_is_rejected() -> None:
    """A list in descending order of types would show the votes of a deleted post instead of its tombstone."""
    with pytest.raises(TypeError, match="'vote' must sort before 'tombstone'"):

        class Vote(ItemOfPost):
            TYPE: ClassVar[str] = "vote"


def test_no_query_repeats_a_type() -> None:
    """Otherwise, a renamed type would be missed by deletions, renames and `verify`, without an error."""
    repeated = re.compile(r"\.type (=|!=|IN) \(?'\w+'")
    folders = ("shared", "functions", "management", "addons")
    files = [file for folder in folders for file in (REPOSITORY / folder).rglob("*.py")]
    assert [file.name for file in files if repeated.search(file.read_text("utf-8"))] == []
