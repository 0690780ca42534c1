"""The HTTP server: runs operations and turns errors into statuses."""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
import time
import uuid
import zlib
from collections.abc import Mapping
from email.utils import formatdate
from typing import Final
from urllib.parse import unquote

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from cosmos_emulator import json_text
from cosmos_emulator.consistency import consistency_of
from cosmos_emulator.controls import Controls
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.explorer import explorer_page, is_explorer
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http.auth import MasterKey
from cosmos_emulator.http.callers import check_administrator, check_host, check_origin
from cosmos_emulator.http.controls import control, is_control
from cosmos_emulator.http.fault_admin import administer, is_administration
from cosmos_emulator.http.fault_stage import ConnectionDropped
from cosmos_emulator.http.grants import check_grant
from cosmos_emulator.http.health import health_response, is_health
from cosmos_emulator.http.live_settings import SETTINGS, administer_settings
from cosmos_emulator.http.load import LOAD, LoadHistory
from cosmos_emulator.http.routes import route
from cosmos_emulator.http.stages import Stages
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, header_text
from cosmos_emulator.messages.links import Link, parse_link
from cosmos_emulator.messages.quota import QUOTA, usage
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.resource_tokens import PREFIX, Grant, read_token
from cosmos_emulator.operation_names import OperationName, operation_name
from cosmos_emulator.reads.unfinished import UnfinishedQueries
from cosmos_emulator.recording import RecordedRequest, Recordings
from cosmos_emulator.store.schema import advice

_LOG: Final = logging.getLogger(__name__)
_MAX_REQUEST_BYTES: Final = 2 * 1024 * 1024
# An oversized body is read up to this size: a client that is still sending would miss the 413.
_MAX_READ_BYTES: Final = 16 * 1024 * 1024
_VERSIONS: Final = (
    "2014-08-21 2015-04-08 2015-06-03 2015-08-06 2015-12-16 2016-05-30 2016-07-11 2016-11-14 2017-01-19 2017-02-22 "
    "2017-05-03 2017-11-15 2018-06-18 2018-08-31 2018-09-17"
)
_BUCKETS: Final = frozenset("12345")
_LAST_VERSION: Final = "2018-12-31"
_TAB_OR_BREAK: Final = re.compile(r"[\t\r\n]")
_ALWAYS: Final = {
    h.RESOURCE_QUOTA: QUOTA,
    h.RESOURCE_USAGE: usage(),
    "Content-Type": "application/json",
    "x-ms-schemaversion": "1.18",
    "x-ms-serviceversion": "version=2.14.0.0",
    "x-ms-gatewayversion": "version=2.14.0",
    "Cache-Control": "no-store, no-cache",
}


class CosmosServer:
    """Handles a gateway's HTTP requests."""

    def __init__(
        self, gateway: Gateway, unfinished: UnfinishedQueries, controls: Controls, recordings: Recordings
    ) -> None:
        self._gateway = gateway
        self._controls = controls
        self._unfinished = unfinished
        self._stages = Stages(gateway)
        self._key = MasterKey(gateway.settings.key, accept_entra_tokens=gateway.settings.accept_entra_tokens)
        management_key = gateway.settings.management_key
        self._management_key = MasterKey(management_key) if management_key else None
        self._load = LoadHistory(gateway.settings.clock)
        self._is_closing = False
        self._charge_label = gateway.charges.label
        self._recordings = recordings
        self.certificate: bytes | None = None
        """The certificate of https, which clients must trust."""

    def close(self) -> None:
        """Release the requests of `hang` faults."""
        self._is_closing = True

    async def answer(self, http: web.BaseRequest) -> web.StreamResponse:
        """Return the response; never raises."""
        path, started_s = http.raw_path, time.perf_counter()
        activity_id = _activity_id(http.headers)
        names: list[tuple[OperationName, str | None]] = []
        try:
            check_host(http.headers.get("Host", ""), http.remote)
            if is_explorer(path):
                return explorer_page(http.method, path, self.certificate)
            if is_health(path):
                return health_response(http.method)
            answer = await self._operate(http, names)
            if isinstance(answer, web.StreamResponse):
                return answer
        except CosmosError as error:
            answer = self._refusal(error, http, activity_id)
        except ConnectionDropped:
            return _dropped(http)
        except Exception as error:  # noqa: BLE001 - the server must go on
            where = self._gateway.settings.data_dir or "memory"
            reason = advice(error, where) if isinstance(error, sqlite3.Error) else None
            # The traceback of an unusable file would only hide what to do.
            _LOG.error(
                "request %s failed: %s %s%s",
                *(activity_id, http.method, http.raw_path, f": {reason}" if reason else ""),
                exc_info=reason is None,
            )
            failure = CosmosError(500, "The emulator failed on this request. See its log for the cause.")
            answer = self._refusal(failure, http, activity_id)
        self._load.record(answer)
        for name, container in names:
            self._recordings.add(RecordedRequest(name, container, answer.status, round(answer.charge_ru, 2)))
        latency = self._gateway.settings.latency
        if latency is not None:
            await asyncio.sleep(latency.next_s(self._gateway.settings.random))
        return self._response(answer, http, activity_id, time.perf_counter() - started_s)

    def refuse(self, http: web.BaseRequest, error: HttpProcessingError) -> web.Response:
        """Return 400 for what is not an HTTP request, or has a header, or a path, that is too long."""
        problem = error.message
        if isinstance(error, LineTooLong):
            # learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-dotnet-sdk-request-header-too-large
            problem = f"Request header too large. {problem}"
        activity_id = _activity_id(http.headers)
        return self._response(self._refusal(CosmosError(400, problem), http, activity_id), http, activity_id, 0.0)

    def _response(self, answer: Answer, http: web.BaseRequest, activity_id: str, time_s: float) -> web.Response:
        headers = {
            **_ALWAYS,
            h.REQUEST_CHARGE: f"{answer.charge_ru:.2f}",
            h.REQUEST_DURATION_MS: f"{time_s * 1000:.3f}",
            h.CHARGE_MODEL: self._charge_label,
            h.ACTIVITY_ID: activity_id,
            h.DATE: formatdate(self._gateway.settings.clock(), usegmt=True),
            **answer.headers,
        }
        if h.SESSION_TOKEN in headers:
            # A page of the service is of one partition: .NET and Java fail on several tokens (SessionContainer.java).
            tokens = headers[h.SESSION_TOKEN].split(",")
            headers[h.SESSION_TOKEN] = tokens[0]
            headers[h.PARTITIONS] = ",".join(token.partition(":")[0] for token in tokens)
        if not answer.names_owner:
            headers.pop(h.CONTENT_PATH, None)
        location = f"{http.scheme}://{http.host}{http.raw_path}"
        if location.isascii() and location.isprintable():
            headers[h.CONTENT_LOCATION] = location
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    async def _operate(
        self, http: web.BaseRequest, names: list[tuple[OperationName, str | None]]
    ) -> Answer | web.StreamResponse:
        """Run an operation. While requests are recorded, its name and container are added to `names`."""
        settings, headers = self._gateway.settings, http.headers
        link = parse_link(http.raw_path)
        if any(map(_TAB_OR_BREAK.search, link.ids)):
            raise CosmosError(400, "The path has a tab or a line break.")  # CosmosItemIdEncodingTestsBase.cs
        if link.template == "/addresses":  # before the signature, which is that of another resource
            raise CosmosError(501, "Direct mode is not emulated; set the client's connection mode to gateway.")
        if is_administration(http.raw_path):
            keys = (key for key in (self._key, self._management_key) if key is not None)
            has_key = any(key.is_borne_by(headers) or key.has_signed(http.method, link, headers) for key in keys)
            check_administrator(headers, http.remote, has_key=has_key)
            if is_control(http.raw_path):
                return await control(self._controls, settings.clock, http)
            return self._administer(http.method, http.raw_path, await _body(http))
        is_manager = self._is_manager(http.method, link, headers)
        if not settings.check_signatures:
            check_origin(headers)
        grant = self._authorized(http.method, link, headers) if settings.check_signatures and not is_manager else None
        _check_version(headers)
        _check_bucket(headers)
        consistency_of(headers.get(h.CONSISTENCY_LEVEL), settings.consistency)
        operation = route(http.method, link, headers)
        body = await _body(http)
        request = Request(
            self._gateway, self._unfinished, http.method, link, headers, body, f"{http.scheme}://{http.host}"
        )
        if self._recordings:
            names.append((operation_name(operation), _container(request.owner_path)))
        if grant is not None:
            check_grant(grant, request, operation_name(operation))
        answer = await self._stages.run(
            operation, request, is_manager=is_manager, is_connected=lambda: self._has_client(http)
        )
        if h.ALT_CONTENT_PATH not in answer.headers and (owner := request.owner_path):
            answer.headers[h.ALT_CONTENT_PATH] = header_text(owner)  # .NET makes a resource's name link from it
        return answer

    def _authorized(self, method: str, link: Link, headers: Mapping[str, str]) -> Grant | None:
        """Return what a resource token grants; None for the account key and Microsoft Entra ID, which allow all."""
        header = unquote(headers.get(h.AUTHORIZATION, ""))
        if header.startswith(PREFIX):
            return read_token(header, self._gateway.settings.key, self._gateway.settings.clock)
        self._key.authorize(method, link, headers)
        return None

    def _administer(self, method: str, raw_path: str, body: bytes) -> Answer:
        settings = self._gateway.settings
        path, _, query = raw_path.partition("?")
        path = path.rstrip("/")
        if path == LOAD:
            return self._load.answer(method, query)
        if path == SETTINGS:
            return administer_settings(settings, method, body)
        return administer(settings.faults, method, raw_path, body)

    def _is_manager(self, method: str, link: Link, headers: Mapping[str, str]) -> bool:
        key = self._management_key
        return key is not None and key.has_signed(method, link, headers)

    def _has_client(self, http: web.BaseRequest) -> bool:
        return http.transport is not None and not self._is_closing

    def _refusal(self, error: CosmosError, http: web.BaseRequest, activity_id: str) -> Answer:
        charge_ru = error.charge_ru
        if charge_ru is None:
            charge_ru = self._gateway.charges.refusal(error.status)
        headers = dict(error.headers)
        if error.sub_status:
            headers[h.SUB_STATUS] = str(error.sub_status)
        if error.retry_after_ms is not None:
            headers[h.RETRY_AFTER_MS] = str(error.retry_after_ms)
        if error.status == 304:
            return Answer(304, b"", headers, charge_ru)
        text = _in_utf8(error.message)
        errors = text if error.is_document else json_text.dump({"Errors": [text]}).decode()
        message = f"Message: {errors}\r\nActivityId: {activity_id}, Request URI: {_in_utf8(http.raw_path)}"
        body = json_text.dump({"code": error.code, "message": message, **error.details})
        return Answer(error.status, body, headers, charge_ru, names_owner=error.status != 404 or http.method != "GET")


def _container(owner_path: str) -> str | None:
    """Return `shop/orders` for `dbs/shop/colls/orders`, and for what is in it."""
    match owner_path.split("/"):
        case ["dbs", database, "colls", container, *_]:
            return f"{database}/{container}"
    return None


def _in_utf8(text: str) -> str:
    """Replace bytes that are not UTF-8, for JSON."""
    return text.encode(errors="replace").decode()


def new_request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    """Create aiohttp's request with this server's body limit."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_MAX_READ_BYTES)


def _dropped(http: web.BaseRequest) -> web.Response:
    if http.transport is not None:
        http.transport.abort()
    return web.Response()  # never sent


def _activity_id(headers: Mapping[str, str]) -> str:
    given = headers.get(h.ACTIVITY_ID, "")
    return given if given.isascii() and given.isprintable() and given else str(uuid.uuid4())


def _check_version(headers: Mapping[str, str]) -> None:
    """Raise 400 for an API version that never existed; later ones than the last with a documented change are accepted.

    Source: learn.microsoft.com/rest/api/cosmos-db, "Supported REST API versions".
    """
    version = headers.get(h.VERSION, "")
    if version and version < _LAST_VERSION and version not in _VERSIONS.split():
        raise CosmosError(400, f"Invalid API version {version!r}. Use {_LAST_VERSION} or later.")


def _check_bucket(headers: Mapping[str, str]) -> None:
    """Raise 400 for a throughput bucket other than 1 to 5 (azure-sdk-for-python#40340, test_headers.py)."""
    bucket = headers.get(h.THROUGHPUT_BUCKET, "1")
    if bucket not in _BUCKETS:
        raise CosmosError(
            400, f"The value {bucket!r} specified for the header '{h.THROUGHPUT_BUCKET}' is invalid. Use 1 to 5."
        )


async def _body(http: web.BaseRequest) -> bytes:
    if not http.body_exists:
        return b""
    try:
        body = await http.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise _too_large() from error
    except (web.RequestPayloadError, ConnectionResetError) as error:
        raise CosmosError(400, f"The request payload is invalid or incomplete: {error}") from error
    if len(body) > _MAX_REQUEST_BYTES:
        raise _too_large()
    encoding = http.headers.get("Content-Encoding", "identity").lower()
    return body if encoding == "identity" else _decompressed(body, encoding)


def _decompressed(body: bytes, encoding: str) -> bytes:
    """Decompress no more than the limit."""
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # accepts the headers of gzip and zlib
    try:
        whole = decompressor.decompress(body, _MAX_REQUEST_BYTES + 1) if encoding in ("gzip", "deflate") else b""
    except zlib.error:
        whole = b""
    if len(whole) > _MAX_REQUEST_BYTES:
        raise _too_large()
    if not decompressor.eof or decompressor.unused_data:
        raise CosmosError(400, f"The request payload is invalid or incomplete in the content encoding {encoding!r}.")
    return whole


def _too_large() -> CosmosError:
    return CosmosError(413, "Request size is too large: the maximum is 2 MB.")
