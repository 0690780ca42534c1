"""The records that the inspector on the pages shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

import azure.functions as func

from addons.inspector.emulator_switches import SWITCHES
from addons.inspector.pages import visitor_of
from addons.inspector.recorder import Recorder
from shared.data.blog import open_blog
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable
from shared.platform.http.callers import ANONYMOUS
from shared.platform.http.calls import QUERY, parse_call
from shared.platform.http.endpoints import request_hooks
from shared.platform.http.responses import http_response, json_response
from shared.platform.models import is_item_id

bp = func.Blueprint()

_MOST_NAMES = 50
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_recorder = Recorder()


def start() -> None:
    """Record requests and deliveries from now on."""
    _recorder.start()
    request_hooks.append(lambda span, request: _recorder.remember(span, visitor_of(request)))


# Not endpoints of the API: open pages call them every second, and each call of an endpoint logs a line.
@bp.route(route="inspector/events", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
async def get_inspector_events(req: func.HttpRequest) -> func.HttpResponse:
    """Return the visitor's requests and their deliveries after number `after`, and the last number of all.

    With `all=1`, the events of all visitors. `page` is the visitor's first page, which was requested without a cookie.
    `switch` is the emulator's switch that the tour has turned on. Each process keeps its own records, so they are
    complete only if there is one process.
    """
    after = req.params.get("after", "0")
    if not re.fullmatch(r"[0-9]{1,18}", after, re.ASCII):
        return func.HttpResponse("after must be a whole number.", status_code=400, headers=_HEADERS)
    visitor = visitor_of(req)
    if visitor and "page" in req.params:
        _recorder.claim(req.params["page"], visitor)
    events = _recorder.since(int(after), None if req.params.get("all") == "1" else visitor)
    return await _json(req, {"events": events, "last": max(_recorder.last, int(after)), "switch": SWITCHES.name})


@bp.route(route="inspector/names", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
async def get_inspector_names(req: func.HttpRequest) -> func.HttpResponse:
    """Return the titles of `posts` and the usernames of `users`, each a list of IDs. Its reads are not recorded."""
    blog, names = await open_blog(), dict[str, str]()
    for container, name in ((blog.posts, "title"), (blog.users, "username")):
        ids = req.params.get(container.proxy.id, "").split(",")[:_MOST_NAMES]
        with suppress(DatabaseThrottled, DatabaseUnavailable):  # the tour causes both
            found = await container.read_many([item_id for item_id in ids if is_item_id(item_id)])
            names |= {item["id"]: item[name] for item in found if name in item}
    return await _json(req, names)


async def _json(req: func.HttpRequest, values: Mapping[str, object]) -> func.HttpResponse:
    return await http_response(json_response(values, headers=_HEADERS), parse_call(req, None, ANONYMOUS))
