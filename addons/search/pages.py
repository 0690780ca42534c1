"""Search in all posts and comments: the page."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import azure.functions as func

from addons.search.api import serialize_all, serialized
from addons.search.highlight import Part, highlighted, parts
from addons.search.index import open_index
from addons.search.query import QUERY_LENGTH, SearchQuery, order_of, parse_position, search
from addons.search.settings import search_settings
from addons.search.sitemaps import ADDRESS
from addons.web.extensions import EXTENSIONS, Extension
from addons.web.web_page import Context, WebPage
from shared.models.post import Post
from shared.models.summary import plain_text
from shared.platform.errors import MalformedRequest
from shared.platform.http.calls import QUERY, Call
from shared.platform.models import Item

bp = func.Blueprint()


def extend(*, is_on: bool) -> None:
    """Add the templates and, if the search is on, a link to all pages and the sitemaps to robots.txt."""
    folder = Path(__file__).parent
    if is_on:
        EXTENSIONS.append(Extension(folder=folder, links={"Search": "/search"}, sitemaps=(ADDRESS,)))
    else:
        EXTENSIONS.append(Extension(folder=folder))


@bp.route(route="search", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="search.html", parse_cursor=parse_position)
async def page_search(call: Call[None]) -> Context:
    """Search in all posts and comments."""
    text = call.params.get("q", "").strip()
    page: dict[str, object] = {"is_on": search_settings().search, "text": text, "order": "relevance", "advice": ""}
    page |= {"results": None, "more": None, "text_length": QUERY_LENGTH, "is_last": False}
    page["is_first"] = call.cursor is None
    if not search_settings().search or not text:
        return page
    try:
        page["order"] = order_of(call.params)
        query = SearchQuery.parse(call.params)
    except MalformedRequest as error:
        return page | {"advice": str(error)}
    found = await search(await open_index(), query, limit=call.limit, cursor=call.cursor)
    return page | {
        "results": await asyncio.to_thread(serialize_all, found.items, partial(_result, words=query.words)),
        "more": found.next_cursor and {"q": query.text, "order": query.order, "cursor": found.next_cursor},
        "is_last": found.is_cut,
    }


def _result(item: Item, words: tuple[str, ...]) -> dict[str, Any]:
    """Return a post or comment, whose title, if it has one, and content are divided at the words."""
    # Without the summary, which takes as long as the rest.
    result = serialized(item | {"content": ""} if isinstance(item.get("content"), str) else item)
    title: list[Part] = parts(item.get("title", ""), words)
    # Only posts are Markdown.
    text_of = plain_text if item["type"] == Post.TYPE else str
    content = highlighted(text_of(item["content"]), words)
    if not any(part.is_match for part in content):
        excerpt = highlighted(text_of("…" + item.get("excerpt", "")), words)
        content = excerpt if any(part.is_match for part in excerpt) else content
    return result | {"title": title, "content": content}
