"""The API of the moderation: report, list and dismiss reports, and delete with a reason."""

from __future__ import annotations

from typing import Any, Final

import azure.functions as func

from addons.moderation import deletions, reports
from addons.moderation.container import open_moderation
from addons.moderation.models import REASON_LENGTH, NewReport, Report, ReportedItem
from addons.moderation.reports import ReportNotFound
from addons.moderation.roles import ModeratorEndpoint
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import CommentNotFound, PostNotFound, UserNotFound
from shared.models.characters import check_text
from shared.platform.errors import Forbidden, MalformedRequest, VersionMismatch
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, no_content, page_response, resource_response

bp = func.Blueprint()

_REASON: Final[dict[str, Any]] = {
    "reason": {
        "required": True,
        "description": "The reason, which the author can read. It is recorded.",
        "schema": {"type": "string", "minLength": 1, "maxLength": REASON_LENGTH},
    }
}
_BAN: Final[dict[str, Any]] = {
    "ban": {"description": "With `true`, the user cannot register again.", "schema": {"type": "boolean"}}
}
_REPORT_ERRORS = (UserNotFound, PostNotFound)


@bp.route(route="api/posts/{postId}/reports", methods=["POST"])
@Endpoint(body=NewReport, returns=Report, statuses=(201, 200), errors=_REPORT_ERRORS)
async def report_post(call: Call[NewReport]) -> Response:
    """Report a post to the moderators.

    Returns 201 with the report. Returns 200 with the earlier report of this user if it still stands: until the post is
    edited, the report is dismissed, or 30 days have passed.
    """
    return await _report(call, None)


@bp.route(route="api/posts/{postId}/comments/{commentId}/reports", methods=["POST"])
@Endpoint(body=NewReport, returns=Report, statuses=(201, 200), errors=(*_REPORT_ERRORS, CommentNotFound))
async def report_comment(call: Call[NewReport]) -> Response:
    """Report a comment to the moderators.

    Returns 201 with the report. Returns 200 with the earlier report of this user if it still stands: until it is
    dismissed, or 30 days have passed.
    """
    return await _report(call, call.path["commentId"])


@bp.route(route="api/reports", methods=QUERY)
@ModeratorEndpoint(returns=ReportedItem, paged=True, private=True, errors=(Forbidden,))
async def list_reports(call: Call[None]) -> Response:
    """List the reported posts and comments.

    Most reported first, for moderators and trusted back ends. A page can have fewer items than `limit`, because the
    reports of deleted posts and comments are left out.
    """
    blog, moderation = await open_blog(), await open_moderation()
    page = await reports.list_reported(blog, moderation, limit=call.limit, cursor=call.cursor)
    return page_response(page, ReportedItem)


@bp.route(route="api/reports/{reportId}", methods=["DELETE"])
@ModeratorEndpoint(errors=(Forbidden, ReportNotFound, VersionMismatch))
async def dismiss_report(call: Call[None]) -> Response:
    """Dismiss a reported post or comment.

    Removes it from the list, for moderators and trusted back ends, until it is reported again. To keep reports that you
    have not seen, send the `creationDate` of the entry, in quotation marks, as `If-Match`.
    """
    await reports.dismiss(await open_moderation(), call.path["reportId"], if_match=call.if_match)
    return no_content()


@bp.route(route="api/moderation/posts/{postId}", methods=["DELETE"])
@ModeratorEndpoint(parameters=_REASON, errors=(Forbidden, PostNotFound, VersionMismatch))
async def moderate_post(call: Call[None]) -> Response:
    """Delete somebody else's post.

    For moderators and trusted back ends. The reason is recorded before the deletion, and the author can read it.
    """
    blog, moderation, reason = await open_blog(), await open_moderation(), _reason(call)
    await deletions.moderate_post(
        blog, moderation, call.path["postId"], by=call.caller, reason=reason, if_match=call.if_match
    )
    return no_content()


@bp.route(route="api/moderation/posts/{postId}/comments/{commentId}", methods=["DELETE"])
@ModeratorEndpoint(parameters=_REASON, errors=(Forbidden, PostNotFound, CommentNotFound, VersionMismatch))
async def moderate_comment(call: Call[None]) -> Response:
    """Delete somebody else's comment.

    For moderators and trusted back ends. The reason is recorded before the deletion, and the author can read it.
    """
    blog, moderation, reason = await open_blog(), await open_moderation(), _reason(call)
    ids = call.path["postId"], call.path["commentId"]
    await deletions.moderate_comment(blog, moderation, *ids, by=call.caller, reason=reason, if_match=call.if_match)
    return no_content()


@bp.route(route="api/moderation/users/{userId}", methods=["DELETE"])
@ModeratorEndpoint(parameters=_REASON | _BAN, errors=(Forbidden, UserNotFound, VersionMismatch))
async def moderate_user(call: Call[None]) -> Response:
    """Delete somebody else's account, and ban its user.

    For moderators and trusted back ends. The reason is recorded before the deletion. With `ban=true`, the user cannot
    register again; this also applies to an account that is deleted already.
    """
    blog, moderation, reason = await open_blog(), await open_moderation(), _reason(call)
    if (ban := call.params.get("ban", "false")) not in ("true", "false"):
        raise MalformedRequest("The query parameter ban must be true or false.")
    await deletions.moderate_user(
        blog,
        moderation,
        call.path["userId"],
        by=call.caller,
        reason=reason,
        bans=ban == "true",
        if_match=call.if_match,
    )
    return no_content()


async def _report(call: Call[NewReport], comment_id: str | None) -> Response:
    blog, moderation = await open_blog(), await open_moderation()
    report, is_new = await reports.create_report(blog, moderation, call.path["postId"], comment_id, call.body)
    if is_new:
        return resource_response(Report, report, location=f"/api/reports/{report['id']}")
    return resource_response(Report, report)


def _reason(call: Call[None]) -> str:
    try:
        reason = check_text(call.params.get("reason", "").strip())
        if not 1 <= len(reason) <= REASON_LENGTH:
            raise ValueError
    except ValueError:
        message = f"The query parameter reason must be a text of 1 to {REASON_LENGTH} characters."
        raise MalformedRequest(message) from None
    return reason
