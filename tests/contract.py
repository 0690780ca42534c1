"""Checks real responses against the OpenAPI description."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator

JsonObject = dict[str, Any]

# The description omits the paths that serve it.
_DOCS = re.compile(r"/openapi\.json|/docs(/[^/]+)?")


def assert_answer_matches(
    openapi: JsonObject, method: str, url_path: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Raise AssertionError unless `openapi` describes the status, headers, media type, and body of this response.

    `url_path` may include a host and a query. Undescribed responses are allowed only from the Functions host (404)
    and the documentation's own paths.
    """
    where = f"{method} {url_path} -> {status}"
    operation = _operation(openapi, method, url_path)
    if operation is None:
        path = urlsplit(url_path).path.removeprefix(openapi["servers"][0]["url"]).rstrip("/")
        assert status == 404 or (method == "GET" and _DOCS.fullmatch(path)), f"{where}: not described"
        return
    assert str(status) in operation["responses"], f"{where}: not among {', '.join(operation['responses'])}"
    response = operation["responses"][str(status)]
    sent = {name.lower(): value for name, value in headers.items()}
    _assert_headers_match(openapi, response, sent, where)
    _assert_body_matches(openapi, response, sent.get("content-type", ""), body, where)


def _operation(openapi: JsonObject, method: str, url_path: str) -> JsonObject | None:
    path = urlsplit(url_path).path
    if path != "/":
        path = path.rstrip("/")
    prefix: str = openapi["servers"][0]["url"]
    # Try literal segments before parameters.
    for template in sorted(openapi["paths"], key=lambda template: template.count("{")):
        pattern = "".join(
            "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{\w+\})", template)
        )
        if re.fullmatch(re.escape(prefix) + pattern, path, re.IGNORECASE):
            operation: JsonObject | None = openapi["paths"][template].get(method.lower())
            return operation
    return None


def _assert_headers_match(openapi: JsonObject, response: JsonObject, sent: Mapping[str, str], where: str) -> None:
    for name, header in response.get("headers", {}).items():
        value = sent.get(name.lower())
        assert value is not None or not header.get("required"), f"{where}: {name} is missing"
        if value is not None:
            _assert_valid(openapi, header["schema"], _header_value(value, header["schema"]), f"{where}: {name}")


def _header_value(text: str, schema: JsonObject) -> str | int | float:
    types: dict[str, type[int] | type[float]] = {"integer": int, "number": float}
    return types[schema["type"]](text) if schema["type"] in types else text


def _assert_body_matches(openapi: JsonObject, response: JsonObject, content_type: str, body: bytes, where: str) -> None:
    if "content" not in response:
        assert body == b"", f"{where}: the body is not described"
        return
    media_type = content_type.partition(";")[0].strip()
    assert media_type in response["content"], f"{where}: {media_type!r} is not described"
    _assert_valid(openapi, response["content"][media_type]["schema"], json.loads(body), where)


def _assert_valid(openapi: JsonObject, schema: JsonObject, value: object, where: str) -> None:
    validator = Draft202012Validator(
        {**_closed(schema), "components": {"schemas": _closed(openapi["components"]["schemas"])}},
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    faults = [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(value)]
    assert not faults, f"{where}: {'; '.join(faults)}"


def _closed(schema: JsonObject) -> JsonObject:
    """The schema with unknown properties forbidden. Clients must tolerate new properties, but tests must not."""
    closed = copy.deepcopy(schema)
    pending: list[Any] = [closed]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("properties"), dict):
                value.setdefault("unevaluatedProperties", False)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return closed
