"""The whole description: what the API is, its operations, and the components that they share."""

from __future__ import annotations

from collections.abc import Sequence

from shared.http.endpoints import Endpoint
from shared.http.openapi.answers import HEADERS, answers_of
from shared.http.openapi.examples import example_of
from shared.http.openapi.parameters import PARAMETERS, parameters_of
from shared.http.openapi.refusals import PROBLEM_SCHEMA, refusal_components, refusals_of
from shared.http.openapi.schemas import JsonObject, Schemas, schemas_of

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

**Keys.** Commands need a function key, queries need none. The host on Azure checks keys, the local one does not.
""".strip()

_SECURITY_SCHEMES: JsonObject = {
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


def describe(endpoints: Sequence[Endpoint]) -> JsonObject:
    """The OpenAPI 3.1 document of `endpoints`. Raises ValueError, KeyError for an endpoint that cannot be described:
    a field without an example, an error without one or without a place in the table of problems."""
    schemas = schemas_of(endpoints)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Blog",
            "version": "1.0.0",
            "summary": "The blog platform of Azure Cosmos DB's data-modelling article.",
            "description": _DESCRIPTION,
        },
        "servers": [{"url": API_PATH}],
        "tags": [{"name": tag} for tag in dict.fromkeys(endpoint.tag for endpoint in endpoints)],
        "paths": _paths(endpoints, schemas),
        "components": {
            "schemas": schemas.definitions | {"Problem": PROBLEM_SCHEMA},
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "responses": refusal_components(endpoints),
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


def _paths(endpoints: Sequence[Endpoint], schemas: Schemas) -> JsonObject:
    paths: JsonObject = {}
    for endpoint in endpoints:
        paths.setdefault("/" + endpoint.route, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return paths


def _operation(endpoint: Endpoint, schemas: Schemas) -> JsonObject:
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
    operation["responses"] = answers_of(endpoint, schemas) | refusals_of(endpoint)
    # Either scheme will do for a command; a query needs none.
    operation["security"] = [{name: []} for name in _SECURITY_SCHEMES] if endpoint.is_command else []
    return operation
