"""Conditions on the etag of a database, container, script or offer, as on the etag of an item."""

from __future__ import annotations

from cosmos_emulator import headers as h
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.store.resources import Resource
from cosmos_emulator.wire import Request


def check_if_match(request: Request, resource: Resource) -> None:
    """412 unless `If-Match` names the resource's etag, with or without its quotes, or is `*` or absent."""
    if_match = request.headers.get(h.IF_MATCH)
    if if_match and if_match != "*" and not _same(if_match, resource):
        raise CosmosError(412, "One of the specified pre-condition is not met.")


def is_unchanged(request: Request, resource: Resource) -> bool:
    """Whether `If-None-Match` names the resource's etag: the client has this version."""
    if_none_match = request.headers.get(h.IF_NONE_MATCH)
    return if_none_match is not None and _same(if_none_match, resource)


def _same(etag: str, resource: Resource) -> bool:
    return etag.strip('"') == resource.etag.strip('"')
