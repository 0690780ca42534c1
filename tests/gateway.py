"""A gateway between the app and the emulator that records operations and can reject, lose, or hold them."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web
from yarl import URL

T = TypeVar("T")

_PATH = re.compile(r"/dbs/[^/]+/colls/(?P<container>[^/]+)/(?P<kind>docs|sprocs)(?:/(?P<id>[^/]+))?/?")
_POSTED = {
    "x-ms-documentdb-isquery": "query",
    "x-ms-documentdb-is-upsert": "upsert",
    "x-ms-cosmos-is-batch-request": "batch",
    "x-ms-cosmos-is-query-plan-request": "query plan",
}
_BY_METHOD = {"GET": "read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}
_SESSION = "x-ms-session-token"
_OF_THE_CONNECTION = {"connection", "content-length", "keep-alive", "transfer-encoding"}


@dataclass
class Operation:
    """One request to the database.

    `kind` is `read`, `query`, `create`, `upsert`, `replace`, `patch`, `delete`, `batch`, `read latest` (a batch that
    only reads), `changes`, the name of a stored procedure, or the method and path of anything else. `partition_key` is
    None if the request has none, as in a query over all partitions. `charge_ru` and `answered_session` are from the
    response.
    """

    kind: str
    container: str
    partition_key: str | None
    charge_ru: float = 0.0
    sent_session: str = ""
    answered_session: str = ""

    @classmethod
    async def of(cls, request: web.BaseRequest) -> Operation:
        """Classify a request."""
        match = _PATH.fullmatch(request.path)
        partition_key = request.headers.get("x-ms-documentdb-partitionkey")
        if match is None:
            return cls(f"{request.method} {request.path}", "", partition_key)
        container = match["container"]
        if match["kind"] == "sprocs":
            return cls(match["id"] or f"{request.method} sprocs", container, partition_key)
        kind = _kind(request, match["id"])
        if kind == "batch" and all(one["operationType"] == "Read" for one in json.loads(await request.read())):
            kind = "read latest"
        return cls(kind, container, partition_key)

    @property
    def name(self) -> str:
        """Kind and container, such as `read users`."""
        return f"{self.kind} {self.container}".strip()


def _kind(request: web.BaseRequest, item_id: str | None) -> str:
    if request.method == "POST":
        return next((kind for header, kind in _POSTED.items() if header in request.headers), "create")
    if request.method == "GET" and item_id is None:
        return "changes" if "A-IM" in request.headers else "feed"
    return _BY_METHOD[request.method]


Matches = Callable[[Operation], bool]
Forward = Callable[[], Awaitable[web.Response]]
Act = Callable[[web.BaseRequest, Forward], Awaitable[web.StreamResponse]]


def named(*names: str) -> Matches:
    """Match operations with one of these names."""
    return lambda operation: operation.name in names


@dataclass
class Held:
    """The operations that the gateway holds. They never get a response."""

    operations: list[Operation] = field(default_factory=list)


class Gateway:
    """Listens on a free local port in its own thread and forwards to `upstream`."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream.rstrip("/")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gateway", daemon=True)
        self._resources = AsyncExitStack()
        self._rules: list[tuple[Matches, Act]] = []
        self._recordings: list[list[Operation]] = []
        self.endpoint = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._resources.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def recording(self) -> Iterator[list[Operation]]:
        """Record the operations that arrive while this block runs."""
        operations: list[Operation] = []
        self._recordings.append(operations)
        try:
            yield operations
        finally:
            self._recordings.remove(operations)

    @contextmanager
    def answering(
        self, matches: Matches, status: int, *, headers: dict[str, str] | None = None, body: object = None
    ) -> Iterator[None]:
        """Respond to matching operations without the emulator; without `body`, with an error."""
        content = body if body is not None else {"code": str(status), "message": "The test refuses."}

        async def answer(_: web.BaseRequest, __: Forward) -> web.StreamResponse:
            return web.Response(
                status=status, headers=headers, body=json.dumps(content).encode(), content_type="application/json"
            )

        with self._rule(matches, answer):
            yield

    @contextmanager
    def losing(self, matches: Matches, *, applied: bool = False) -> Iterator[None]:
        """Close the connection instead of forwarding or, if `applied`, instead of responding."""

        async def close(request: web.BaseRequest, forward: Forward) -> web.StreamResponse:
            if applied:
                await forward()
            _abort(request)
            return web.Response()

        with self._rule(matches, close):
            yield

    @contextmanager
    def holding(self, matches: Matches, *, after: int = 0, applied: bool = False) -> Iterator[Held]:
        """Forward the first `after` matching operations and hold the others; if `applied`, hold only the responses.

        The end of the block closes their connections.
        """
        held, released = Held(), asyncio.Event()
        seen = 0

        async def hold(request: web.BaseRequest, forward: Forward) -> web.StreamResponse:
            nonlocal seen
            seen += 1
            if seen <= after:
                return await forward()
            if applied:
                await forward()
            held.operations.append(await Operation.of(request))
            await released.wait()
            _abort(request)
            return web.Response()

        try:
            with self._rule(matches, hold):
                yield held
        finally:
            self._loop.call_soon_threadsafe(released.set)

    @contextmanager
    def _rule(self, matches: Matches, act: Act) -> Iterator[None]:
        rule = (matches, act)
        self._rules.append(rule)
        try:
            yield
        finally:
            self._rules.remove(rule)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    async def _start(self) -> None:
        self._session = await self._resources.enter_async_context(
            ClientSession(auto_decompress=False, cookie_jar=DummyCookieJar(), timeout=ClientTimeout(total=60))
        )
        runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=1)
        await runner.setup()
        self._resources.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/"

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        operation = await Operation.of(request)
        operation.sent_session = request.headers.get(_SESSION, "")
        for operations in self._recordings:
            operations.append(operation)
        body = await request.read()

        async def forward() -> web.Response:
            return await self._forwarded(request, body, operation)

        for matches, act in list(self._rules):
            if matches(operation):
                return await act(request, forward)
        return await forward()

    async def _forwarded(self, request: web.BaseRequest, body: bytes, operation: Operation) -> web.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OF_THE_CONNECTION}
        url = URL(self._upstream + request.raw_path, encoded=True)
        async with self._session.request(request.method, url, headers=headers, data=body) as answer:
            operation.charge_ru = float(answer.headers.get("x-ms-request-charge", 0))
            operation.answered_session = answer.headers.get(_SESSION, "")
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_THE_CONNECTION}
            return web.Response(status=answer.status, headers=kept, body=await answer.read())


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()
