"""Who can delete what, and which deletions are recorded."""

from __future__ import annotations

import inspect
import uuid

import pytest

from shared.data import comments, posts, users
from shared.data.permissions import BackEnd, Deletion, SignedIn, require_can_delete
from shared.errors import Forbidden, MalformedRequest

AUTHOR = uuid.uuid4()
OWN, OTHER = SignedIn(AUTHOR), SignedIn(uuid.uuid4())
MODERATOR = SignedIn(uuid.uuid4(), is_moderator=True)


@pytest.mark.parametrize(
    ("deletion", "is_recorded"),
    [
        (Deletion(OWN), False),
        (Deletion(OWN, "Mine."), False),
        (Deletion(SignedIn(AUTHOR, is_moderator=True)), False),
        (Deletion(MODERATOR, "An advertisement."), True),
        (Deletion(BackEnd()), False),
        (Deletion(BackEnd(), "An advertisement."), True),
        (Deletion(BackEnd(), "An advertisement.", bans=True), True),
    ],
)
def test_allowed_deletions(deletion: Deletion, is_recorded: bool) -> None:
    assert require_can_delete(deletion, [str(AUTHOR)], "") is is_recorded


@pytest.mark.parametrize(
    ("deletion", "error"),
    [
        (Deletion(OTHER), Forbidden),
        (Deletion(OTHER, "No moderator.", bans=True), Forbidden),
        (Deletion(MODERATOR), MalformedRequest),
        (Deletion(BackEnd(), bans=True), MalformedRequest),
    ],
)
def test_refused_deletions(deletion: Deletion, error: type[Exception]) -> None:
    with pytest.raises(error):
        require_can_delete(deletion, [str(AUTHOR)], "")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (posts.edit_post, "by"),
        (posts.delete_post, "deletion"),
        (comments.delete_comment, "deletion"),
        (users.delete_user, "deletion"),
    ],
)
def test_nobody_is_trusted_by_default(command: object, name: str) -> None:
    """Otherwise a forgotten argument would let anybody edit and delete everything."""
    assert inspect.signature(command).parameters[name].default is inspect.Parameter.empty  # type: ignore[arg-type]
