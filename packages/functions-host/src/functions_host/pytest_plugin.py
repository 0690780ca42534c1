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
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent import futures
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
        self, host: FunctionsHost, client: httpx.Client, run: Callable[[Coroutine[Any, Any, None], float], None]
    ) -> None:
        self._host = host
        self._run = run
        self.client = client
        self.url = host.url

    def invoke(self, function_name: str, data: object = None) -> None:
        """Call a function once, without its retry policy.

        `data` is a list of dicts or Documents for a Cosmos DB function, a TimerRequest or None for a timer function,
        and otherwise the trigger's argument. Raises InvocationError, whose cause is the function's exception,
        LookupError for an unknown function, ValueError for an HTTP function, TypeError for other data, and TimeoutError
        after 30 s.
        """
        self._run(self._host.invoke(function_name, data), TIMEOUT_S)

    def outputs(self, function_name: str) -> list[dict[str, object]]:
        """Return what each call has set on outputs that this host does not write, such as queues, by name.

        `$return` is the value that an activity returns. Raises LookupError for an unknown function.
        """
        return list(self._host.outputs(function_name))

    def catch_up(self, function_name: str, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until all changes so far of a Cosmos DB function are handled and checkpointed, by any running app.

        Raises InvocationError if the function has failed since the last call and a batch is lost, TimeoutError after
        `timeout_s` seconds, which names the leases that are behind, LookupError for an unknown function, and ValueError
        for one without a Cosmos DB trigger.
        """
        # The host's own TimeoutError says more, but the app can block its event loop.
        self._run(self._host.catch_up(function_name, timeout_s), timeout_s + 5)


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

    def run(work: Coroutine[Any, Any, None], timeout_s: float = TIMEOUT_S) -> None:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        futures.wait([future], timeout_s)
        if not future.done():
            future.cancel()
            calls = ", ".join(host.running_calls) or "none"
            raise TimeoutError(f"the app has not responded within {timeout_s:g} s; running calls: {calls}")
        future.result()

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
