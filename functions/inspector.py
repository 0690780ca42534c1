"""The records that the inspector on the pages shows. function_app.py imports this file only if BLOG_INSPECTOR=1."""

from __future__ import annotations

import json
import re

import azure.functions as func

from shared.http.endpoints import QUERY
from shared.observability.inspector import Inspector

bp = func.Blueprint()

_inspector = Inspector()
_inspector.start()


# Not an endpoint of the API: open pages call it every second, and each call of an endpoint logs a line.
@bp.route(route="inspector/events", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
async def get_inspector_events(req: func.HttpRequest) -> func.HttpResponse:
    """Return the requests and deliveries of changes after number `after`, and the last number.

    Each process keeps its own, so the inspector is complete only if there is one process.
    """
    after = req.params.get("after", "0")
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if not re.fullmatch(r"[0-9]{1,18}", after, re.ASCII):
        return func.HttpResponse("after must be a whole number.", status_code=400, headers=headers)
    events = _inspector.since(int(after))
    last = events[-1]["number"] if events else int(after)
    body = json.dumps({"events": events, "last": last}, separators=(",", ":"))
    return func.HttpResponse(body, headers=headers, mimetype="application/json")
