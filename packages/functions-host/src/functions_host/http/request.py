"""Conversion of HTTP requests to function arguments.

Rules: azure-functions-host GrpcMessageConversionExtensions.cs and the azure-functions library's http.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from azure.functions.http import HttpRequest
from multidict import MultiMapping

from .request_head import RequestHead, unescaped


def function_request(
    head: RequestHead, headers: MultiMapping[str], route_values: Mapping[str, str], body: bytes
) -> HttpRequest:
    """Return the request that a function receives, with `headers` instead of its own."""
    return HttpRequest(
        head.method.upper(),
        f"http://{head.host}{head.url}",
        headers=_joined((name.lower(), value) for name, value in headers.items()),
        params={name: value for name, value in _joined(query_pairs(head.query)).items() if value},
        route_params=route_values,
        body_type="bytes",
        body=body,
    )


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the decoded names and values."""
    pairs = [pair.partition("=") for pair in query.replace("+", " ").split("&") if pair]
    return [(unescaped(name), unescaped(value)) for name, _, value in pairs]


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Join values of the same name, in any case, with `,`. Like .NET, use the second spelling and skip empty values."""
    spellings: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        spellings.setdefault(key, []).append(name)
        before = values.get(key)
        values[key] = f"{before},{value}" if before and value else before or value
    return {spellings[key][:2][-1]: value for key, value in values.items()}
