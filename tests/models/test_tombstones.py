"""What is left of a deleted post."""

from __future__ import annotations

from shared.models.post import EMPTIED, NewPost, PostChanges


def test_a_tombstone_has_nothing_that_people_wrote() -> None:
    written = {field.alias for model in (NewPost, PostChanges) for field in model.model_fields.values()}
    assert written - {"userId"} <= EMPTIED.keys()
