"""Examples of bodies and answers, made from the examples of their fields."""

from __future__ import annotations

from typing import Any

from shared.http.openapi.schemas import JsonObject, Schemas

_ID = "7f2c1b52-3f0d-4d0e-8d5a-0c9d1b6e4a71"
# What fields that only the server writes look like; a field's own example goes before these.
_WRITTEN_BY_SERVER: JsonObject = {
    "id": _ID,
    "postId": _ID,
    "username": "ada.lovelace",
    "userUsername": "ada.lovelace",
    "title": "Notes on the Engine",
    "content": "It may weave algebraic patterns.",
    "nextCursor": "WyIyMDI2LTAxLTMxVDIzOjU5OjU5LjEyM1oiLCI3ZjJjMWI1MiJd",
}


def example_of(schema: JsonObject, schemas: Schemas, name: str = "") -> Any:
    """An example that satisfies `schema`, which is that of the property `name`.

    Raises ValueError, naming the property, where nothing says what one looks like.
    """
    schema = schemas.resolve(schema)
    if "examples" in schema:
        return schema["examples"][0]
    for keyword in ("const", "default"):
        if schema.get(keyword, "") != "":
            return schema[keyword]
    if "properties" in schema:
        return {key: example_of(value, schemas, key) for key, value in schema["properties"].items()}
    if schema.get("type") == "array":
        return [example_of(schema["items"], schemas, name)]
    if name in _WRITTEN_BY_SERVER:
        return _WRITTEN_BY_SERVER[name]
    raise ValueError(f"the field {name!r} needs an example: give it one with Field(examples=[…])")
