"""The HTTP server: runs operations and turns errors into statuses."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
import uuid
from collections.abc import Mapping
from email.utils import formatdate
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from cosmos_emulator import json_text
from cosmos_emulator.contents.controls import Controls
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.explorer import explorer_page, is_explorer
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http.access import check_host
from cosmos_emulator.http.controls.health import health_response, is_health
from cosmos_emulator.http.controls.load import LoadHistory
from cosmos_emulator.http.controls.paths import answer_control
from cosmos_emulator.http.fault_stage import ConnectionDropped
from cosmos_emulator.http.stages import Stages
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.quota import QUOTA, usage
from cosmos_emulator.reads.unfinished import UnfinishedQueries
from cosmos_emulator.recording import RecordedRequest, Recordings
from cosmos_emulator.store.schema import advice
from cosmos_emulator.vocabulary.operation_names import OperationName

_LOG: Final = logging.getLogger(__name__)
_OWN_PATHS: Final = ("/_", "/ready", "/alive")
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
        self._stages = Stages(gateway, unfinished)
        self._load = LoadHistory(gateway.settings.clock)
        self._charge_label = gateway.charges.label
        self._recordings = recordings
        self.certificate: bytes | None = None
        """The certificate of https, which clients must trust."""

    def close(self) -> None:
        """Release the requests of `hang` faults."""
        self._stages.is_closing = True

    async def answer(self, http: web.BaseRequest) -> web.StreamResponse:
        """Return the response; never raises."""
        started_s = time.perf_counter()
        activity_id = _activity_id(http.headers)
        recorded: list[tuple[OperationName, str | None]] | None = [] if self._recordings.current else None
        try:
            check_host(http.headers.get("Host", ""), http.remote)
            own = await self._of_emulator(http) if http.raw_path.startswith(_OWN_PATHS) else None
            if isinstance(own, web.StreamResponse):
                return own
            answer = own or await self._stages.run(http, recorded)
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
        for name, container in recorded or ():
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
        if not answer.names_owner:
            headers.pop(h.CONTENT_PATH, None)
        location = f"{http.scheme}://{http.host}{http.raw_path}"
        if location.isascii() and location.isprintable():
            headers[h.CONTENT_LOCATION] = location
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    async def _of_emulator(self, http: web.BaseRequest) -> Answer | web.StreamResponse | None:
        """Answer a request that the service does not have: for the explorer, health and controls."""
        if is_explorer(http.raw_path):
            return explorer_page(http.method, http.raw_path, self.certificate)
        if is_health(http.raw_path):
            return health_response(http.method)
        if not http.raw_path.startswith("/_emulator"):
            return None
        self._stages.check_administrator(http)
        return await answer_control(http, self._controls, self._gateway.settings, self._load)

    def _refusal(self, error: CosmosError, http: web.BaseRequest, activity_id: str) -> Answer:
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


def _in_utf8(text: str) -> str:
    """Replace bytes that are not UTF-8, for JSON."""
    return text.encode(errors="replace").decode()


def _dropped(http: web.BaseRequest) -> web.Response:
    if http.transport is not None:
        http.transport.abort()
    return web.Response()  # never sent


def _activity_id(headers: Mapping[str, str]) -> str:
    given = headers.get(h.ACTIVITY_ID, "")
    return given if given.isascii() and given.isprintable() and given else str(uuid.uuid4())
