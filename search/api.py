"""Search in all posts and comments: the API."""

from __future__ import annotations

from typing import Any, get_args

import azure.functions as func

from search.index import open_index
from search.query import MOST_WORDS, QUERY_LENGTH, Order, Position, SearchQuery, search
from shared.http.calls import QUERY, Call
from shared.http.endpoints import Endpoint
from shared.http.responses import Response, json_response
from shared.models.base import Item
from shared.models.comment import Comment
from shared.models.post import Post, short_form

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
@Endpoint(returns=(Post, Comment), paged=True, parse_cursor=Position.parse, parameters=_PARAMETERS)
async def search_posts(call: Call[None]) -> Response:
    """Search in all posts and comments.

    Finds those that have all words of the query parameter `q`, or other forms of them, in their title or content; posts
    are in short form. The most relevant are first or, with `order=date`, the newest. Shows changes after a short delay.
    Ends after 200 results.
    """
    query = SearchQuery.parse(call.params)
    found = await search(await open_index(), query, limit=call.limit, cursor=call.cursor)
    cursor = {} if found.next_cursor is None else {"nextCursor": str(found.next_cursor)}
    return json_response({"items": [*map(serialized, found.items)], **cursor})


def serialized(item: Item) -> dict[str, Any]:
    """Return a result as clients see it."""
    return Comment.serialize(item) if item["type"] == Comment.TYPE else Post.serialize(short_form(item))
