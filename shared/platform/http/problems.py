"""Errors as HTTP problem details (RFC 9457)."""

from __future__ import annotations

import math
from typing import Annotated

import azure.functions as func
from pydantic import BaseModel, ConfigDict, Field

from shared.platform import NAME, errors
from shared.platform.errors import AppError, FieldFault, Problem

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


def problem_of(error: Exception) -> Problem:
    return error.problem if isinstance(error, AppError) else AppError.problem


def problem_response(error: Exception, instance: str) -> func.HttpResponse:
    """The response to a request for `instance` that failed. Other errors than the app's reveal no details."""
    problem = problem_of(error)
    details = ProblemDetails(
        type=problem.type,
        title=problem.title,
        status=problem.status,
        detail="The request failed unexpectedly; see the log." if problem is AppError.problem else str(error),
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
