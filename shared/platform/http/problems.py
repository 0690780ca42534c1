"""The table that maps errors to HTTP problem details (RFC 9457)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import azure.functions as func
from pydantic import BaseModel, ConfigDict, Field

from shared.platform import NAME, errors
from shared.platform.errors import FieldFault

MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """Problem details (RFC 9457)."""

    model_config = ConfigDict(defer_build=True)

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    instance: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    errors: list[FieldFault] = []


@dataclass(frozen=True)
class Problem:
    """The HTTP form of an error class."""

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


# An app adds its own errors.
PROBLEMS: dict[type[Exception], Problem] = {
    errors.MalformedRequest: Problem(400, "Malformed request"),
    errors.NotAuthenticated: Problem(401, "Not authenticated"),
    errors.Forbidden: Problem(403, "Forbidden"),
    errors.PathNotFound: Problem(404, "Path not found"),
    errors.VersionMismatch: Problem(412, "Version mismatch"),
    errors.BodyTooLarge: Problem(413, "Body too large"),
    errors.UnsupportedBody: Problem(415, "Unsupported body"),
    errors.InvalidFields: Problem(422, "Invalid fields"),
    errors.IdempotencyKeyReused: Problem(422, "Idempotency key reused"),
    errors.RequestRefused: Problem(400, "Request refused"),
    errors.ItemTooLarge: Problem(413, "Item too large"),
    errors.PartitionFull: Problem(507, "Partition full"),
    errors.DatabaseThrottled: Problem(429, "Too many requests", retry_after_s=1),
    errors.DatabaseUnavailable: Problem(503, "Database unavailable", retry_after_s=5),
    errors.ItemDamaged: Problem(503, "Item damaged", retry_after_s=60),
    errors.NotReady: Problem(503, "Not ready", retry_after_s=10),
    Exception: Problem(500, "Internal error"),
}


def problem_of(error: Exception) -> Problem:
    """The HTTP form of any error: the entry of its class, or of the nearest base class in the table."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def problem_response(error: Exception, instance: str) -> func.HttpResponse:
    """The response to a request for `instance` that failed. Errors outside the table reveal no details."""
    unexpected = PROBLEMS[Exception]
    problem = problem_of(error)
    details = ProblemDetails(
        type=problem.type,
        title=problem.title,
        status=problem.status,
        detail="The request failed unexpectedly; see the log." if problem is unexpected else str(error),
        instance=instance,
        errors=error.faults if isinstance(error, errors.InvalidFields) else [],
    )
    return func.HttpResponse(
        details.model_dump_json(exclude_defaults=True).encode(),
        status_code=problem.status,
        headers=_headers_of(error, problem),
        mimetype=MEDIA_TYPE,
    )


def _headers_of(error: Exception, problem: Problem) -> dict[str, str]:
    if isinstance(error, errors.AlreadyExists):
        return {"Location": error.path}
    if isinstance(error, errors.EncodedBody):
        return {"Accept-Encoding": "identity"}  # https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16
    # RFC 6750, section 3: a request without a token gets no error code.
    challenge = f'Bearer realm="{NAME}"'
    if isinstance(error, errors.NotAuthenticated):
        code = f', error="invalid_token", error_description="{error.fault}"' if error.fault else ""
        return {"WWW-Authenticate": challenge + code}
    if isinstance(error, errors.Forbidden):
        code = ', error="insufficient_scope", error_description="The caller cannot do this."'
        return {"WWW-Authenticate": challenge + code}
    retry_after_s: float | None = problem.retry_after_s
    if isinstance(error, errors.RetryLater):
        retry_after_s = error.retry_after_s
    return {} if retry_after_s is None else {"Retry-After": str(max(1, math.ceil(retry_after_s)))}
