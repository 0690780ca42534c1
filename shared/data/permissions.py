"""What callers of commands can do.

A caller who signs in acts as their own user only, in every command that names a user in its path or body. Authors edit
and delete what they have written, and delete the comments on their posts: the commands in shared/data/ check it. A
trusted back end edits posts, and deletes all posts, comments and accounts.
"""

from __future__ import annotations

from shared.platform.errors import Forbidden
from shared.platform.http.callers import Caller, SignedIn


def require_can_act_as(caller: Caller, user_id: str) -> None:
    """Raise Forbidden unless the caller acts as this user."""
    if isinstance(caller, SignedIn) and not caller.is_one_of([user_id]):
        raise Forbidden(f"You cannot act as the user {user_id!r}; your user ID is {str(caller.user)!r}.")
