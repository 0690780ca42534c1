"""The kinds of requests that the SDK sends to the database."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

_RESOURCE = re.compile(r"/dbs/[^/]+/colls/([^/]+)(?:/([^/]+))?(?:/([^/]+))?")
_OF_ITEMS = {"GET": "point read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


def container_and_kind(request: Any) -> tuple[str, str]:
    """Return the container, or nothing, and the kind of a request, such as `query`. Neither has an item's ID."""
    resource = _RESOURCE.fullmatch(urlsplit(request.url).path.rstrip("/"))
    container, collection, name = map(unquote, resource.groups("")) if resource else ("", "", "")
    return container, _kind(request, collection, name) if container else "read of the account"


def _kind(request: Any, collection: str, name: str) -> str:
    headers = request.headers
    if not collection:
        return "read of the container"
    if collection == "sprocs":
        return f"stored procedure {name}"
    if collection != "docs":
        return "read of partition ranges"
    if name:
        return _OF_ITEMS[request.method]
    if "x-ms-cosmos-is-batch-request" in headers:
        return "batch"
    if "x-ms-cosmos-is-query-plan-request" in headers:
        return "query plan"
    if "x-ms-documentdb-isquery" in headers:
        return "query"
    if request.method == "GET":
        return "change feed"
    return "upsert" if "x-ms-documentdb-is-upsert" in headers else "create"
