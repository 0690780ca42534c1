"""A pytest plugin: the fixture `functions_app` runs an app in the test's process.

    def test_an_order_is_counted(cosmos, functions_app):
        orders = cosmos.client().create_database("shop").create_container("orders", PartitionKey("/customer"))
        app = functions_app("shop", connection="COSMOS")

        orders.create_item({"id": "1", "customer": "ada"})
        app.catch_up("count_order")

        assert app.get("/api/orders/ada").json() == {"count": 1}

The app runs on an event loop in a background thread, so the fixture works in synchronous tests and on any event loop.
"""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from multidict import CIMultiDict

# pytest imports the plugin in every run, so the host is imported on use.
if TYPE_CHECKING:
    from . import FunctionsHost

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class AppResponse:
    """A response of an app. `headers` ignore case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the parsed body. Raises ValueError."""
        return json.loads(self.body)


class RunningFunctions:
    """An app that runs until the end of the test. `url` ends without a slash."""

    def __init__(self, host: FunctionsHost, run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._host = host
        self._run = run
        self.url = host.url

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> AppResponse:
        """Send a GET request."""
        return self.request("GET", path, headers=headers)

    def post(self, path: str, content: object, headers: Mapping[str, str] | None = None) -> AppResponse:
        """Send a POST request with JSON."""
        return self.request("POST", path, content, headers)

    def request(
        self, method: str, path: str, content: object = None, headers: Mapping[str, str] | None = None
    ) -> AppResponse:
        """Send a request, with JSON unless `content` is None."""
        data = None if content is None else json.dumps(content).encode()
        sent = {"Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, data, sent, method=method)  # noqa: S310 - our own address
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310 - a server on this machine
                return AppResponse(response.status, CIMultiDict(response.headers.items()), response.read())
        except urllib.error.HTTPError as error:
            with error:
                return AppResponse(error.code, CIMultiDict(error.headers.items()), error.read())

    def invoke(self, function_name: str, items: list[dict[str, Any]] | None = None) -> None:
        """Call a Cosmos DB function with items, or a timer function.

        Raises InvocationError, whose cause is the function's exception, and KeyError for an unknown function.
        """
        self._run(self._host.invoke(function_name, json.dumps(items or [])))

    def catch_up(self, function_name: str) -> None:
        """Wait until a Cosmos DB function has been called with all changes so far, and they are checkpointed.

        Raises TimeoutError after 30 s, and KeyError for another function.
        """
        self._run(self._host.catch_up(function_name))


@pytest.fixture
def functions_app(request: pytest.FixtureRequest) -> Iterator[Callable[..., RunningFunctions]]:
    """Start an app: `functions_app(app_dir, connection="COSMOS", environment={}, **settings)`.

    `connection` is the setting for the connection string of the fixture `cosmos`. `settings` are of HostSettings.
    """
    with ExitStack() as running:

        def start(
            app_dir: Path | str,
            *,
            connection: str | None = None,
            environment: Mapping[str, str] | None = None,
            **settings: Any,
        ) -> RunningFunctions:
            own = {connection: request.getfixturevalue("cosmos").connection_string} if connection else {}
            return running.enter_context(_started(Path(app_dir), {**own, **(environment or {})}, settings))

        yield start


@contextmanager
def _started(app_dir: Path, environment: Mapping[str, str], settings: dict[str, Any]) -> Iterator[RunningFunctions]:
    from . import FunctionsHost, HostSettings

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="functions_app", daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, TIMEOUT_S), loop).result()

    options = {"port": 0, "local_settings": False, **settings}
    host = FunctionsHost(HostSettings(app_dir=app_dir, environment=environment, **options))
    try:
        run(host.start())
        try:
            run(host.ready())
            yield RunningFunctions(host, run)
        finally:
            run(host.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
