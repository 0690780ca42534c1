"""The errors of the blog: what can be wrong with a valid request.

The API's documentation shows the first paragraph of each docstring.
"""

from __future__ import annotations

from datetime import date

from shared.platform.errors import AlreadyExists, AppError, NotFound, Problem, RetryLater


class UserNotFound(NotFound):
    """No user has this ID."""

    problem = Problem(404, "User not found")
    kind = "user"


class PostNotFound(NotFound):
    """No post has this ID, or it has been deleted."""

    problem = Problem(404, "Post not found")
    kind = "post"


class CommentNotFound(NotFound):
    """The post has no comment with this ID."""

    problem = Problem(404, "Comment not found")
    kind = "comment"


class UsernameTaken(AppError):
    """Another user has this username, compared case-insensitively after Unicode NFKC."""

    problem = Problem(409, "Username taken")

    def __init__(self, username: str) -> None:
        super().__init__(f"The username {username!r} is taken; choose another.")


class AlreadyRegistered(AlreadyExists):
    """The signed-in caller already has a user. Location is its path."""

    problem = Problem(409, "Already registered")

    def __init__(self, user_id: str) -> None:
        super().__init__(f"You already have a user, with the ID {user_id!r}.", f"/api/users/{user_id}")


class AccountDeleted(AppError):
    """The account was deleted. Its user can register again after 30 days, on the date in the detail, or never."""

    problem = Problem(409, "Account deleted")

    def __init__(self, next_registration: date | None) -> None:
        day = next_registration
        when = f"You can register again on {day.day} {day:%B %Y}." if day else "You cannot register again."
        super().__init__(f"This account was deleted. {when}")


class TooManyRenames(RetryLater):
    """The user was renamed too often."""

    problem = Problem(429, "Too many renames")
    detail = "You have changed your name too often; try again later."
