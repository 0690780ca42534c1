"""The kinds of requests that the SDK sends to the database."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_OF_ITEMS = {"GET": "point read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


def container_and_kind(request: Any) -> tuple[str, str]:
    """Return the container, or nothing, and the kind of a request, such as `query`. Neither has an item's ID."""
    # http://{account}/dbs/{database}/colls/{container}/{collection}/{ID}
    parts: list[str] = request.url.rstrip("/").split("/")[3:]
    if len(parts) < 4 or parts[2] != "colls":
        return "", "read of the database" if parts[:1] == ["dbs"] else "read of the account"
    collection, name, *_ = [*parts[4:], "", ""]
    return unquote(parts[3]), _kind(request, collection, name)


def _kind(request: Any, collection: str, name: str) -> str:
    headers = request.headers
    if not collection:
        return "read of the container"
    if collection == "pkranges":
        return "read of partition ranges"
    if collection != "docs":
        return f"stored procedure {unquote(name)}" if name else "list of scripts"
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
