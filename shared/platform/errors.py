"""Errors that are reported to clients, and `NoProgress`. An app adds its own.

http/problems.py turns them into responses. The API's documentation shows the first paragraph of each docstring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Problem:
    """The HTTP form of an error: its status and title, and when to try again."""

    status: int
    title: str
    retry_after_s: int | None = None

    @property
    def code(self) -> str:
        """The title as one word, for the log."""
        return self.title.lower().replace(" ", "-")

    @property
    def type(self) -> str:
        """Link to the explanation on the docs page."""
        return f"/api/docs#{self.code}"


class AppError(Exception):
    """An unexpected error occurred."""

    # A subclass has its own. The message is the `detail` that the client reads.
    problem: ClassVar[Problem] = Problem(500, "Internal error")
    detail: ClassVar[str] = ""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.detail)


class InternalReason(AppError):
    """Base class of errors with a `reason` that is for the log, because it can contain details of the database."""

    event: ClassVar[str]  # the name of the log line

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RetryLater(AppError):
    """Base class of errors after which the request can succeed in `retry_after_s` seconds."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class MalformedRequest(AppError):
    """The body is not a JSON object, or a query parameter, header, or cursor is malformed."""

    problem = Problem(400, "Malformed request")


@dataclass(frozen=True)
class FieldFault:
    """An invalid field: a JSON pointer (RFC 6901) to it, and what to change."""

    pointer: str
    detail: str


class InvalidFields(AppError):
    """The body has invalid fields. The first 20 of them are listed."""

    problem = Problem(422, "Invalid fields")

    def __init__(self, faults: list[FieldFault]) -> None:
        super().__init__("The body has invalid fields; see errors.")
        self.faults = faults


class NotAuthenticated(AppError):
    """The command is not from a signed-in user.

    `fault` is None if the caller is not signed in. Otherwise it is a reason in visible ASCII, without quotes or
    backslashes.
    """

    problem = Problem(401, "Not authenticated")

    def __init__(self, fault: str | None = None) -> None:
        super().__init__(fault or "Sign in, or send a bearer token.")
        self.fault = fault


class Forbidden(AppError):
    """The caller cannot do this, or another site sent the command."""

    problem = Problem(403, "Forbidden")


class BodyTooLarge(AppError):
    """The body is too large."""

    problem = Problem(413, "Body too large")


class UnsupportedBody(AppError):
    """The body is not application/json, or has a Content-Encoding."""

    problem = Problem(415, "Unsupported body")


class EncodedBody(UnsupportedBody):
    """The body has a Content-Encoding, which the response tells from an unsupported type by its Accept-Encoding."""

    detail = "Send the body without a Content-Encoding."


class PathNotFound(AppError):
    """The API has no such path, or the path has no such method."""

    problem = Problem(404, "Path not found")
    detail = "The API has no such path, or the path has no such method."


class NotFound(AppError):
    """Base class of errors for unknown IDs."""

    kind: ClassVar[str]

    def __init__(self, item_id: str) -> None:
        super().__init__(f"There is no {self.kind} with the ID {item_id!r}.")


class AlreadyExists(AppError):
    """Base class of errors for resources that exist already, at `path`."""

    def __init__(self, detail: str, path: str) -> None:
        super().__init__(detail)
        self.path = path


class IdempotencyKeyReused(AppError):
    """The Idempotency-Key was sent before with another request, or more than 24 hours ago."""

    problem = Problem(422, "Idempotency key reused")
    detail = "This Idempotency-Key was sent before, with another request or too long ago; send a new key."


class VersionMismatch(AppError):
    """The resource has changed since the version in If-Match."""

    problem = Problem(412, "Version mismatch")
    detail = "The resource has changed since the version in If-Match; read it again."


class DatabaseThrottled(RetryLater):
    """The database is over its provisioned throughput, and retries have failed.

    `retry_after_s` is the delay that the database last requested.
    """

    problem = Problem(429, "Too many requests")
    detail = "The database is over its provisioned throughput; try again later."


class DatabaseUnavailable(InternalReason):
    """The database is unreachable or did not respond in time. A command may or may not have been applied."""

    problem = Problem(503, "Database unavailable", retry_after_s=5)
    detail = "The database is unavailable; try again later."
    event = "database unavailable"


class DatabaseRefusal(InternalReason):
    """Base class of permanent refusals: nothing was written, and the same request fails again."""

    event = "database refused"


class PartitionFull(DatabaseRefusal):
    """The logical partition that the request writes to has reached its maximum size."""

    problem = Problem(507, "Partition full")
    detail = "The storage for this resource is full."


class ItemTooLarge(DatabaseRefusal):
    """The item would be larger than the database allows."""

    problem = Problem(413, "Item too large")
    detail = "The item would be larger than the database allows."


class RequestRefused(DatabaseRefusal):
    """The database rejects the request as invalid."""

    problem = Problem(400, "Request refused")
    detail = "The database rejects the request as invalid."


class NoProgress(Exception):
    """Other writes refused every attempt to handle a change, which is therefore stored in `failures`."""


class ItemDamaged(InternalReason):
    """A stored item that the request needs is damaged. The operator must repair it.

    `manage.py verify` and `reason` name it and its fields.
    """

    problem = Problem(503, "Item damaged", retry_after_s=60)
    detail = "A stored item is damaged; the operator must repair it."
    event = "item damaged"


class NotReady(AppError):
    """A container, stored procedure, or setting that the app needs is missing. The detail names it."""

    problem = Problem(503, "Not ready", retry_after_s=10)

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"Not ready: {', '.join(names)}.")
        self.names = tuple(names)
