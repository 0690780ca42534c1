"""Reports of posts and comments: create, list the reported items."""

from __future__ import annotations

import azure.functions as func

from shared.data import reports
from shared.data.blog import open_blog
from shared.errors import (
    CommentNotFound,
    Forbidden,
    IdempotencyKeyReused,
    PostNotFound,
    ReportNotFound,
    UserNotFound,
    VersionMismatch,
)
from shared.http.callers import require_moderator
from shared.http.calls import QUERY, Call
from shared.http.endpoints import Endpoint
from shared.http.responses import Response, no_content, page_response, resource_response
from shared.models.report import NewReport, Report, ReportedItem

bp = func.Blueprint()

_ERRORS = (UserNotFound, PostNotFound, IdempotencyKeyReused)


@bp.route(route="api/posts/{postId}/reports", methods=["POST"])
@Endpoint("C6", body=NewReport, returns=Report, statuses=(201, 200), errors=_ERRORS)
async def report_post(call: Call[NewReport]) -> Response:
    """Report a post to the moderators.

    Returns 201 with the report, or 200 with the existing report if the user has already reported the post.
    """
    return await _create(call)


@bp.route(route="api/posts/{postId}/comments/{commentId}/reports", methods=["POST"])
@Endpoint("C6", body=NewReport, returns=Report, statuses=(201, 200), errors=(*_ERRORS, CommentNotFound))
async def report_comment(call: Call[NewReport]) -> Response:
    """Report a comment to the moderators.

    Returns 201 with the report, or 200 with the existing report if the user has already reported the comment.
    """
    return await _create(call)


@bp.route(route="api/reports", methods=QUERY)
@Endpoint("Q8", returns=ReportedItem, paged=True, private=True, errors=(Forbidden,))
async def list_reports(call: Call[None]) -> Response:
    """List the reported posts and comments.

    Most reported first, for moderators and trusted back ends. Shows new reports after a short delay.
    """
    require_moderator(call.caller)
    page = await reports.list_reported((await open_blog()).feed, limit=call.limit, cursor=call.cursor)
    return page_response(page, ReportedItem)


@bp.route(route="api/reports/{reportId}", methods=["DELETE"])
@Endpoint(errors=(Forbidden, ReportNotFound, VersionMismatch))
async def dismiss_report(call: Call[None]) -> Response:
    """Dismiss a reported post or comment.

    Removes it from the list, for moderators and trusted back ends, until it is reported again. To keep reports that you
    have not seen, send the `creationDate` of the entry, in quotation marks, as `If-Match`.
    """
    require_moderator(call.caller)
    await reports.dismiss((await open_blog()).feed, call.path["reportId"], if_match=call.if_match)
    return no_content()


async def _create(call: Call[NewReport]) -> Response:
    blog, post_id, comment_id = await open_blog(), call.path["postId"], call.path.get("commentId")
    added = await reports.create_report(blog, post_id, comment_id, call.body, idempotency_key=call.idempotency_key)
    # No Location: a report has no path.
    return resource_response(Report, added.item, status=201 if added.created else 200)
