"""Errors that are reported to clients, and `NoProgress`.

    BlogError
    ├── MalformedRequest, InvalidFields, BodyTooLarge
    ├── UnsupportedBody: EncodedBody
    ├── NotAuthenticated, Forbidden
    ├── NotFound: UserNotFound, PostNotFound, CommentNotFound
    ├── UsernameTaken, AlreadyRegistered, AccountDeleted
    ├── IdempotencyKeyReused, VersionMismatch
    ├── RetryLater: TooManyRenames, TooManyExports, DatabaseThrottled
    ├── NotReady
    └── InternalReason
        ├── DatabaseUnavailable, ItemDamaged
        └── DatabaseRefusal: PartitionFull, ItemTooLarge, RequestRefused

shared/http/problems.py maps them to HTTP. The API's documentation shows the first paragraph of each docstring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar


class BlogError(Exception):
    """Base class. The message is the `detail` that the client reads."""

    detail: ClassVar[str] = ""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.detail)


class InternalReason(BlogError):
    """Base class of errors with a `reason` that is for the log, because it can contain details of the database."""

    event: ClassVar[str]  # the name of the log line

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RetryLater(BlogError):
    """Base class of errors after which the request can succeed in `retry_after_s` seconds."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class MalformedRequest(BlogError):
    """The body is not a JSON object, or a query parameter, header, or cursor is malformed."""


@dataclass(frozen=True)
class FieldFault:
    """An invalid field: a JSON pointer (RFC 6901) to it, and what to change."""

    pointer: str
    detail: str


class InvalidFields(BlogError):
    """The body has invalid fields. The first 20 of them are listed."""

    def __init__(self, faults: list[FieldFault]) -> None:
        super().__init__("The body has invalid fields; see errors.")
        self.faults = faults


class NotAuthenticated(BlogError):
    """The command is not from a signed-in user.

    `fault` is None if the caller is not signed in. Otherwise it is a reason in visible ASCII, without quotes or
    backslashes.
    """

    def __init__(self, fault: str | None = None) -> None:
        super().__init__(fault or "Sign in, or send a bearer token.")
        self.fault = fault


class Forbidden(BlogError):
    """The caller cannot act as this user or change another user's content, or another site sent the command."""


class BodyTooLarge(BlogError):
    """The body is too large."""


class UnsupportedBody(BlogError):
    """The body is not application/json, or has a Content-Encoding."""


class EncodedBody(UnsupportedBody):
    """The body has a Content-Encoding, which the response tells from an unsupported type by its Accept-Encoding."""

    detail = "Send the body without a Content-Encoding."


class NotFound(BlogError):
    """Base class of errors for unknown IDs."""

    kind: ClassVar[str]

    def __init__(self, item_id: str) -> None:
        super().__init__(f"There is no {self.kind} with the ID {item_id!r}.")


class UserNotFound(NotFound):
    """No user has this ID."""

    kind = "user"


class PostNotFound(NotFound):
    """No post has this ID, or it has been deleted."""

    kind = "post"


class CommentNotFound(NotFound):
    """The post has no comment with this ID."""

    kind = "comment"


class UsernameTaken(BlogError):
    """Another user has this username, compared case-insensitively after Unicode NFKC."""

    def __init__(self, username: str) -> None:
        super().__init__(f"The username {username!r} is taken; choose another.")


class AlreadyRegistered(BlogError):
    """The signed-in caller already has a user. Location is its path."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"You already have a user, with the ID {user_id!r}.")
        self.user_id = user_id


class AccountDeleted(BlogError):
    """The account was deleted. Its user can register again after 30 days, on the date in the detail, or never."""

    def __init__(self, next_registration: date | None) -> None:
        day = next_registration
        when = f"You can register again on {day.day} {day:%B %Y}." if day else "You cannot register again."
        super().__init__(f"This account was deleted. {when}")


class TooManyRenames(RetryLater):
    """The user was renamed too often."""

    detail = "You have changed your name too often; try again later."


class TooManyExports(RetryLater):
    """The user has asked for their data too often."""

    detail = "You have downloaded your data too often; try again later."


class IdempotencyKeyReused(BlogError):
    """The Idempotency-Key was sent before with another request, or more than 24 hours ago."""

    detail = "This Idempotency-Key was sent before, with another request or too long ago; send a new key."


class VersionMismatch(BlogError):
    """The resource has changed since the version in If-Match."""

    detail = "The resource has changed since the version in If-Match; read it again."


class DatabaseThrottled(RetryLater):
    """The database is over its provisioned throughput, and retries have failed.

    `retry_after_s` is the delay that the database last requested.
    """

    detail = "The database is over its provisioned throughput; try again later."


class DatabaseUnavailable(InternalReason):
    """The database is unreachable or did not respond in time. A command may or may not have been applied."""

    detail = "The database is unavailable; try again later."
    event = "database unavailable"


class DatabaseRefusal(InternalReason):
    """Base class of permanent refusals: nothing was written, and the same request fails again."""

    event = "database refused"


class PartitionFull(DatabaseRefusal):
    """The logical partition that the request writes to has reached its maximum size."""

    detail = "The storage for this post or user is full."


class ItemTooLarge(DatabaseRefusal):
    """The item would be larger than the database allows."""

    detail = "The item would be larger than the database allows."


class RequestRefused(DatabaseRefusal):
    """The database rejects the request as invalid."""

    detail = "The database rejects the request as invalid."


class NoProgress(Exception):
    """Other writes refused every attempt to handle a change, which is therefore stored in `failures`."""


class ItemDamaged(InternalReason):
    """A stored item that the request needs is damaged. The operator must repair it.

    `manage.py verify` and `reason` name it and its fields.
    """

    detail = "A stored item is damaged; the operator must repair it."
    event = "item damaged"


class NotReady(BlogError):
    """A container, stored procedure, or setting that the app needs is missing. The detail names it."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"Not ready: {', '.join(names)}.")
        self.names = tuple(names)
