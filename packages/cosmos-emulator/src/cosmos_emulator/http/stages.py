"""All that a request of the service passes, in order, and its operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from aiohttp import web

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http.access import MasterKey, check_administrator, check_origin
from cosmos_emulator.http.body import read_body
from cosmos_emulator.http.fault_stage import strike, target_of
from cosmos_emulator.http.grants import check_grant
from cosmos_emulator.http.rbac import DataRole
from cosmos_emulator.http.routes import Operation, route
from cosmos_emulator.http.throttle import Throttle
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, header_text
from cosmos_emulator.messages.links import parse_link
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.sessions import check_session
from cosmos_emulator.reads.unfinished import UnfinishedQueries
from cosmos_emulator.vocabulary.consistency import REPLICAS_READ, consistency_of
from cosmos_emulator.vocabulary.operation_names import ITEM_OPERATIONS, ITEM_READS, OperationName

# The status is an assumption: the documentation says only that indexes are read-only.
_WRITES: Final = (ITEM_OPERATIONS - ITEM_READS) | {"delete-partition-key"}
_VERSIONS: Final = (
    "2014-08-21 2015-04-08 2015-06-03 2015-08-06 2015-12-16 2016-05-30 2016-07-11 2016-11-14 2017-01-19 2017-02-22 "
    "2017-05-03 2017-11-15 2018-06-18 2018-08-31 2018-09-17"
)
_BUCKETS: Final = frozenset("12345")
_LAST_VERSION: Final = "2018-12-31"
_TAB_OR_BREAK: Final = re.compile(r"[\t\r\n]")


class Stages:
    """The stages of a gateway's requests. Some are on only while a setting is."""

    def __init__(self, gateway: Gateway, unfinished: UnfinishedQueries) -> None:
        settings = gateway.settings
        self.is_closing = False
        """Whether the requests of `hang` faults end."""
        self._gateway = gateway
        self._unfinished = unfinished
        self._key = MasterKey(settings.key, accept_entra_tokens=settings.accept_entra_tokens)
        self._management_key = MasterKey(settings.management_key) if settings.management_key else None
        self._role = DataRole(settings)
        self._throttle = Throttle(gateway)

    async def run(self, http: web.BaseRequest, recorded: list[tuple[OperationName, str | None]] | None) -> Answer:
        """Return the answer of the operation, unless a stage raises.

        Its name and its container are added to `recorded`. A manager, who has the management key, needs no grant and
        no role.
        """
        settings, headers = self._gateway.settings, http.headers
        link = parse_link(http.raw_path)
        if any(map(_TAB_OR_BREAK.search, link.ids)):
            raise CosmosError(400, "The path has a tab or a line break.")  # CosmosItemIdEncodingTestsBase.cs
        if link.template == "/addresses":  # before the signature, which belongs to another resource
            raise CosmosError(501, "Direct mode is not emulated; set the client's connection mode to gateway.")
        manager = self._management_key
        is_manager = manager is not None and manager.has_signed(http.method, link, headers)
        grant = None
        if not settings.check_signatures:
            check_origin(headers)
        elif not is_manager:
            grant = self._key.authorize(http.method, link, headers, settings.clock)
        _check_version(headers)
        consistency = consistency_of(headers.get(h.CONSISTENCY_LEVEL), settings.consistency)
        base_url = f"{http.scheme}://{http.host}"
        request = Request(self._gateway, self._unfinished, http.method, link, headers, base_url, consistency)
        name, operation = route(request)
        if http.body_exists:
            request.body = await read_body(http)
        if recorded is not None:
            recorded.append((name, _container(request.owner_path)))
        if grant is not None:
            check_grant(grant, request, name)
        if settings.rbac and not is_manager:
            self._role.check(name, request)
        target = target_of(request, name) if settings.faults.active else None
        is_connected = partial(self._has_client, http)
        if target is not None:
            await strike(settings.faults, target, "before", is_connected)
        if settings.throttle:
            answer = await self._throttle.around(request, name, lambda: self._admitted(request, name, operation))
        else:
            answer = await self._admitted(request, name, operation)
        if target is not None:
            await strike(settings.faults, target, "after", is_connected)
        if h.ALT_CONTENT_PATH not in answer.headers and (owner := request.owner_path):
            answer.headers[h.ALT_CONTENT_PATH] = header_text(owner)  # .NET makes a resource's name link from it
        return answer

    async def _admitted(self, request: Request, name: OperationName, operation: Operation) -> Answer:
        """Run the operation behind the gate, so that a reset or an import waits for it."""
        async with self._gateway.gate:
            if name in _WRITES and request.container.definition.source is not None:
                raise CosmosError(403, "A global secondary index is read-only. Write to its source container.")
            if name not in ITEM_OPERATIONS:
                return await operation(request)
            container = request.container
            if name != "batch":  # checks it itself
                check_session(request, container)
            with container.serving():
                answer = await operation(request)
            if name in ITEM_READS:
                answer.charge_ru *= REPLICAS_READ[request.consistency]
            return answer

    def check_administrator(self, http: web.BaseRequest) -> None:
        """Raise 403 for a request that may not use the emulator's own controls."""
        link, headers = parse_link(http.raw_path), http.headers
        keys = (key for key in (self._key, self._management_key) if key is not None)
        has_key = any(key.is_borne_by(headers) or key.has_signed(http.method, link, headers) for key in keys)
        check_administrator(headers, http.remote, has_key=has_key)

    def _has_client(self, http: web.BaseRequest) -> bool:
        return http.transport is not None and not self.is_closing


def _check_version(headers: Mapping[str, str]) -> None:
    """Raise 400 for an API version that never existed, or a throughput bucket other than 1 to 5.

    Later versions than the last with a documented change are accepted. Sources: learn.microsoft.com/rest/api/cosmos-db,
    "Supported REST API versions"; azure-sdk-for-python#40340, test_headers.py.
    """
    version, bucket = headers.get(h.VERSION, ""), headers.get(h.THROUGHPUT_BUCKET, "1")
    if version and version < _LAST_VERSION and version not in _VERSIONS.split():
        raise CosmosError(400, f"Invalid API version {version!r}. Use {_LAST_VERSION} or later.")
    if bucket not in _BUCKETS:
        raise CosmosError(
            400, f"The value {bucket!r} specified for the header '{h.THROUGHPUT_BUCKET}' is invalid. Use 1 to 5."
        )


def _container(owner_path: str) -> str | None:
    """Return `shop/orders` for `dbs/shop/colls/orders`, and for what is in it."""
    match owner_path.split("/"):
        case ["dbs", database, "colls", container, *_]:
            return f"{database}/{container}"
    return None
