"""The errors of the blog: what can be wrong with a valid request. shared/endpoints.py maps them to HTTP.

The API's documentation shows the first paragraph of each docstring.
"""

from __future__ import annotations

from datetime import date

from shared.platform.errors import AlreadyExists, AppError, NotFound, RetryLater


class UserNotFound(NotFound):
    """No user has this ID."""

    kind = "user"


class PostNotFound(NotFound):
    """No post has this ID, or it has been deleted."""

    kind = "post"


class CommentNotFound(NotFound):
    """The post has no comment with this ID."""

    kind = "comment"


class UsernameTaken(AppError):
    """Another user has this username, compared case-insensitively after Unicode NFKC."""

    def __init__(self, username: str) -> None:
        super().__init__(f"The username {username!r} is taken; choose another.")


class AlreadyRegistered(AlreadyExists):
    """The signed-in caller already has a user. Location is its path."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"You already have a user, with the ID {user_id!r}.", f"/api/users/{user_id}")


class AccountDeleted(AppError):
    """The account was deleted. Its user can register again after 30 days, on the date in the detail, or never."""

    def __init__(self, next_registration: date | None) -> None:
        day = next_registration
        when = f"You can register again on {day.day} {day:%B %Y}." if day else "You cannot register again."
        super().__init__(f"This account was deleted. {when}")


class TooManyRenames(RetryLater):
    """The user was renamed too often."""

    detail = "You have changed your name too often; try again later."
