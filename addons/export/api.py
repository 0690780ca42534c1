"""The API of the export."""

from __future__ import annotations

import azure.functions as func

from addons.export.user_data import RESOURCES, ExportPosition, TooManyExports, read_user_data
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import UserNotFound
from shared.platform.http.callers import BackEnd
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, page_response

bp = func.Blueprint()


@bp.route(route="api/users/{userId}/data", methods=QUERY)
@Endpoint(
    "Q7",
    returns=tuple(RESOURCES.values()),
    paged=True,
    parse_cursor=ExportPosition.parse,
    private=True,
    errors=(UserNotFound, TooManyExports),
)
async def get_user_data(call: Call[None]) -> Response:
    """Retrieve a user's data.

    The user and all their posts, comments and likes, in no particular order, for the user and trusted back ends. A page
    can be empty before the last one, and an item can come twice. The charge grows with the number of physical
    partitions. A user gets 1,000 pages, and then others after an hour.
    """
    blog, user_id = await open_blog(), call.path["userId"]
    is_counted = not isinstance(call.caller, BackEnd)
    page = await read_user_data(blog, user_id, limit=call.limit, cursor=call.cursor, is_counted=is_counted)
    return page_response(page, *RESOURCES.values())
