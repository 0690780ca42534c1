"""The endpoints of the blog: its IDs, and who can act as which user.

A caller who signs in acts as their own user only, in every command that names a user in its path or body. Authors edit
and delete what they have written, and delete the comments on their posts: the commands in shared/data/ check it. A
trusted back end edits posts, and deletes all posts, comments and accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import azure.functions as func

from shared.errors import CommentNotFound, PostNotFound, UserNotFound
from shared.platform.errors import Forbidden, NotFound
from shared.platform.http import endpoints
from shared.platform.http.callers import SignedIn
from shared.platform.http.calls import Call


@dataclass(frozen=True)
class Endpoint(endpoints.Endpoint):
    """Decorator that turns a handler into an HTTP function of the blog."""

    not_found: ClassVar[Mapping[str, type[NotFound]]] = {
        "userId": UserNotFound,
        "postId": PostNotFound,
        "commentId": CommentNotFound,
    }

    def authorize(self, call: Call[Any], _request: func.HttpRequest) -> None:
        """Raise Forbidden if the path or body names a user that the caller cannot act as."""
        for user_id in (call.path.get("userId"), getattr(call.body, "user_id", None)):
            if user_id is not None and isinstance(call.caller, SignedIn) and not call.caller.is_one_of([user_id]):
                raise Forbidden(f"You cannot act as the user {user_id!r}; your user ID is {str(call.caller.user)!r}.")
