"""Conversion of HTTP requests to function arguments.

Rules: azure-functions-host GrpcMessageConversionExtensions.cs and the azure-functions library's http.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, unquote

from aiohttp import web
from azure.functions.http import HttpRequest
from multidict import MultiMapping


def split_target(target: str) -> tuple[str, str]:
    """Return the decoded path, without its leading slash, and the raw query.

    Like Kestrel, keeps `%2F` encoded, so it does not separate segments (dotnet/aspnetcore issue 4718).
    """
    path, _, query = target.partition("?")
    if not path.startswith("/") and "://" in path:
        path = "/" + path.split("://", 1)[1].partition("/")[2]
    if "%" in path:
        path = unquote(path.replace("%2F", "%252F").replace("%2f", "%252f"))
    return path.removeprefix("/"), query


def function_request(
    request: web.BaseRequest,
    headers: MultiMapping[str],
    query: str,
    route_values: Mapping[str, str],
    body: bytes,
) -> HttpRequest:
    """Return the request that a function receives, with `headers` instead of its own."""
    target = request.raw_path
    url = target if "://" in target.partition("?")[0] else f"{request.scheme}://{request.host}{target}"
    return HttpRequest(
        request.method.upper(),
        url,
        headers=_joined(((name.lower(), value) for name, value in headers.items()), keep_empty=True),
        params=_joined(_query_pairs(query), keep_empty=False) if query else {},
        route_params=route_values,
        body_type="bytes",
        body=body,
    )


def _query_pairs(query: str) -> Iterable[tuple[str, str]]:
    """Yield name-value pairs. Names that differ only in case get the first spelling."""
    spelling: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
        yield spelling.setdefault(name.lower(), name), value


def _joined(pairs: Iterable[tuple[str, str]], *, keep_empty: bool) -> dict[str, str]:
    """Join repeated names with `,`. Like .NET's StringValues, skip empty values."""
    values: dict[str, str] = {}
    for name, value in pairs:
        before = values.get(name)
        values[name] = f"{before},{value}" if before and value else before or value
    return values if keep_empty else {name: value for name, value in values.items() if value}
