"""The answers to requests that fail: taken from the table that answers them, with the very answer as the example."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from shared import errors
from shared.errors import FieldFault
from shared.http.calls import BODY_LIMIT, PAGE_LIMIT
from shared.http.endpoints import Endpoint
from shared.http.openapi.answers import header_references, is_about_items
from shared.http.openapi.schemas import JsonObject
from shared.http.problems import MEDIA_TYPE, PROBLEMS, UNFORESEEN, problem_response
from shared.settings import AuthMode, AuthSettings

Refusal = type[Exception]

PROBLEM_SCHEMA: JsonObject = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "description": "Where the problem is explained."},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is the matter with this request."},
        "instance": {"type": "string", "format": "uri-reference", "description": "The path of the request."},
        "errors": {
            "type": "array",
            "minItems": 1,
            "description": "Every fault of the body.",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "format": "json-pointer", "description": "The field (RFC 6901)."},
                    "detail": {"type": "string", "description": "What is the matter with it."},
                },
                "required": ["pointer", "detail"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "instance"],
}

# Of the Functions host, which refuses before the app is asked and promises no body.
UNAUTHORIZED: JsonObject = {"description": "The request has no valid function key, and the host checks keys."}

_EXAMPLE_PATH = "/api/posts"
_ID = "7f2c1b52-3f0d-4d0e-8d5a-0c9d1b6e4a71"
_FAULT = FieldFault("/username", "String should have at least 3 characters")
_EXAMPLES: dict[Refusal, Exception] = {
    type(error): error
    for error in (
        errors.NotAuthenticated("The token has expired."),
        errors.Forbidden("Only its author edits or deletes a post."),
        errors.MalformedRequest(f"The query parameter limit must be a whole number from 1 to {PAGE_LIMIT}."),
        errors.UserNotFound(_ID),
        errors.PostNotFound(_ID),
        errors.CommentNotFound(_ID),
        errors.UsernameTaken("ada.lovelace"),
        errors.AlreadyRegistered(_ID),
        errors.VersionMismatch(),
        errors.BodyTooLarge(f"The body has {BODY_LIMIT + 1} bytes; {BODY_LIMIT} is the limit."),
        errors.UnsupportedBody("Send the body as application/json in UTF-8 and say so in Content-Type."),
        errors.InvalidFields([_FAULT]),
        errors.IdempotencyKeyReused(),
        errors.IssuerUnavailable(),
        errors.DatabaseThrottled(retry_after_s=1),
        errors.DatabaseUnavailable("unreachable"),
        errors.NotReady(["feed", "posts/createLike"]),
        Exception(),
    )
}
# These come from reading the request; the database is not asked before.
_BEFORE_THE_DATABASE = {
    errors.NotAuthenticated,
    errors.MalformedRequest,
    errors.BodyTooLarge,
    errors.UnsupportedBody,
    errors.InvalidFields,
}
# Headers by their names among the components: those that come with every problem of a status, or with one of them.
_SENT_BY_ALL = {"Retry-After": "RetryAfter", "WWW-Authenticate": "Challenge"}
_SENT_BY_SOME = {"Location": "LocationIfAny"}
# What only someone who signs in can be told.
_OF_WHO_SIGNS_IN = {errors.AlreadyRegistered}


def meaning_of(refusal: Refusal) -> str:
    """What the description says of an error: the first paragraph of its docstring, as one line."""
    if refusal is Exception:
        return "Something unforeseen happened; the log has the reason."
    return " ".join((refusal.__doc__ or "").partition("\n\n")[0].split())


def refusals_of(endpoint: Endpoint, auth: AuthSettings) -> JsonObject:
    """The failing answers of `endpoint` by status, as references to what `refusal_components` defines."""
    answers = {
        str(status): {"$ref": f"#/components/responses/{_name(group)}"}
        for status, group in _by_status(endpoint, auth).items()
    }
    if endpoint.is_command and not auth.users_sign_in:
        answers["401"] = {"$ref": "#/components/responses/Unauthorized"}
    return dict(sorted(answers.items()))


def refusal_components(endpoints: Iterable[Endpoint], auth: AuthSettings) -> JsonObject:
    """Each failing answer that an endpoint can give; those that share a status on one endpoint are one."""
    groups = {_name(group): group for endpoint in endpoints for group in _by_status(endpoint, auth).values()}
    of_the_host = {} if auth.users_sign_in else {"Unauthorized": UNAUTHORIZED}
    return of_the_host | {name: _answer(group) for name, group in sorted(groups.items())}


def _possible(endpoint: Endpoint, auth: AuthSettings) -> list[Refusal]:
    possible: list[Refusal] = [errors.MalformedRequest, *endpoint.refusals]
    if not auth.users_sign_in:
        possible = [refusal for refusal in possible if refusal not in _OF_WHO_SIGNS_IN]
    elif endpoint.is_command:
        possible += [errors.NotAuthenticated, errors.Forbidden]
        possible += [errors.IssuerUnavailable] if auth.mode is AuthMode.OIDC else []
    if endpoint.body is not None:
        possible += [errors.BodyTooLarge, errors.UnsupportedBody, errors.InvalidFields]
    if is_about_items(endpoint):
        possible += [errors.DatabaseThrottled, errors.DatabaseUnavailable]
    return [*possible, Exception]


def _by_status(endpoint: Endpoint, auth: AuthSettings) -> dict[int, tuple[Refusal, ...]]:
    groups: dict[int, tuple[Refusal, ...]] = {}
    for refusal in _possible(endpoint, auth):
        status = PROBLEMS.get(refusal, UNFORESEEN).status
        groups[status] = (*groups.get(status, ()), refusal)
    return groups


def _name(group: Sequence[Refusal]) -> str:
    return "Or".join(_error_name(refusal) for refusal in group)


def _error_name(refusal: Refusal) -> str:
    return "InternalError" if refusal is Exception else refusal.__name__


def _answer(group: Sequence[Refusal]) -> JsonObject:
    responses = {_error_name(refusal): problem_response(_EXAMPLES[refusal], _EXAMPLE_PATH) for refusal in group}
    headers = {} if _BEFORE_THE_DATABASE.issuperset(group) else {"x-ms-request-charge": "RequestChargeIfAny"}
    sent = [response.headers for response in responses.values()]
    headers |= {header: name for header, name in _SENT_BY_ALL.items() if all(header in names for names in sent)}
    headers |= {header: name for header, name in _SENT_BY_SOME.items() if any(header in names for names in sent)}
    bodies = {name: json.loads(response.get_body()) for name, response in responses.items()}
    return {
        "description": " ".join(meaning_of(refusal) for refusal in group),
        "headers": header_references(headers),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {name: {"summary": body["title"], "value": body} for name, body in bodies.items()},
            }
        },
    }
