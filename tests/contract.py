"""Holds a real answer against the description of the API."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator

JsonObject = dict[str, Any]

_PROBLEM = "application/problem+json"
# How one comes to read the description; not part of it.
_OF_THE_DESCRIPTION = re.compile(r"/openapi\.json|/docs(/[^/]+)?")


def assert_answer_matches(
    openapi: JsonObject, method: str, url_path: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Raise AssertionError unless `openapi` describes this answer to `method` on `url_path` (with or without host and
    query): its status, its headers, its media type, its body to the last property, and the type of its problem.

    What is not described may only be the Functions host's own 404, or lead to the description itself.
    """
    where = f"{method} {url_path} -> {status}"
    operation = _operation(openapi, method, url_path)
    if operation is None:
        path = urlsplit(url_path).path.removeprefix(openapi["servers"][0]["url"]).rstrip("/")
        of_the_description = method == "GET" and _OF_THE_DESCRIPTION.fullmatch(path)
        assert status == 404 or of_the_description, f"{where}: not described"
        return
    assert str(status) in operation["responses"], f"{where}: not among {', '.join(operation['responses'])}"
    response = _resolved(openapi, operation["responses"][str(status)])
    sent = {name.lower(): value for name, value in headers.items()}
    _assert_headers_match(openapi, response, sent, where)
    _assert_body_matches(openapi, response, sent.get("content-type", ""), body, where)


def _operation(openapi: JsonObject, method: str, url_path: str) -> JsonObject | None:
    path = urlsplit(url_path).path
    if path != "/":
        path = path.rstrip("/")
    prefix: str = openapi["servers"][0]["url"]
    # A literal segment is the better match for itself than a parameter.
    for template in sorted(openapi["paths"], key=lambda template: template.count("{")):
        pattern = "".join(
            "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{\w+\})", template)
        )
        if re.fullmatch(re.escape(prefix) + pattern, path, re.IGNORECASE):
            operation: JsonObject | None = openapi["paths"][template].get(method.lower())
            return operation
    return None


def _resolved(openapi: JsonObject, value: JsonObject) -> JsonObject:
    """What `value` is or refers to."""
    if "$ref" not in value:
        return value
    for part in value["$ref"].removeprefix("#/").split("/"):
        openapi = openapi[part]
    return openapi


def _assert_headers_match(openapi: JsonObject, response: JsonObject, sent: Mapping[str, str], where: str) -> None:
    for name, reference in response.get("headers", {}).items():
        header = _resolved(openapi, reference)
        value = sent.get(name.lower())
        assert value is not None or not header.get("required"), f"{where}: {name} is missing"
        if value is not None:
            _assert_valid(openapi, header["schema"], _header_value(value, header["schema"]), f"{where}: {name}")


def _header_value(text: str, schema: JsonObject) -> str | int | float:
    types: dict[str, type[int] | type[float]] = {"integer": int, "number": float}
    return types[schema["type"]](text) if schema["type"] in types else text


def _assert_body_matches(openapi: JsonObject, response: JsonObject, content_type: str, body: bytes, where: str) -> None:
    if "content" not in response:
        assert body == b"", f"{where}: a body where none is described"
        return
    media_type = content_type.partition(";")[0].strip()
    assert media_type in response["content"], f"{where}: {media_type!r} is not described"
    content = response["content"][media_type]
    value = json.loads(body)
    _assert_valid(openapi, content["schema"], value, where)
    if media_type == _PROBLEM:
        types = {example["value"]["type"] for example in content["examples"].values()}
        assert value["type"] in types, f"{where}: {value['type']} is not among {', '.join(sorted(types))}"


def _assert_valid(openapi: JsonObject, schema: JsonObject, value: object, where: str) -> None:
    validator = Draft202012Validator(
        {**_closed(schema), "components": {"schemas": _closed(openapi["components"]["schemas"])}},
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    faults = [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(value)]
    assert not faults, f"{where}: {'; '.join(faults)}"


def _closed(schema: JsonObject) -> JsonObject:
    """The same schema, with no properties but those that it names: a client must bear new ones, a test must not."""
    closed = copy.deepcopy(schema)
    pending: list[Any] = [closed]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("properties"), dict):
                value.setdefault("additionalProperties", False)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return closed
