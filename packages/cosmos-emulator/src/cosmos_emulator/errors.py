"""The one error of the gateway: what an operation raises and the wire writes.

Operations, the query engine and the script engine raise `CosmosError`; `local/cosmos/server.py` is the only place
that turns it into a status line, `x-ms-substatus` and a `{"code", "message"}` body.
"""

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
"""Sub-status of a 404 when it is the database or container around the resource that is missing."""


class CosmosError(Exception):
    """A failure as a client of the service sees it.

    `status` is the HTTP status, `sub_status` goes out as `x-ms-substatus` when it is not 0, `details` are further
    properties of the body (`additionalErrorInfo` of a query that needs the client's pipeline), `charge_ru` is what
    the refused operation costs all the same (request-units: 409 1.48, 412 1.24, 404 1, 400 0); None lets the wire
    look it up by status. `retry_after_ms` tells the client when to try again, as 429 and 449 do.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        sub_status: int = 0,
        details: Mapping[str, Any] | None = None,
        charge_ru: float | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.sub_status = sub_status
        self.details = dict(details or {})
        self.charge_ru = charge_ru
        self.retry_after_ms = retry_after_ms

    @property
    def code(self) -> str:
        """The .NET name of the status, as the service's bodies carry it."""
        return CODES.get(self.status, str(self.status))
