"""A pytest plugin: the fixture `functions_app` runs an app in the test's process.

    def test_an_order_is_counted(cosmos, functions_app):
        orders = cosmos.client().create_database("shop").create_container("orders", PartitionKey("/customer"))
        app = functions_app("shop", connection="COSMOS")

        orders.create_item({"id": "1", "customer": "ada"})
        app.catch_up("count_order")

        assert app.client.get("/api/orders/ada").json() == {"count": 1}

The app runs on an event loop in a background thread, so the fixture works in synchronous tests and on any event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

import pytest

# pytest imports the plugin in every run, so the host and httpx are imported on use.
if TYPE_CHECKING:
    import httpx

    from . import FunctionsHost

TIMEOUT_S = 30.0

_log = logging.getLogger("Host.General")


class RunningFunctions:
    """An app that runs until the end of the test.

    `client` sends requests to it: its base URL is `url`, which ends without a slash.
    """

    def __init__(
        self, host: FunctionsHost, client: httpx.Client, run: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._host = host
        self._run = run
        self.client = client
        self.url = host.url

    def invoke(self, function_name: str, data: object = None) -> None:
        """Call a Cosmos DB function with a list of items, a timer function, or another with its trigger's argument.

        Raises InvocationError, whose cause is the function's exception, and KeyError for an unknown function.
        """
        from .functions import COSMOS, TIMER

        function = self._host.functions[function_name.lower()]
        payload = json.dumps(data or []) if function.type in (COSMOS, TIMER) else data
        self._run(self._host.invoke(function_name, payload))

    def outputs(self, function_name: str) -> list[dict[str, object]]:
        """Return what each call has set on outputs that this host does not write, such as those of queues, by name.

        Raises KeyError for an unknown function.
        """
        return list(self._host.outputs(function_name))

    def catch_up(self, function_name: str) -> None:
        """Wait until a Cosmos DB function has been called with all changes so far, and they are checkpointed.

        Raises TimeoutError after 30 s, and KeyError for another function.
        """
        self._run(self._host.catch_up(function_name))


class HostOptions(TypedDict, total=False):
    """Settings of HostSettings, which describes them."""

    host: str
    port: int | None
    cors: str | None
    cors_credentials: bool | None
    state_dir: Path | None
    quiet: bool
    local_settings: bool
    enable_auth: bool
    sign_in: bool
    allowed_hosts: tuple[str, ...]
    grace_s: float


class StartFunctions(Protocol):
    """The fixture `functions_app`."""

    def __call__(
        self,
        app_dir: Path | str,
        *,
        connection: str | None = None,
        environment: Mapping[str, str] | None = None,
        wait: bool = True,
        **settings: Unpack[HostOptions],
    ) -> RunningFunctions:
        """Start an app. `connection` is the setting for the connection string of the fixture `cosmos`.

        Raises HostStartError if the app or one of its functions is in error. With `wait`, every trigger listens, or
        ListenerStartError is raised. Timer state and keys are in a temporary directory.
        """


@pytest.fixture
def functions_app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartFunctions]:
    """Start an app: see StartFunctions."""
    if "cosmos" in request.fixturenames:
        request.getfixturevalue("cosmos")  # set up first, so that the app stops before the emulator
    with ExitStack() as running:

        def start(
            app_dir: Path | str,
            *,
            connection: str | None = None,
            environment: Mapping[str, str] | None = None,
            wait: bool = True,
            **settings: Unpack[HostOptions],
        ) -> RunningFunctions:
            own = {connection: request.getfixturevalue("cosmos").connection_string} if connection else {}
            if settings.get("state_dir") is None:
                settings["state_dir"] = tmp_path_factory.mktemp("functions_app")
            app = _started(Path(app_dir), {**own, **(environment or {})}, settings, wait=wait)
            return running.enter_context(app)

        yield start


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            # Raised by a task that the app has created; the function that awaits the task fails.
            _log.exception("a task of the app must not end the event loop")
        else:
            return


@contextmanager
def _started(
    app_dir: Path, environment: Mapping[str, str], settings: HostOptions, *, wait: bool
) -> Iterator[RunningFunctions]:
    import httpx

    from . import FunctionsHost, HostSettings, HostStartError

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run_until_stopped, args=(loop,), name="functions_app", daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, TIMEOUT_S), loop).result()

    options: HostOptions = {"port": 0, "local_settings": False, **settings}
    host = FunctionsHost(HostSettings(app_dir=app_dir, environment=environment, stub_bindings=True, **options))
    try:
        run(host.start())
        try:
            if host.errors:
                raise HostStartError("; ".join(f"function '{name}': {reason}" for name, reason in host.errors.items()))
            if wait:
                run(host.ready(retry=False))
            with httpx.Client(base_url=host.url, timeout=TIMEOUT_S, trust_env=False) as client:
                yield RunningFunctions(host, client, run)
        finally:
            run(host.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
