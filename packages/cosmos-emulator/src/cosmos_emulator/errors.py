"""The error of operations, queries and scripts; http/server.py turns it into a response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CODES = {
    304: "NotModified",
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "RequestTimeout",
    409: "Conflict",
    410: "Gone",
    412: "PreconditionFailed",
    413: "RequestEntityTooLarge",
    424: "FailedDependency",
    429: "429",
    449: "RetryWith",
    500: "InternalServerError",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}

OWNER_MISSING = 1003
"""Sub-status of a 404 if the database or container of the resource is missing."""


class CosmosError(Exception):
    """A failed operation, as clients of the service see it.

    `details` are added to the body, such as `additionalErrorInfo`. With `is_document`, the message is the JSON that
    clients see instead of `{"Errors": [message]}`.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        sub_status: int = 0,
        details: Mapping[str, Any] | None = None,
        retry_after_ms: int | None = None,
        is_document: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.sub_status = sub_status
        self.details = dict(details or {})
        self.retry_after_ms = retry_after_ms
        self.is_document = is_document
        self.headers: dict[str, str] = {}  # of the partition that refused the operation

    @property
    def code(self) -> str:
        """The .NET name of the status."""
        return CODES.get(self.status, str(self.status))


def container_deleted() -> CosmosError:
    """Return the error of a request whose container is deleted before it ends."""
    return CosmosError(404, "The container was deleted during the request.", sub_status=OWNER_MISSING)
