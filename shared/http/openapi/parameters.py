"""The parameters of an operation: path, query and headers, with the limits that parsing keeps."""

from __future__ import annotations

import re

from shared.http.calls import DEFAULT_PAGE, IDEMPOTENCY_KEY_LENGTH, PAGE_LIMIT
from shared.http.endpoints import Endpoint
from shared.http.openapi.schemas import JsonObject, is_collection

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")
_ID_LENGTH = 255

# None of these has an example: the docs page would fill it in, and a conditional or repeated request is not what
# someone who tries an operation means to send.
PARAMETERS: dict[str, JsonObject] = {
    "Limit": {
        "name": "limit",
        "in": "query",
        "description": "How many items to answer at the most.",
        # Without a value it is as good as absent: the Functions host drops it before the app sees it.
        "allowEmptyValue": True,
        "schema": {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": DEFAULT_PAGE},
    },
    "Cursor": {
        "name": "cursor",
        "in": "query",
        "description": "The `nextCursor` of the page before, unchanged; the first page without.",
        "allowEmptyValue": True,
        "schema": {"type": "string"},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "The `ETag` that the resource must still have, or `*` for any; 412 where it has another.",
        "schema": {"type": "string", "pattern": r'^(\*|(W/)?"[^"]*")$'},
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "The `ETag` that the caller has already; 304 where it is still the resource's.",
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes the command repeatable: the same key of the same user answers the first result and "
        "writes nothing twice.",
        "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_LENGTH},
    },
    "Traceparent": {
        "name": "traceparent",
        "in": "header",
        "description": "The caller's place in a [W3C trace](https://www.w3.org/TR/trace-context/), carried into the "
        "logs; one that is malformed is ignored.",
        "schema": {"type": "string"},
    },
}


def parameters_of(endpoint: Endpoint) -> list[JsonObject]:
    """The parameters that `endpoint` heeds: path parameters in full, the others as references to PARAMETERS."""
    names = []
    if is_collection(endpoint):
        names.append("Limit")
    if endpoint.paged:
        names.append("Cursor")
    if endpoint.method == "POST":
        names.append("IdempotencyKey")
    if endpoint.method in {"PUT", "DELETE"}:
        names.append("IfMatch")
    if 304 in endpoint.answers:
        names.append("IfNoneMatch")
    names.append("Traceparent")
    path = [_path_parameter(name) for name in _PATH_PARAMETER.findall(endpoint.route)]
    return [*path, *({"$ref": f"#/components/parameters/{name}"} for name in names)]


def _path_parameter(name: str) -> JsonObject:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": f"The id of the {name.removesuffix('Id')}.",
        "schema": {"type": "string", "minLength": 1, "maxLength": _ID_LENGTH},
    }
