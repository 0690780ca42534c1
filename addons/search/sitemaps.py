"""Sitemaps of all posts (https://www.sitemaps.org/protocol.html): one for each day, and a list of these.

By day, so that a request costs one query of a limited number of posts, and a sitemap of the past changes only if one of
its posts is edited or deleted. The query reads the short copies in all partitions of `users`: those in the index have
whole texts. The sitemap of the site (addons/web/pages.py) has the front page, without a query.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

import azure.functions as func

from addons.search.index import open_index
from addons.web.web_page import Context, WebPage
from shared.data.blog import open_blog
from shared.models.post import Post
from shared.platform.errors import MalformedRequest
from shared.platform.http.calls import QUERY, Call

bp = func.Blueprint()

ADDRESS: Final = "/sitemaps.xml"
MOST_POSTS: Final = 1_000
# No post is older. Items from other sources can have dates in other formats, and are in no sitemap.
_FIRST: Final = date(2000, 1, 1)
_OLDEST: Final = (
    "SELECT VALUE c.creationDate FROM c WHERE c.type = @type AND c.creationDate >= @first"
    " ORDER BY c.type, c.creationDate, c._id OFFSET 0 LIMIT 1"
)
_OF_DAY: Final = (
    "SELECT TOP @limit c.id, c.creationDate, c.editedDate FROM c"
    " WHERE c.type = @type AND c.creationDate >= @day AND c.creationDate < @next"
)


@bp.route(route=ADDRESS.strip("/"), methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="sitemaps.xml", media_type="application/xml")
async def get_sitemaps(_call: Call[None]) -> Context:
    """Load the list of the sitemaps of all posts."""
    parameters = {"type": Post.TYPE, "first": _FIRST.isoformat()}
    oldest = await (await open_index()).query(_OLDEST, parameters, partition_key=Post.TYPE, page_size=1)
    today = datetime.now(UTC).date()
    first = min(today, _day(str(oldest[0])[:10]) or _FIRST) if oldest else today
    return {"days": [today - timedelta(days=number) for number in range((today - first).days + 1)]}


@bp.route(route="sitemap-of-day.xml", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@WebPage(template="sitemap_of_day.xml", media_type="application/xml", listed=True)
async def get_sitemap_of_day(call: Call[None]) -> Context:
    """Load the addresses of a day's posts."""
    day = _day(call.params.get("day", ""))
    if day is None or not _FIRST <= day <= datetime.now(UTC).date():
        raise MalformedRequest(f"The query parameter day must be a date from {_FIRST} until today, such as 2026-11-26.")
    parameters = {"type": Post.TYPE, "day": f"{day}", "next": f"{day + timedelta(days=1)}", "limit": MOST_POSTS}
    posts = (await open_blog()).users.query_across(_OF_DAY, parameters, page_size=MOST_POSTS)
    return {"posts": [{"id": post["id"], "date": post.get("editedDate", post["creationDate"])} async for post in posts]}


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        return None
