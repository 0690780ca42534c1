"""What can go wrong, in the blog's words.

    BlogError
    ├── MalformedRequest     a body, query parameter or cursor that cannot be read
    ├── InvalidFields        a body that can be read and breaks the rules, with every fault
    ├── NotAuthenticated     no token, or one that does not hold
    ├── Forbidden            the caller may not act as this user, or on what is not his
    ├── BodyTooLarge
    ├── UnsupportedBody      a body that is not application/json
    ├── NotFound
    │   ├── UserNotFound
    │   ├── PostNotFound
    │   └── CommentNotFound
    ├── UsernameTaken
    ├── AlreadyRegistered    the caller has a user already
    ├── IdempotencyKeyReused the key was sent before with another request
    ├── VersionMismatch      If-Match does not hold
    ├── IssuerUnavailable    the issuer of tokens cannot be asked for its keys
    ├── DatabaseThrottled    more requests than the provisioned throughput, past the retries
    ├── DatabaseUnavailable  cannot be reached, or did not answer in time
    └── NotReady             something that the blog needs is missing or does not answer, with its names

`shared/http/problems.py` has the one table from these to HTTP. The first paragraph of a docstring is what the API's
description says of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class BlogError(Exception):
    """Base of every failure that a caller of the blog is told about; the message is the `detail` that he reads."""


class MalformedRequest(BlogError):
    """The request cannot be read: not JSON, not an object, a malformed query parameter or cursor."""


@dataclass(frozen=True)
class FieldFault:
    """One fault of a body: `pointer` is a JSON pointer (RFC 6901) to the field, `detail` says what to change."""

    pointer: str
    detail: str


class InvalidFields(BlogError):
    """The body breaks the rules of its fields.

    `faults` names every one of them.
    """

    def __init__(self, faults: list[FieldFault]) -> None:
        super().__init__("The body has faults; each is named under errors.")
        self.faults = faults


class NotAuthenticated(BlogError):
    """The command has no bearer token, or one that does not hold.

    `fault` says what is wrong with the token, in visible ASCII without quotes or backslashes, and with nothing of the
    token in it; None where there is none.
    """

    def __init__(self, fault: str | None = None) -> None:
        super().__init__(fault or "This needs a caller who has signed in; send a bearer token.")
        self.fault = fault


class Forbidden(BlogError):
    """The caller may not do this: it acts as another user, or on what is another's."""


class BodyTooLarge(BlogError):
    """The body is over the limit."""


class UnsupportedBody(BlogError):
    """The body is not application/json."""


class NotFound(BlogError):
    """What the request names does not exist."""


class UserNotFound(NotFound):
    """No user has this id."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"There is no user with the id {user_id!r}.")


class PostNotFound(NotFound):
    """No post has this id, or it was deleted."""

    def __init__(self, post_id: str) -> None:
        super().__init__(f"There is no post with the id {post_id!r}.")


class CommentNotFound(NotFound):
    """The post has no comment with this id."""

    def __init__(self, comment_id: str) -> None:
        super().__init__(f"The post has no comment with the id {comment_id!r}.")


class UsernameTaken(BlogError):
    """Someone else has the name, compared case-insensitively after Unicode NFKC."""

    def __init__(self, username: str) -> None:
        super().__init__(f"The username {username!r} is taken; choose another.")


class AlreadyRegistered(BlogError):
    """The caller has a user already; Location says where.

    `user_id` is the id of that user.
    """

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The caller has a user already, with the id {user_id!r}.")
        self.user_id = user_id


class IdempotencyKeyReused(BlogError):
    """The Idempotency-Key was sent before with another request."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was sent before with another request; send a new key.")


class VersionMismatch(BlogError):
    """If-Match does not hold: the resource was changed since it was read."""

    def __init__(self) -> None:
        super().__init__("The resource is not the version that If-Match names; read it again.")


class IssuerUnavailable(BlogError):
    """The issuer of the tokens cannot be asked for its keys, so that nobody can say whether a token is good."""

    def __init__(self) -> None:
        super().__init__("Tokens cannot be checked at the moment, for their issuer does not answer; try again later.")


class DatabaseThrottled(BlogError):
    """The database is over its provisioned throughput, past the retries.

    `retry_after_s` is its own advice.
    """

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("The database is over its provisioned throughput; try again later.")
        self.retry_after_s = retry_after_s


class DatabaseUnavailable(BlogError):
    """The database cannot be reached, or did not answer in time; the command may or may not have been applied."""

    def __init__(self, reason: str) -> None:
        super().__init__("The database cannot be reached at the moment; try again later.")
        self.reason = reason


class NotReady(BlogError):
    """Something that the blog needs is missing or does not answer.

    `names` says what.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"Not ready: {', '.join(names)}.")
        self.names = tuple(names)
