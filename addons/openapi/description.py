"""The API described in OpenAPI 3.1, generated from its endpoints, models, and errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import azure.functions as func
from azure.functions.decorators.function_app import FunctionBuilder
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from shared.errors import AlreadyRegistered
from shared.platform import errors
from shared.platform.database.sessions import SESSION_HEADER, SESSION_HEADER_LENGTH
from shared.platform.http.calls import DEFAULT_PAGE, IDEMPOTENCY_KEY_LENGTH, PAGE_LIMIT
from shared.platform.http.endpoints import Endpoint, endpoint_of
from shared.platform.http.problems import MEDIA_TYPE, ProblemDetails
from shared.platform.models import Resource
from shared.platform.settings import AuthMode, app_settings

JsonObject = dict[str, Any]

API_PATH = "/api"
_SCHEMA = "#/components/schemas/{model}"

_STRING: JsonObject = {"type": "string"}
_PAGE_SIZE: JsonObject = {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": DEFAULT_PAGE}
# Location, description, and schema of each parameter.
_PARAMETERS: dict[str, tuple[str, str, JsonObject]] = {
    "limit": ("query", "Maximum number of items.", _PAGE_SIZE),
    "cursor": ("query", "The `nextCursor` of the previous page.", _STRING),
    "If-Match": (
        "header",
        "An `ETag` of the resource, or `*`. For PUT and DELETE, likes, comments, and renames of authors do not matter.",
        _STRING | {"pattern": r'^(\*|(W/)?"[^"]*")$'},
    ),
    "If-None-Match": ("header", "The `ETag` of the version that the client has.", _STRING),
    "Idempotency-Key": (
        "header",
        "Makes a retry safe: for 24 hours, the same user and key return the first result.",
        _STRING | {"minLength": 1, "maxLength": IDEMPOTENCY_KEY_LENGTH},
    ),
    SESSION_HEADER: (
        "header",
        "The token of the last command, or several joined by commas: the response is at least as new.",
        _STRING | {"maxLength": SESSION_HEADER_LENGTH},
    ),
    "traceparent": ("header", "W3C trace context, added to log lines.", _STRING),
}
_HEADERS: JsonObject = {
    "Accept-Encoding": {"description": "Present if the body has a Content-Encoding.", "schema": _STRING},
    "ETag": {"required": True, "schema": _STRING | {"pattern": '^(W/)?"[^"]*"$'}},
    "Cache-Control": {"required": True, "schema": _STRING},
    "Location": {"required": True, "schema": _STRING | {"format": "uri-reference"}},
    "Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"required": True, "schema": _STRING | {"pattern": '^Bearer realm="blog"'}},
    SESSION_HEADER: {
        "description": "Send it with later requests, so that any instance of the app shows what this command wrote.",
        "schema": _STRING | {"minLength": 1},
    },
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
        return self.method != "GET"

    @property
    def has_etag(self) -> bool:
        """Whether it returns one resource or a cached list."""
        return self.uses_items and self.endpoint.returns is not None and not self.endpoint.paged

    @property
    def statuses(self) -> tuple[int, ...]:
        """The success statuses."""
        usual = {"GET": (200, 304) if self.has_etag else (200,), "POST": (201,), "PUT": (200,), "DELETE": (204,)}
        return self.endpoint.statuses or usual[self.method]

    @property
    def resources(self) -> tuple[type[BaseModel], ...]:
        """What it returns: one of these resources, or several."""
        returns = self.endpoint.returns
        return returns if isinstance(returns, tuple) else (returns,) if returns else ()

    @property
    def schema(self) -> str:
        suffix = "Page" if self.endpoint.paged else "List" if self.endpoint.listed else ""
        return "Or".join(each.__name__ for each in self.resources) + suffix if self.resources else ""

    @property
    def uses_items(self) -> bool:
        """Whether it reads or writes items; health checks do not."""
        return all(issubclass(each, Resource) for each in self.resources)

    @property
    def needs_caller(self) -> bool:
        return self.is_command or self.endpoint.private


def operations_of(*modules: ModuleType) -> Iterator[ApiOperation]:
    """The operations that the files' blueprints register, read from their HTTP triggers."""
    for module in modules:
        # An add-on has its operations in a module `api`.
        tag = module.__name__.removesuffix(".api").rpartition(".")[2]
        functions = [value.build() for value in vars(module).values() if isinstance(value, FunctionBuilder)]
        for function in functions:
            run = function.get_user_function()
            trigger: Any = function.get_trigger()
            # Every GET also supports HEAD, which is not described as an operation.
            method = next(method for method in trigger.methods if method is not func.HttpMethod.HEAD)
            docstring = inspect.getdoc(run) or ""
            route = trigger.route.removeprefix(f"{API_PATH[1:]}/")
            yield ApiOperation(run.__name__, docstring, method.value, route, tag, endpoint_of(run))


def describe(operations: Sequence[ApiOperation], auth: AuthMode) -> JsonObject:
    """The document for these operations and this authentication mode."""
    paths: JsonObject = {}
    for operation in operations:
        paths.setdefault("/" + operation.route, {})[operation.method.lower()] = _operation(operation, auth)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": app_settings().title,
            "version": "1.0.0",
            "description": "C1 to C4 and Q1 to Q6 are the requests of [Model and partition data on Azure Cosmos DB]("
            "https://learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example). HEAD works "
            "wherever GET does. If a JSON object repeats a name, the last value counts.",
        },
        "servers": [{"url": API_PATH}],
        "paths": paths,
        "components": {"schemas": _schemas(operations), "securitySchemes": _security_schemes(auth)},
    }


def known_errors(base: type[errors.AppError] = errors.AppError) -> Iterator[type[errors.AppError]]:
    """The errors of the app and its add-ons that have a problem of their own."""
    if "problem" in vars(base):
        yield base
    for each in base.__subclasses__():
        yield from known_errors(each)


def meaning_of(error: type[errors.AppError]) -> str:
    """The first paragraph of the error's docstring, on one line."""
    return " ".join((error.__doc__ or "").partition("\n\n")[0].split())


def _schemas(operations: Sequence[ApiOperation]) -> JsonObject:
    """The schemas of problems, request bodies, and resources, plus pages and lists of resources."""
    modes: dict[type[BaseModel], JsonSchemaMode] = {ProblemDetails: "serialization"}
    modes |= {operation.endpoint.body: "validation" for operation in operations if operation.endpoint.body}
    modes |= {resource: "serialization" for operation in operations for resource in operation.resources}
    schemas: JsonObject = models_json_schema(list(modes.items()), ref_template=_SCHEMA)[1]["$defs"]
    for model in modes:
        if issubclass(model, Resource):
            # Other defaults than None are for items stored before a field existed; responses have those fields.
            optional = {field.alias for field in model.model_fields.values() if field.default is None}
            schema = schemas[model.__name__]
            schema["required"] = [name for name in schema["properties"] if name not in optional]
            for name in optional:
                del schema["properties"][name]["default"]
    for operation in operations:
        endpoint = operation.endpoint
        if endpoint.returns and (endpoint.paged or endpoint.listed):
            references = [_reference(each.__name__) for each in operation.resources]
            resource = references[0] if len(references) == 1 else {"oneOf": references}
            properties: JsonObject = {"items": {"type": "array", "items": resource, "maxItems": PAGE_LIMIT}}
            if endpoint.paged:
                properties["nextCursor"] = _STRING | {"minLength": 1, "description": "Absent on the last page."}
            schemas[operation.schema] = {"type": "object", "properties": properties, "required": ["items"]}
    return schemas


def _reference(schema: str) -> JsonObject:
    return {"$ref": _SCHEMA.format(model=schema)}


def _operation(operation: ApiOperation, auth: AuthMode) -> JsonObject:
    endpoint = operation.endpoint
    summary, _, description = operation.docstring.partition("\n\n")
    described: JsonObject = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": summary.rstrip(".") + (f" ({endpoint.request})" if endpoint.request else ""),
        "description": " ".join(description.split()),
        "parameters": _parameters(operation),
        "responses": {str(status): _success(operation, status) for status in sorted(operation.statuses)},
        "security": [{name: []} for name in _security_schemes(auth)] if operation.needs_caller else [],
    }
    if endpoint.body is not None:
        content = {"application/json": {"schema": _reference(endpoint.body.__name__)}}
        described["requestBody"] = {"required": True, "content": content}
    described["responses"] |= _problems(operation, auth)
    return described


def _parameters(operation: ApiOperation) -> list[JsonObject]:
    endpoint, id_schema = operation.endpoint, _STRING | {"minLength": 1, "maxLength": 255}
    accepted = {
        "limit": endpoint.paged or endpoint.listed,
        "cursor": endpoint.paged,
        "Idempotency-Key": errors.IdempotencyKeyReused in endpoint.errors,
        "If-Match": operation.method in {"PUT", "DELETE"} or 304 in operation.statuses,
        "If-None-Match": 304 in operation.statuses,
        SESSION_HEADER: operation.uses_items and not endpoint.listed,
        "traceparent": True,
    }
    path = re.findall(r"\{(\w+)\}", operation.route)
    described: list[JsonObject] = [{"name": name, "in": "path", "required": True, "schema": id_schema} for name in path]
    for name, (location, description, schema) in _PARAMETERS.items():
        if accepted[name]:
            # The Functions host drops a query parameter without a value.
            empty = {"allowEmptyValue": True} if location == "query" else {}
            described.append({"name": name, "in": location, "description": description, "schema": schema, **empty})
    described += [{"name": name, "in": "query", **parameter} for name, parameter in endpoint.parameters.items()]
    return described


def _success(operation: ApiOperation, status: int) -> JsonObject:
    endpoint = operation.endpoint
    charged = operation.uses_items and not endpoint.listed
    headers = {"x-ms-request-charge": _HEADERS["x-ms-request-charge"] | {"required": charged}}
    if operation.is_command:
        headers[SESSION_HEADER] = _HEADERS[SESSION_HEADER] | {"required": True}
    if operation.has_etag:
        headers["ETag"] = _HEADERS["ETag"]
    if endpoint.listed:
        headers["Cache-Control"] = _HEADERS["Cache-Control"]
    if status == 201:
        headers["Location"] = _HEADERS["Location"]
    response: JsonObject = {"description": _DESCRIPTIONS[status], "headers": headers}
    if endpoint.returns is not None and status in {200, 201}:
        response["content"] = {"application/json": {"schema": _reference(operation.schema)}}
    return response


def _problems(operation: ApiOperation, auth: AuthMode) -> JsonObject:
    by_status: dict[int, list[type[errors.AppError]]] = {}
    for error in _possible_errors(operation, auth):
        by_status.setdefault(error.problem.status, []).append(error)
    responses = {str(status): _problem(status, group) for status, group in by_status.items()}
    if operation.is_command:
        for response in responses.values():
            response["headers"][SESSION_HEADER] = _HEADERS[SESSION_HEADER]
    if operation.needs_caller and not auth.users_sign_in:
        responses["401"] = {"description": "The function key is missing or wrong. The Functions host checks it."}
    return dict(sorted(responses.items()))


def _possible_errors(operation: ApiOperation, auth: AuthMode) -> list[type[errors.AppError]]:
    possible: list[type[errors.AppError]] = [errors.MalformedRequest, *operation.endpoint.errors]
    if not auth.users_sign_in:
        possible = [error for error in possible if error is not AlreadyRegistered]
    elif operation.needs_caller:
        possible += [errors.NotAuthenticated, errors.Forbidden]
        possible = list(dict.fromkeys(possible))
    if operation.endpoint.body is not None:
        possible += [errors.BodyTooLarge, errors.UnsupportedBody, errors.InvalidFields]
    if 304 in operation.statuses:
        possible.append(errors.VersionMismatch)
    if operation.uses_items:
        possible += [errors.RequestRefused, errors.DatabaseThrottled, errors.DatabaseUnavailable, errors.ItemDamaged]
        possible += [errors.ItemTooLarge] if operation.endpoint.body is not None else []
        possible += [errors.PartitionFull] if operation.is_command else []
    return [*possible, errors.AppError]


def _problem(status: int, group: Sequence[type[errors.AppError]]) -> JsonObject:
    types = [error.problem.type for error in group]
    headers = {"x-ms-request-charge": _HEADERS["x-ms-request-charge"]}
    if status in {401, 403}:
        headers["WWW-Authenticate"] = _HEADERS["WWW-Authenticate"]
    if status == 415:
        headers["Accept-Encoding"] = _HEADERS["Accept-Encoding"]
    if status in {429, 503}:
        headers["Retry-After"] = _HEADERS["Retry-After"]
    if any(issubclass(error, errors.AlreadyExists) for error in group):
        headers["Location"] = _HEADERS["Location"] | {"required": False}
    schema = _reference(ProblemDetails.__name__) | {"properties": {"type": {"enum": types}}}
    description = " ".join(map(meaning_of, group))
    return {"description": description, "headers": headers, "content": {MEDIA_TYPE: {"schema": schema}}}


def _security_schemes(auth: AuthMode) -> JsonObject:
    if auth is AuthMode.APP_SERVICE:
        session = {"type": "apiKey", "in": "cookie", "name": "AppServiceAuthSession"}
        return {"appService": session, "bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "functionKey": {"type": "apiKey", "in": "header", "name": "x-functions-key"},
        "functionKeyInQuery": {"type": "apiKey", "in": "query", "name": "code"},
    }
