"""Search in all posts and comments: the API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, get_args

import azure.functions as func

from addons.search.index import open_index
from addons.search.query import MOST_WORDS, QUERY_LENGTH, Order, SearchQuery, parse_position, search
from shared.endpoints import Endpoint
from shared.models.comment import Comment
from shared.models.post import Post, short_form
from shared.platform.errors import ItemDamaged
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, json_response
from shared.platform.models import Item
from shared.platform.telemetry import log

bp = func.Blueprint()

_PARAMETERS: dict[str, dict[str, Any]] = {
    "q": {
        "required": True,
        "description": f"The words: at most {MOST_WORDS}, not counting very frequent ones.",
        "schema": {"type": "string", "minLength": 1, "maxLength": QUERY_LENGTH},
    },
    "order": {
        "description": "The most relevant first, or the newest.",
        "schema": {"type": "string", "enum": list(get_args(Order)), "default": "relevance"},
    },
}


@bp.route(route="api/search", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=(Post, Comment), paged=True, parse_cursor=parse_position, parameters=_PARAMETERS)
async def search_posts(call: Call[None]) -> Response:
    """Search in all posts and comments.

    Finds those that have all words of the query parameter `q`, or other forms of them, in their title or content; posts
    are in short form. Words inside Chinese, Japanese and Thai texts may not be found. The most relevant are first or,
    with `order=date`, the newest. Shows changes after a short delay. A page has at most 20 results. By relevance, there
    are at most 100, and what is written or deleted between two pages can repeat results or leave some out.
    """
    query = SearchQuery.parse(call.params)
    found = await search(await open_index(), query, limit=call.limit, cursor=call.cursor)
    cursor = {} if found.next_cursor is None else {"nextCursor": str(found.next_cursor)}
    return json_response({"items": await asyncio.to_thread(serialize_all, found.items, serialized), **cursor})


def serialized(item: Item) -> dict[str, Any]:
    """Return a result as clients see it. Raises ItemDamaged."""
    if item["type"] == Comment.TYPE:
        return Comment.serialize(item)
    try:
        return Post.serialize(short_form(item))
    except (KeyError, TypeError, ValueError) as error:
        raise ItemDamaged(f"post {item['id']}: {error}") from error


def serialize_all(items: Iterable[Item], serialize: Callable[[Item], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return results as `serialize` returns them. Leaves out and logs damaged ones, as lists do.

    Call it in a thread: the plain text of a hostile post can take 10 ms.
    """
    results = []
    for item in items:
        try:
            results.append(serialize(item))
        except ItemDamaged as error:
            log(logging.ERROR, "damaged item left out", reason=error.reason)
    return results
