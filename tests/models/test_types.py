"""The types of items."""

from __future__ import annotations

from typing import ClassVar

import pytest

from shared.models.base import ItemOfPost


def test_a_type_that_would_hide_the_tombstone_of_a_post_is_rejected() -> None:
    """A list in descending order of types would show the votes of a deleted post instead of its tombstone."""
    with pytest.raises(TypeError, match="'vote' must sort before 'tombstone'"):

        class Vote(ItemOfPost):
            TYPE: ClassVar[str] = "vote"
