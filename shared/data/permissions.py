"""Callers of commands, and what they can edit and delete.

Authors edit and delete what they have written, and delete the comments on their posts. A trusted back end edits posts,
and deletes all posts, comments and accounts.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class BackEnd:
    """A trusted back end, which acts as any user."""


@dataclass(frozen=True)
class SignedIn:
    """A caller who signs in. `user` is the ID of the user they act as, who may not exist yet."""

    user: uuid.UUID

    def is_one_of(self, user_ids: Collection[str]) -> bool:
        """Return whether they act as one of these users."""
        return str(self.user) in user_ids


Caller = BackEnd | SignedIn
