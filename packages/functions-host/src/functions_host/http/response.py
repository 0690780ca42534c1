"""Conversion of return values to HTTP responses.

Rules: the azure-functions library's http.py, azure-functions-host Binding/Http/HttpBinding.cs and RawScriptResult.cs
(for a str that contains JSON).
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime
from http.cookies import Morsel, SimpleCookie
from urllib.parse import quote

import azure.functions as func
from aiohttp import web
from multidict import CIMultiDict

from .. import date_texts

TEXT = "text/plain; charset=utf-8"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t -~]*")


class UnencodableResultError(TypeError):
    """The worker or the server would reject the return value."""


class BrokenResponseError(Exception):
    """The server finds a wrong length: too short for the body, or so long that it ends the connection."""

    def __init__(self, message: str, *, ends_connection: bool) -> None:
        super().__init__(message)
        self.ends_connection = ends_connection


def web_response(value: object) -> web.Response:
    """Convert a return value. Raises UnencodableResultError, ValueError or BrokenResponseError."""
    if isinstance(value, func.HttpResponse):
        response = _from_http_response(value)
    elif isinstance(value, str):
        response = _from_text(value)
    else:
        kind = type(value).__name__
        raise UnencodableResultError(f"unable to encode outgoing TypedData: unsupported type {kind}")
    for name, text in response.headers.items():
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(text)):
            raise UnencodableResultError(f"invalid header {name!r}: {text!r}")
    _check_length(response)
    return response


def _check_length(response: web.Response) -> None:
    length, coding = response.headers.get("Content-Length"), response.headers.get("Transfer-Encoding")
    body = response.body if isinstance(response.body, bytes) else b""
    if coding is not None and coding.rpartition(",")[2].strip(" \t").lower() != "chunked":
        # The end of the connection is the end of the body (aspnetcore Kestrel/Core HttpProtocol.cs).
        if response.status in (204, 205, 304):
            raise BrokenResponseError("a response without a body has no transfer coding", ends_connection=False)
        response.force_close()
    elif coding is not None or (length is not None and int(length) > len(body)):
        raise BrokenResponseError("the body is shorter than the headers say", ends_connection=True)
    if length is not None and int(length) < len(body):
        raise BrokenResponseError("the body is longer than the headers say", ends_connection=False)


def _from_http_response(response: func.HttpResponse) -> web.Response:
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in response.headers.items():
        if name.lower() == "set-cookie":
            # The worker also parses cookies, which drops attributes unknown to http.cookies.
            for morsel in SimpleCookie(value).values():
                headers.add(name, _cookie(morsel))
        else:
            headers[name] = value
    if "content-type" not in headers:
        mimetype = response.mimetype
        headers["Content-Type"] = (
            f"{mimetype}; charset={response.charset}" if mimetype.startswith("text/") else mimetype
        )
    body = response.get_body() if response.status_code != 205 else b""
    return web.Response(status=response.status_code, body=body, headers=headers)


def _cookie(morsel: Morsel[str]) -> str:
    """Write a cookie as the real host does (worker datumdef.py, aspnetcore SetCookieHeaderValue.cs)."""
    parts = [f"{morsel.key}={quote(morsel.value, safe='')}"]
    if morsel["expires"]:
        parts.append(
            f"expires={format_datetime(parsedate_to_datetime(morsel['expires']).astimezone(UTC), usegmt=True)}"
        )
    if morsel["max-age"]:
        parts.append(f"max-age={int(float(morsel['max-age']))}")
    parts += [f"domain={morsel['domain']}", f"path={morsel['path']}"]
    if morsel["secure"]:
        parts.append("secure")
    if (same_site := morsel["samesite"].lower()) in ("lax", "strict", "none"):
        parts.append(f"samesite={same_site}")
    if morsel["httponly"]:
        parts.append("httponly")
    return "; ".join(parts)


def _from_text(text: str) -> web.Response:
    try:
        parsed = date_texts.parsed(json.loads(text))
    except (ValueError, date_texts.UnparsableChangesError):
        return _text(text)
    if isinstance(parsed, dict) and "body" in (described := {name.lower(): value for name, value in parsed.items()}):
        return _from_description(described)
    if isinstance(parsed, (dict, list)):
        return _text(_indented(parsed))
    if parsed is None:
        return _text("")
    # Strings lose their quotes, and .NET formats numbers and booleans.
    is_whole = isinstance(parsed, float) and parsed.is_integer() and abs(parsed) < 1e15
    return _text(str(int(parsed) if is_whole else parsed))


def _from_description(description: dict[str, object]) -> web.Response:
    status = str(description.get("statuscode", description.get("status", 200)))
    response = _text(_body_text(description["body"]), int(status) if status.isdecimal() else 200)
    if isinstance(headers := description.get("headers"), dict):
        for name, value in headers.items():
            is_text = name.lower() == "content-type" and "charset" not in str(value)
            response.headers[name] = f"{value}; charset=utf-8" if is_text else str(value)
    return response


def _body_text(body: object) -> str:
    if body is None:
        return ""
    if isinstance(body, list):
        return "System.Collections.Generic.List`1[System.Object]"  # what .NET writes
    return body if isinstance(body, str) else json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def _indented(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _text(text: str, status: int = 200) -> web.Response:
    return web.Response(status=status, body=text.encode(), headers={"Content-Type": TEXT})
