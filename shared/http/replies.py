"""The answers of the API: a resource, a page, or nothing. No property of the database is in any of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import azure.functions as func

from shared.data.pages import Page
from shared.http.calls import Call
from shared.models.base import Item, Resource


def found(call: Call[None], resource: type[Resource], item: Item) -> func.HttpResponse:
    """200 with the resource, or 304 where If-None-Match names the version that it has."""
    etag = resource.entity_tag(item)
    if has_already(call, etag):
        return func.HttpResponse(status_code=304, headers={"ETag": etag})
    return _resource(resource, item, 200)


def has_already(call: Call[None], etag: str) -> bool:
    """Whether If-None-Match names this version."""
    return "*" in call.if_none_match or etag in (tag.removeprefix("W/") for tag in call.if_none_match)


def changed(resource: type[Resource], item: Item) -> func.HttpResponse:
    """200 with the resource as it is now."""
    return _resource(resource, item, 200)


def created(resource: type[Resource], item: Item, location: str) -> func.HttpResponse:
    """201 with the new resource and where it is."""
    response = _resource(resource, item, 201)
    response.headers["Location"] = location
    return response


def gone() -> func.HttpResponse:
    """204."""
    return func.HttpResponse(status_code=204)


def paged(resource: type[Resource], page: Page) -> func.HttpResponse:
    """200 with a page; `nextCursor` is there unless it is the last one."""
    body: dict[str, Any] = {"items": _shown(resource, page.items)}
    if page.next_cursor is not None:
        body["nextCursor"] = str(page.next_cursor)
    return _json(body, 200)


def _shown(resource: type[Resource], items: Sequence[Item]) -> list[dict[str, Any]]:
    return [resource.from_item(item).model_dump(by_alias=True) for item in items]


def _resource(resource: type[Resource], item: Item, status: int) -> func.HttpResponse:
    response = _json(resource.from_item(item).model_dump(by_alias=True), status)
    response.headers["ETag"] = resource.entity_tag(item)
    return response


def _json(body: object, status: int) -> func.HttpResponse:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return func.HttpResponse(text, status_code=status, mimetype="application/json")
