"""What the moderation adds to the site: buttons, the page of reports, and an author's page of deletions."""

from __future__ import annotations

from pathlib import Path

import azure.functions as func

from addons.moderation.container import open_moderation
from addons.moderation.deletions import list_deletions
from addons.moderation.models import MOST_COUNTED, REASON_LENGTH, ReportedItem
from addons.moderation.reports import list_reported
from addons.moderation.roles import ModeratorPage, moderates
from addons.moderation.settings import moderation_settings
from addons.web.extensions import EXTENSIONS, Extension
from addons.web.web_page import Context, WebPage
from shared.data.blog import open_blog
from shared.platform.http.calls import QUERY, Call

bp = func.Blueprint()


def extend() -> None:
    """Add the buttons and their dialog to all pages."""
    EXTENSIONS.append(
        Extension(
            folder=Path(__file__).parent,
            head="_moderation_head.html",
            body="_reason.html",
            tools="_moderation_tools.html",
            variables=lambda: {
                "reason_length": REASON_LENGTH,
                "most_counted": MOST_COUNTED,
                "everybody_moderates": moderation_settings().everybody_moderates,
            },
            data_attributes=lambda request: {"moderator": "1"} if moderates(request.headers) else {},
        )
    )


# In function-key mode, these pages need a key, too.
@bp.route(route="reports", methods=QUERY)
@ModeratorPage(template="reports.html", private=True)
async def page_reports(call: Call[None]) -> Context:
    """Show moderators the reported posts and comments."""
    page = await list_reported(await open_blog(), await open_moderation(), limit=call.limit, cursor=call.cursor)
    return {
        "reports": [ReportedItem.serialize(item) for item in page.items],
        "more": {"cursor": page.next_cursor} if page.next_cursor else None,
        "is_first": call.cursor is None,
    }


@bp.route(route="users/{userId}/deletions", methods=QUERY)
@WebPage(template="deletions.html", private=True)
async def page_deletions(call: Call[None]) -> Context:
    """Show authors what moderators have deleted of theirs, and why."""
    return {"deletions": await list_deletions(await open_moderation(), call.path["userId"])}
