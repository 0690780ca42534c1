"""The whole description: what the API is, its operations, and the components that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.http.endpoints import Endpoint
from shared.http.openapi.answers import HEADERS, answers_of
from shared.http.openapi.examples import example_of
from shared.http.openapi.parameters import PARAMETERS, parameters_of
from shared.http.openapi.refusals import PROBLEM_SCHEMA, refusal_components, refusals_of
from shared.http.openapi.schemas import JsonObject, Schemas, schemas_of
from shared.settings import AuthMode, AuthSettings

# Where the Functions host puts every route unless host.json says otherwise; relative, so that it holds on any host.
API_PATH = "/api"

_DESCRIPTION = """
Users write posts, comment on them and like them. The model behind it is that of
[How to model and partition data on Azure Cosmos DB](https://learn.microsoft.com/azure/cosmos-db/nosql/how-to-model-partition-example);
C1 to C4 and Q1 to Q6 are the article's names of its commands and queries.

**Consistency.** What a command answered is read back at once by a user's or a post's own address and by the lists of a
post's comments and likes. The lists of posts, and a new username everywhere else, follow within moments; the counts of
a post are exact at its own address and catch up in the lists.

**Repeating.** A POST with an `Idempotency-Key` can be repeated safely. `If-Match` with the `ETag` of a resource keeps
PUT and DELETE from undoing what someone else did meanwhile.

**Errors** are problem details (RFC 9457) as `application/problem+json`; their types are explained at `/api/docs`. A
path or method that is not described here is answered with 404 by the Functions host itself.

""".lstrip()

_FUNCTION_KEYS: JsonObject = {
    "functionKey": {
        "type": "apiKey",
        "in": "header",
        "name": "x-functions-key",
        "description": "A function key or host key of the function app. The local host checks no keys.",
    },
    "functionKeyInQuery": {
        "type": "apiKey",
        "in": "query",
        "name": "code",
        "description": "The same key as a query parameter. The local host checks no keys.",
    },
}
_ACTING = "A signed-in user acts as himself alone; his user is made by his first POST to `/users` and is his for good."


@dataclass(frozen=True)
class _Security:
    """How a command says who sends it: `schemes` by name, of which any one will do, and `explanation` for a reader."""

    schemes: JsonObject
    explanation: str


def _security_of(auth: AuthSettings) -> _Security:
    match auth.mode:
        case AuthMode.OIDC:
            of = f"A token of {auth.issuer} for the audience {auth.audience}."
            scheme = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": of}
            return _Security(
                {"bearer": scheme}, f"**Signing in.** Commands need a bearer token, queries need none. {of} {_ACTING}"
            )
        case AuthMode.APP_SERVICE:
            of = "App Service authentication's session."
            scheme = {"type": "apiKey", "in": "cookie", "name": "AppServiceAuthSession", "description": of}
            return _Security(
                {"appService": scheme},
                "**Signing in.** Commands need a caller who has signed in with App Service authentication, queries "
                f"need none. {_ACTING}",
            )
        case AuthMode.FUNCTION_KEY:
            return _Security(
                _FUNCTION_KEYS,
                "**Keys.** Commands need a function key, queries need none. The host on Azure checks keys, the local "
                "one does not.",
            )


def describe(endpoints: Sequence[Endpoint], auth: AuthSettings) -> JsonObject:
    """The OpenAPI 3.1 document of `endpoints`, whose commands are guarded as `auth` says.

    Raises ValueError, KeyError for an endpoint that cannot be described: a field without an example, an error without
    one or without a place in the table of problems.
    """
    schemas = schemas_of(endpoints)
    security = _security_of(auth)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Blog",
            "version": "1.0.0",
            "summary": "The blog platform of Azure Cosmos DB's data-modelling article.",
            "description": _DESCRIPTION + security.explanation,
        },
        "servers": [{"url": API_PATH}],
        "tags": [{"name": tag} for tag in dict.fromkeys(endpoint.tag for endpoint in endpoints)],
        "paths": _paths(endpoints, schemas, auth),
        "components": {
            "schemas": schemas.definitions | {"Problem": PROBLEM_SCHEMA},
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "responses": refusal_components(endpoints, auth),
            "securitySchemes": security.schemes,
        },
    }


def _paths(endpoints: Sequence[Endpoint], schemas: Schemas, auth: AuthSettings) -> JsonObject:
    paths: JsonObject = {}
    for endpoint in endpoints:
        paths.setdefault("/" + endpoint.route, {})[endpoint.method.lower()] = _operation(endpoint, schemas, auth)
    return paths


def _operation(endpoint: Endpoint, schemas: Schemas, auth: AuthSettings) -> JsonObject:
    operation: JsonObject = {
        "operationId": endpoint.name,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        **({"description": endpoint.description} if endpoint.description else {}),
        "parameters": parameters_of(endpoint),
    }
    if endpoint.body is not None:
        schema = schemas.bodies[endpoint.body]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example_of(schema, schemas)}},
        }
    operation["responses"] = answers_of(endpoint, schemas) | refusals_of(endpoint, auth)
    # Any of the schemes will do for a command; a query needs none.
    operation["security"] = [{name: []} for name in _security_of(auth).schemes] if endpoint.is_command else []
    return operation
