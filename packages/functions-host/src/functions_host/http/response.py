"""Conversion of return values to HTTP responses.

Rules: the azure-functions library's http.py, azure-functions-host Binding/Http/HttpBinding.cs and RawScriptResult.cs
(for a str that contains JSON).
"""

from __future__ import annotations

import json
from http.cookies import SimpleCookie

import azure.functions as func
from aiohttp import web
from multidict import CIMultiDict

TEXT = "text/plain; charset=utf-8"
# The server computes these from the body.
_COMPUTED = ("content-length", "transfer-encoding")


class UnencodableResultError(TypeError):
    """The worker would reject the return value."""


def web_response(value: object) -> web.Response:
    """Convert a return value. Raises UnencodableResultError."""
    if isinstance(value, func.HttpResponse):
        response = _from_http_response(value)
    elif isinstance(value, str):
        response = _from_text(value)
    else:
        kind = type(value).__name__
        raise UnencodableResultError(f"unable to encode outgoing TypedData: unsupported type {kind}")
    if any("\r" in header or "\n" in header for header in response.headers.values()):
        raise UnencodableResultError("a header value contains a line break")
    return response


def _from_http_response(response: func.HttpResponse) -> web.Response:
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in response.headers.items():
        if name.lower() == "set-cookie":
            # The worker also parses cookies, which drops attributes unknown to http.cookies.
            for morsel in SimpleCookie(value).values():
                headers.add(name, morsel.OutputString())
        elif name.lower() not in _COMPUTED:
            headers[name] = value
    if "content-type" not in headers:
        mimetype = response.mimetype
        headers["Content-Type"] = (
            f"{mimetype}; charset={response.charset}" if mimetype.startswith("text/") else mimetype
        )
    return web.Response(status=response.status_code, body=response.get_body(), headers=headers)


def _from_text(text: str) -> web.Response:
    try:
        parsed = json.loads(text)
    except ValueError:
        return _text(text)
    if isinstance(parsed, dict) and "body" in parsed:
        return _from_description(parsed)
    if isinstance(parsed, (dict, list)):
        return _text(_indented(parsed))
    if parsed is None:
        return _text("")
    # Strings lose their quotes; numbers and booleans are unchanged.
    return _text(parsed if isinstance(parsed, str) else text.strip())


def _from_description(description: dict[str, object]) -> web.Response:
    status = description.get("statusCode", description.get("status", 200))
    if not isinstance(status, (int, str)):
        raise UnencodableResultError(f"status {status!r} must be a number")
    body = description["body"]
    headers = description.get("headers")
    response = _text(_body_text(body), int(status))
    if isinstance(body, (dict, list)):
        response.headers["Content-Type"] = "application/json; charset=utf-8"
    if isinstance(headers, dict):
        for name, value in headers.items():
            if name.lower() not in _COMPUTED:
                response.headers[name] = str(value)
    return response


def _body_text(body: object) -> str:
    if body is None:
        return ""
    return body if isinstance(body, str) else _indented(body)


def _indented(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _text(text: str, status: int = 200) -> web.Response:
    return web.Response(status=status, body=text.encode(), headers={"Content-Type": TEXT})
