"""Success responses: a resource, a page, or no content. Database system properties are never included."""

from __future__ import annotations

import json
from typing import Any

import azure.functions as func

from shared.data.pages import Page
from shared.http.calls import Body, Call
from shared.models.base import Item, Resource


def found(call: Call[None], resource: type[Resource], item: Item) -> func.HttpResponse:
    """200 with the resource, or 304 if If-None-Match names its version."""
    etag = resource.entity_tag(item)
    if has_already(call, etag):
        return func.HttpResponse(status_code=304, headers={"ETag": etag, "Vary": "Accept-Encoding"})
    return updated(resource, item)


def has_already(call: Call[Body], etag: str) -> bool:
    """Whether If-None-Match names this version."""
    return "*" in call.if_none_match or etag in (tag.removeprefix("W/") for tag in call.if_none_match)


def updated(resource: type[Resource], item: Item) -> func.HttpResponse:
    """200 with the current resource."""
    return _json(shown(resource, item), 200, {"ETag": resource.entity_tag(item)})


def created(resource: type[Resource], item: Item, location: str) -> func.HttpResponse:
    """201 with the new resource and its location."""
    return _json(shown(resource, item), 201, {"ETag": resource.entity_tag(item), "Location": location})


def no_content() -> func.HttpResponse:
    """204."""
    return func.HttpResponse(status_code=204)


def paged(resource: type[Resource], page: Page) -> func.HttpResponse:
    """200 with a page; the last page has no `nextCursor`."""
    body: dict[str, Any] = {"items": [shown(resource, item) for item in page.items]}
    if page.next_cursor is not None:
        body["nextCursor"] = str(page.next_cursor)
    return _json(body, 200, {})


def answered(values: dict[str, Any]) -> func.HttpResponse:
    """200 with values that are no resource."""
    return _json(values, 200, {})


def shown(resource: type[Resource], item: Item) -> dict[str, Any]:
    """Return the resource as JSON values, without system properties and properties that the item does not have."""
    return resource.from_item(item).model_dump(by_alias=True, exclude_none=True)


def _json(body: object, status: int, headers: dict[str, str]) -> func.HttpResponse:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return func.HttpResponse(text, status_code=status, headers=headers, mimetype="application/json")
