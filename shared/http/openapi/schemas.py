"""The schemas of bodies and answers: pydantic's own, and the pages and lists made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from shared.http.calls import PAGE_LIMIT
from shared.http.endpoints import Endpoint

# A JSON object of the description; OpenAPI defines its shape place by place.
JsonObject = dict[str, Any]

_REFERENCE = "#/components/schemas/{model}"


@dataclass(frozen=True)
class Schemas:
    """`definitions` are the document's components/schemas; `bodies` and `items` are references into them, by the model
    of a body and of what an answer carries."""

    definitions: JsonObject
    bodies: Mapping[type[BaseModel], JsonObject]
    items: Mapping[type[BaseModel], JsonObject]

    def of_answer(self, endpoint: Endpoint, resource: type[BaseModel]) -> JsonObject:
        """A reference to the schema of what `endpoint` answers: one `resource`, a page or a list of it."""
        if is_collection(endpoint):
            return {"$ref": _REFERENCE.format(model=_collection_name(endpoint, resource))}
        return self.items[resource]

    def resolve(self, schema: JsonObject) -> JsonObject:
        """The definition that `schema` refers to; itself where it is no reference."""
        return _resolved(schema, self.definitions)


def schemas_of(endpoints: Sequence[Endpoint]) -> Schemas:
    """The schemas of every body and answer of `endpoints`: a body as it is validated, an answer as it is written."""
    bodies = list(dict.fromkeys(endpoint.body for endpoint in endpoints if endpoint.body is not None))
    resources = list(dict.fromkeys(endpoint.resource for endpoint in endpoints if endpoint.resource is not None))
    modes: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((body, "validation") for body in bodies),
        *((resource, "serialization") for resource in resources),
    ]
    references, generated = models_json_schema(modes, ref_template=_REFERENCE)
    items = {resource: references[(resource, "serialization")] for resource in resources}
    definitions = _without_property_titles(generated.get("$defs", {}))
    for item in items.values():
        _require_all(_resolved(item, definitions))
    return Schemas(
        definitions=definitions | _collections(endpoints, items),
        bodies={body: references[(body, "validation")] for body in bodies},
        items=items,
    )


def is_collection(endpoint: Endpoint) -> bool:
    """Whether `endpoint` answers several resources."""
    return endpoint.paged or endpoint.listed


def _resolved(schema: JsonObject, definitions: JsonObject) -> JsonObject:
    if "$ref" not in schema:
        return schema
    definition: JsonObject = definitions[schema["$ref"].rpartition("/")[2]]
    return definition


def _require_all(definition: JsonObject) -> None:
    """A default is for items from before a field; an answer has every field."""
    definition["required"] = list(definition["properties"])


def _without_property_titles(definitions: JsonObject) -> JsonObject:
    """pydantic titles each property with its own name in other letters."""
    for definition in definitions.values():
        for schema in definition.get("properties", {}).values():
            schema.pop("title", None)
    return definitions


def _collections(endpoints: Sequence[Endpoint], items: Mapping[type[BaseModel], JsonObject]) -> JsonObject:
    return {
        _collection_name(endpoint, endpoint.resource): _collection(endpoint, items[endpoint.resource])
        for endpoint in endpoints
        if endpoint.resource is not None and is_collection(endpoint)
    }


def _collection_name(endpoint: Endpoint, resource: type[BaseModel]) -> str:
    return resource.__name__ + ("Page" if endpoint.paged else "List")


def _collection(endpoint: Endpoint, item: JsonObject) -> JsonObject:
    properties: JsonObject = {"items": {"type": "array", "items": item, "maxItems": PAGE_LIMIT}}
    if endpoint.paged:
        properties["nextCursor"] = {
            "type": "string",
            "minLength": 1,
            "description": "Hand it back unchanged as `cursor` for the next page; absent on the last one.",
        }
    return {"type": "object", "properties": properties, "required": ["items"]}
