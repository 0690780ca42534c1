"""Atom feeds, the sitemap and robots.txt."""

from __future__ import annotations

import azure.functions as func

from functions.feed import front_page
from functions.site import user_with_posts
from shared.http.calls import Call
from shared.http.endpoints import QUERY
from shared.site.web_page import Context, WebPage

bp = func.Blueprint()

_ATOM = "application/atom+xml"


@bp.route(route="feed.atom", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("atom.xml", _ATOM, listed=True)
async def get_atom(call: Call[None]) -> Context:
    """Load the most recent posts as an Atom feed (Q6)."""
    return {"user": None, "posts": (await front_page()).posts[: call.limit]}


@bp.route(route="users/{userId}/feed.atom", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("atom.xml", _ATOM)
async def get_user_atom(call: Call[None]) -> Context:
    """Load a user's posts as an Atom feed (Q1, Q3)."""
    return await user_with_posts(call)


@bp.route(route="robots.txt", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("robots.txt", "text/plain")
async def get_robots(_call: Call[None]) -> Context:
    """Load the rules for crawlers."""
    return {}


@bp.route(route="sitemap.xml", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage("sitemap.xml", "application/xml", listed=True)
async def get_sitemap(_call: Call[None]) -> Context:
    """Load the addresses of the most recent posts and their authors (Q6)."""
    return {"posts": (await front_page()).posts}
