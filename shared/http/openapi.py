"""The API described in OpenAPI 3.1, generated from its endpoints, models, and table of problems."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from azure.functions.decorators.function_app import FunctionBuilder
from azure.functions.decorators.http import HttpTrigger
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from shared import errors
from shared.http.calls import DEFAULT_PAGE, IDEMPOTENCY_KEY_LENGTH, PAGE_LIMIT
from shared.http.endpoints import Endpoint, endpoint_of
from shared.http.problems import MEDIA_TYPE, PROBLEMS, ProblemDetails
from shared.models.base import Resource
from shared.settings import AuthMode, AuthSettings

JsonObject = dict[str, Any]

# The Functions host's default route prefix.
API_PATH = "/api"
_SCHEMA = "#/components/schemas/{model}"

_STRING = {"type": "string"}
_PARAMETERS: JsonObject = {
    "limit": {
        "in": "query",
        "description": "Maximum number of items.",
        # The Functions host drops a query parameter without a value.
        "allowEmptyValue": True,
        "schema": {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": DEFAULT_PAGE},
    },
    "cursor": {
        "in": "query",
        "description": "The `nextCursor` of the previous page.",
        "allowEmptyValue": True,
        "schema": _STRING,
    },
    "If-Match": {
        "in": "header",
        "description": "The required `ETag` of the resource, or `*`.",
        "schema": {"type": "string", "pattern": r'^(\*|(W/)?"[^"]*")$'},
    },
    "If-None-Match": {
        "in": "header",
        "description": "The `ETag` of the version that the client has.",
        "schema": _STRING,
    },
    "Idempotency-Key": {
        "in": "header",
        "description": "Makes a retry safe: the same user and key return the first result.",
        "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_LENGTH},
    },
    "traceparent": {"in": "header", "description": "W3C trace context, added to log lines.", "schema": _STRING},
}
_HEADERS: JsonObject = {
    "ETag": {"required": True, "schema": {"type": "string", "pattern": '^(W/)?"[^"]*"$'}},
    "Cache-Control": {"required": True, "schema": _STRING},
    "Location": {"required": True, "schema": {"type": "string", "format": "uri-reference"}},
    "Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"required": True, "schema": {"type": "string", "pattern": '^Bearer realm="blog"'}},
    "x-ms-request-charge": {
        "description": "Request units charged. Absent if the database was not called.",
        "schema": {"type": "number", "minimum": 0},
    },
}
_DESCRIPTIONS = {200: "Success.", 201: "Created.", 204: "No content.", 304: "Not modified."}


@dataclass(frozen=True)
class ApiOperation:
    """An endpoint at its route; `tag` is the name of its file."""

    name: str
    docstring: str
    method: str
    route: str
    tag: str
    endpoint: Endpoint

    @property
    def is_command(self) -> bool:
        """Whether it needs authentication."""
        return self.method != "GET"

    @property
    def is_collection(self) -> bool:
        """Whether it returns several resources."""
        return self.endpoint.paged or self.endpoint.listed

    @property
    def uses_items(self) -> bool:
        """Whether it reads or writes items; health checks do not."""
        return self.endpoint.returns is None or issubclass(self.endpoint.returns, Resource)


def operations_of(*modules: ModuleType) -> Iterator[ApiOperation]:
    """The operations that the files' blueprints register, read from their HTTP triggers."""
    for module in modules:
        tag = module.__name__.rpartition(".")[2]
        functions = [value.build() for value in vars(module).values() if isinstance(value, FunctionBuilder)]
        for function in functions:
            trigger = function.get_trigger()
            if isinstance(trigger, HttpTrigger) and trigger.methods and trigger.route:
                (method,) = trigger.methods
                run = function.get_user_function()
                docstring = inspect.getdoc(run) or ""
                yield ApiOperation(run.__name__, docstring, method.value, trigger.route, tag, endpoint_of(run))


def describe(operations: Sequence[ApiOperation], auth: AuthSettings) -> JsonObject:
    """The document for these operations and authentication settings.

    Raises KeyError for an error without a place in the table of problems.
    """
    schemas = _Schemas(operations)
    paths: JsonObject = {}
    for operation in operations:
        described = _operation(operation, schemas, auth)
        paths.setdefault("/" + operation.route, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Blog",
            "version": "1.0.0",
            "description": "C1 to C4 and Q1 to Q6 are the requests of [Model and partition data on Azure Cosmos DB]("
            "https://learn.microsoft.com/azure/cosmos-db/nosql/how-to-model-partition-example).",
        },
        "servers": [{"url": API_PATH}],
        "paths": paths,
        "components": {"schemas": schemas.definitions, "securitySchemes": _security_schemes(auth)},
    }


def meaning_of(error: type[Exception]) -> str:
    """The first paragraph of the error's docstring, on one line."""
    if error is Exception:
        return "An unexpected error occurred."
    return " ".join((error.__doc__ or "").partition("\n\n")[0].split())


class _Schemas:
    """The schemas of request bodies and resources, plus pages and lists of them."""

    def __init__(self, operations: Sequence[ApiOperation]) -> None:
        modes: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(ProblemDetails, "serialization"): None}
        for operation in operations:
            if operation.endpoint.body is not None:
                modes[operation.endpoint.body, "validation"] = None
            if operation.endpoint.returns is not None:
                modes[operation.endpoint.returns, "serialization"] = None
        self._references, generated = models_json_schema(list(modes), ref_template=_SCHEMA)
        self.definitions: JsonObject = generated["$defs"]
        for (model, mode), reference in self._references.items():
            if mode == "serialization" and issubclass(model, Resource):
                # Defaults are for items stored before a field existed; responses have every field.
                definition = self.definitions[reference["$ref"].rpartition("/")[2]]
                definition["required"] = list(definition["properties"])

    def of_body(self, model: type[BaseModel]) -> Mapping[str, Any]:
        return self._references[model, "validation"]

    def of_response(self, operation: ApiOperation, model: type[BaseModel]) -> Mapping[str, Any]:
        resource = self._references[model, "serialization"]
        if not operation.is_collection:
            return resource
        name = model.__name__ + ("Page" if operation.endpoint.paged else "List")
        properties: JsonObject = {"items": {"type": "array", "items": resource, "maxItems": PAGE_LIMIT}}
        if operation.endpoint.paged:
            properties["nextCursor"] = {"type": "string", "minLength": 1, "description": "Absent on the last page."}
        self.definitions[name] = {"type": "object", "properties": properties, "required": ["items"]}
        return {"$ref": _SCHEMA.format(model=name)}


def _operation(operation: ApiOperation, schemas: _Schemas, auth: AuthSettings) -> JsonObject:
    endpoint = operation.endpoint
    summary, _, description = operation.docstring.partition("\n\n")
    described: JsonObject = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": summary.rstrip("."),
        "description": " ".join(description.split()),
        "parameters": _parameters(operation),
        "responses": {str(status): _success(operation, status, schemas) for status in sorted(endpoint.statuses)},
        "security": [{name: []} for name in _security_schemes(auth)] if operation.is_command else [],
    }
    if endpoint.body is not None:
        content = {"application/json": {"schema": schemas.of_body(endpoint.body)}}
        described["requestBody"] = {"required": True, "content": content}
    described["responses"] |= _problems(operation, auth)
    return described


def _parameters(operation: ApiOperation) -> list[JsonObject]:
    id_schema = {"type": "string", "minLength": 1, "maxLength": 255}
    path = re.findall(r"\{(\w+)\}", operation.route)
    names = {
        "limit": operation.is_collection,
        "cursor": operation.endpoint.paged,
        "Idempotency-Key": operation.method == "POST",
        "If-Match": operation.method in {"PUT", "DELETE"},
        "If-None-Match": 304 in operation.endpoint.statuses,
        "traceparent": True,
    }
    return [
        *({"name": name, "in": "path", "required": True, "schema": id_schema} for name in path),
        *({"name": name, **_PARAMETERS[name]} for name, accepted in names.items() if accepted),
    ]


def _success(operation: ApiOperation, status: int, schemas: _Schemas) -> JsonObject:
    endpoint = operation.endpoint
    charged = operation.uses_items and not endpoint.listed
    headers = {"x-ms-request-charge": _HEADERS["x-ms-request-charge"] | {"required": charged}}
    if operation.uses_items and endpoint.returns and not endpoint.paged:
        headers["ETag"] = _HEADERS["ETag"]
    if endpoint.listed:
        headers["Cache-Control"] = _HEADERS["Cache-Control"]
    if status == 201:
        headers["Location"] = _HEADERS["Location"]
    response: JsonObject = {"description": _DESCRIPTIONS[status], "headers": headers}
    if endpoint.returns is not None and status in {200, 201}:
        response["content"] = {"application/json": {"schema": schemas.of_response(operation, endpoint.returns)}}
    return response


def _problems(operation: ApiOperation, auth: AuthSettings) -> JsonObject:
    by_status: dict[int, list[type[Exception]]] = {}
    for error in _possible_errors(operation, auth):
        by_status.setdefault(PROBLEMS[error].status, []).append(error)
    responses = {str(status): _problem(status, group) for status, group in by_status.items()}
    if operation.is_command and not auth.users_sign_in:
        responses["401"] = {"description": "The function key is missing or wrong. The Functions host checks it."}
    return dict(sorted(responses.items()))


def _possible_errors(operation: ApiOperation, auth: AuthSettings) -> list[type[Exception]]:
    possible: list[type[Exception]] = [errors.MalformedRequest, *operation.endpoint.errors]
    if not auth.users_sign_in:
        possible = [error for error in possible if error is not errors.AlreadyRegistered]
    elif operation.is_command:
        possible += [errors.NotAuthenticated, errors.Forbidden]
        possible += [errors.IssuerUnavailable] if auth.mode is AuthMode.OIDC else []
    if operation.endpoint.body is not None:
        possible += [errors.BodyTooLarge, errors.UnsupportedBody, errors.InvalidFields]
    if operation.uses_items:
        possible += [errors.DatabaseThrottled, errors.DatabaseUnavailable]
    return [*possible, Exception]


def _problem(status: int, group: Sequence[type[Exception]]) -> JsonObject:
    types = [PROBLEMS[error].type for error in group]
    headers = {"x-ms-request-charge": _HEADERS["x-ms-request-charge"]}
    if status in {401, 403}:
        headers["WWW-Authenticate"] = _HEADERS["WWW-Authenticate"]
    if status in {429, 503}:
        headers["Retry-After"] = _HEADERS["Retry-After"]
    if errors.AlreadyRegistered in group:
        headers["Location"] = _HEADERS["Location"] | {"required": False}
    schema = {"$ref": _SCHEMA.format(model=ProblemDetails.__name__), "properties": {"type": {"enum": types}}}
    description = " ".join(map(meaning_of, group))
    return {"description": description, "headers": headers, "content": {MEDIA_TYPE: {"schema": schema}}}


def _security_schemes(auth: AuthSettings) -> JsonObject:
    match auth.mode:
        case AuthMode.OIDC:
            token = f"A token issued by {auth.issuer} for the audience {auth.audience}."
            return {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": token}}
        case AuthMode.APP_SERVICE:
            return {"appService": {"type": "apiKey", "in": "cookie", "name": "AppServiceAuthSession"}}
        case AuthMode.FUNCTION_KEY:
            return {
                "functionKey": {"type": "apiKey", "in": "header", "name": "x-functions-key"},
                "functionKeyInQuery": {"type": "apiKey", "in": "query", "name": "code"},
            }
