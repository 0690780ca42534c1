"""The successful answers of an operation."""

from __future__ import annotations

from shared.http.endpoints import Endpoint
from shared.http.openapi.examples import example_of
from shared.http.openapi.schemas import JsonObject, Schemas, is_collection
from shared.models.base import Resource

HEADERS: dict[str, JsonObject] = {
    "ETag": {
        "description": "The version of the resource, for If-Match and If-None-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^(W/)?"[^"]*"$'},
    },
    "CacheControl": {
        "description": "How long a cache on the way may answer in place of the app.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "The path of the new resource.",
        "required": True,
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "LocationIfAny": {
        "description": "The path of what is there already.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "RequestCharge": {
        "description": "The request units that the database charged for the whole request.",
        "required": True,
        "schema": {"type": "number", "minimum": 0},
    },
    "RequestChargeIfAny": {
        "description": "The request units that the database charged for the whole request; absent where it was not "
        "asked.",
        "schema": {"type": "number", "minimum": 0},
    },
    "Challenge": {
        "description": "How to authenticate, and what was wrong with the token where there was one (RFC 6750).",
        "required": True,
        "schema": {"type": "string", "pattern": '^Bearer realm="blog"'},
    },
    "RetryAfter": {
        "description": "Seconds to wait before the next attempt.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}

_DESCRIPTIONS = {
    200: "Done.",
    201: "Created.",
    204: "Done; there is nothing to say.",
    304: "The resource still has the entity tag that If-None-Match names.",
}


def answers_of(endpoint: Endpoint, schemas: Schemas) -> JsonObject:
    """The successful answers of `endpoint` by status."""
    return {str(status): _answer(endpoint, status, schemas) for status in sorted(endpoint.answers)}


def is_about_items(endpoint: Endpoint) -> bool:
    """Whether `endpoint` reads or writes items of the database, as all do but the one that asks how it is."""
    return endpoint.resource is None or issubclass(endpoint.resource, Resource)


def header_references(names: dict[str, str]) -> JsonObject:
    """Headers by their name on the wire, as references to HEADERS."""
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}


def _answer(endpoint: Endpoint, status: int, schemas: Schemas) -> JsonObject:
    answer: JsonObject = {
        "description": _DESCRIPTIONS[status],
        "headers": header_references(_header_names(endpoint, status)),
    }
    if endpoint.resource is not None and status in {200, 201}:
        schema = schemas.of_answer(endpoint, endpoint.resource)
        answer["content"] = {"application/json": {"schema": schema, "example": example_of(schema, schemas)}}
    return answer


def _header_names(endpoint: Endpoint, status: int) -> dict[str, str]:
    if not is_about_items(endpoint):
        return {"x-ms-request-charge": "RequestChargeIfAny"}
    if endpoint.shared:
        return {"x-ms-request-charge": "RequestChargeIfAny", "ETag": "ETag", "Cache-Control": "CacheControl"}
    names = {"x-ms-request-charge": "RequestCharge"}
    if endpoint.resource is not None and not is_collection(endpoint):
        names["ETag"] = "ETag"
    if status == 201:
        names["Location"] = "Location"
    return names
