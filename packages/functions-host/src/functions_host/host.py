"""Host life cycle: load an app, serve it, shut down."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Self

import azure.functions as func

from .app_loader import find_script, importable, load_functions
from .app_settings import AppSettings, LocalSettings, app_environment, read_local_settings, split_origins
from .cosmos_connection import ClientCache
from .cosmos_trigger.listener import CosmosListener
from .errors import FunctionIndexError, InvocationError
from .function_bindings import FunctionBindings, parse_bindings
from .function_errors import FunctionErrors
from .functions import COSMOS, HTTP, TIMER, LoadedFunction, is_supported
from .host_json import HostConfig, read_host_config
from .http.admin import AdminApi
from .http.cors import CorsPolicy
from .http.keys import Keys
from .http.router import build_router
from .http.server import HttpServer
from .http.throttle import RequestThrottle
from .invocation import Invoker
from .listeners import Listener, ListenerSupervisor
from .logs import configure_logging
from .payloads import decode_documents, timer_argument
from .settings import HostSettings
from .timer_trigger.listener import TimerListener
from .trigger_thread import TriggerThread

_log = logging.getLogger("Host.Startup")

# The real host sets this for its worker (observed with 4.1037).
_THREADS = 1000


class FunctionsHost:
    """A running app, as an async context manager. `functions` are keyed by lowercase name.

    Until the host stops, the app's settings are in `os.environ` and its directory is on `sys.path`. Stop several hosts
    in one process in reverse order.
    """

    def __init__(
        self, settings: HostSettings, *, configure_logs: bool = False, sockets: Sequence[socket.socket] = ()
    ) -> None:
        """Create a host. `configure_logs` sends all logs to stderr. `sockets` replace the address and port."""
        self._settings = settings
        self._configure_logs = configure_logs
        self.url = ""
        self.state = "Default"
        self.app_dir = settings.app_dir.resolve()
        self.script = ""
        self.functions: dict[str, LoadedFunction] = {}
        self.disabled: dict[str, LoadedFunction] = {}
        self.errors = FunctionErrors()
        self.is_drained = False
        self._resources = AsyncExitStack()
        self._triggers = TriggerThread()
        self._clients = ClientCache()
        self._supervisor = ListenerSupervisor(())
        self._bindings: dict[str, FunctionBindings] = {}
        self._invoker = Invoker(None, None)
        self._server: HttpServer | None = None
        self._port = 0
        self._sockets = list(sockets)
        self._manual: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def has_running_threads(self) -> bool:
        """Whether a running sync function would keep the interpreter alive."""
        return self._invoker.running_threads > 0

    @property
    def running_calls(self) -> list[str]:
        """The names of the functions that are running, one for each call."""
        return self._invoker.running_calls

    def load(self) -> None:
        """Load the app ahead of `start`. Raises HostStartError."""
        self._server = self._load()

    async def start(self) -> None:
        """Load the app, listen and start the triggers. Raises HostStartError, or OSError if the port is in use."""
        try:
            server = self._server = self._server or self._load()
            self._invoker.open()
            await self._resources.enter_async_context(self._triggers)
            self._resources.push_async_callback(lambda: self._triggers.run(self._clients.close()))
            await self._listen(server)
        except BaseException:
            await self._resources.aclose()
            raise
        await self._triggers.run(self._start_triggers())
        self.state = "Running"

    async def _start_triggers(self) -> None:
        self._timekeeper = asyncio.create_task(self._invoker.enforce_timeout())
        self._supervisor.start()

    def _load(self) -> HttpServer:
        app_dir = self.app_dir
        local = read_local_settings(app_dir) if self._settings.local_settings else LocalSettings()
        # As on the platform, where an app setting of this name wins.
        signed = {"WEBSITE_AUTH_ENABLED": "True"} if self._settings.sign_in else {}
        environment = {**signed, **self._settings.environment}
        settings = self._resources.enter_context(app_environment(local, environment, quiet=self._settings.quiet))
        os.environ.setdefault("PYTHON_THREADPOOL_THREAD_COUNT", str(_THREADS))
        config = read_host_config(app_dir, settings)
        if self._configure_logs:
            configure_logging(config.log_levels, quiet=self._settings.quiet)
        self.script = find_script(app_dir, settings)
        self._resources.enter_context(importable(app_dir, self.script))
        loaded = load_functions(self.script, self.errors, stub_bindings=self._settings.stub_bindings)
        functions, bindings = self._bound([function for function in loaded if config.serves(function.name)], settings)
        self.disabled.update({f.name.lower(): f for f in functions if _is_disabled(f.name, settings)})
        self._bindings = bindings
        self._invoker = Invoker(config.function_timeout_s, _thread_count(settings), bindings)
        self._resources.callback(self._invoker.close)
        enabled = [function for function in functions if function.name.lower() not in self.disabled]
        self._supervisor = ListenerSupervisor(self._listeners(enabled, settings, config))
        self._port = local.port if self._settings.port is None else self._settings.port
        return self._http_server(functions, settings, config, local)

    async def stop(self) -> None:
        """Stop listening, wait up to `grace_s` for running calls, cancel the others, and restore the environment."""
        self.state = "Stopping"
        self._close_sockets()  # so that connections are refused while requests end
        await asyncio.gather(self._stop_triggers(drain=self.is_drained), self._finish_manual(), self._stop_server())
        await self._resources.aclose()
        self.state = "Stopped"

    async def _stop_triggers(self, *, drain: bool) -> None:
        await self._triggers.run(self._supervisor.stop(drain=drain, grace_s=self._settings.grace_s))

    async def _finish_manual(self) -> None:
        if self._manual:
            _, late = await asyncio.wait(self._manual, timeout=self._settings.grace_s)
            for task in late:
                task.cancel()

    async def _stop_server(self) -> None:
        if self._server is not None:
            await self._server.stop()

    async def hand_over(self) -> list[socket.socket]:
        """Stop; running batches are checkpointed. Return the sockets, which still queue connections."""
        self.is_drained = True
        sockets, self._sockets = self._sockets, []
        await self.stop()
        return sockets

    async def ready(self, *, retry: bool = True) -> None:
        """Wait until every trigger is listening.

        Without `retry`, raises ListenerStartError if one cannot listen at once.
        """
        await self._triggers.run(self._supervisor.started() if retry else self._supervisor.started_at_once())

    async def drain(self) -> None:
        """Stop the listeners permanently. Running batches are checkpointed."""
        self.is_drained = True
        await self._stop_triggers(drain=True)

    def is_listening(self, function_name: str) -> bool:
        """Return whether a function's trigger is listening."""
        function = self.functions.get(function_name.lower())
        if function is not None and function.type == HTTP:
            return True
        return self._supervisor.is_listening(function_name)

    def trigger(self, function: LoadedFunction, payload: str) -> None:
        """Invoke a function in the background. Raises ValueError for an invalid payload."""
        if function.type == HTTP:
            _log.error("function=%s manual invocation failed: an HTTP request is required", function.name)
            return
        task = asyncio.create_task(self._invoke_manually(function, _manual_argument(function, payload)))
        self._manual.add(task)
        task.add_done_callback(self._manual.discard)

    async def _invoke_manually(self, function: LoadedFunction, argument: object) -> None:
        try:
            await self._invoker.invoke(function, {function.argument: argument})
        except InvocationError as error:
            _log.info("function=%s manual invocation failed: %s", function.name, error)

    async def invoke(self, function_name: str, data: object = None) -> None:
        """Call a Cosmos DB function with a list of items, dicts or Documents, or a timer function with a TimerRequest.

        Without `data`, the list is empty, and the timer is not past due. The function of another trigger
        (`stub_bindings`) receives `data` itself. Retry policies do not apply. Raises InvocationError, LookupError for
        an unknown function, ValueError for an HTTP function, and TypeError for other data.
        """
        function = self._function(function_name)
        await self._invoker.invoke(function, {function.argument: _argument(function, data)})

    def _function(self, name: str) -> LoadedFunction:
        function = self.functions.get(name.lower())
        if function is None:
            names = ", ".join(sorted(each.name for each in self.functions.values()))
            raise LookupError(f"the app has no enabled function '{name}', only: {names or 'none'}")
        return function

    def outputs(self, function_name: str) -> list[dict[str, object]]:
        """Return what each call of a function set on outputs that this host does not write (`stub_bindings`).

        Raises LookupError for an unknown function.
        """
        bindings = self._bindings.get(self._function(function_name).name)
        return [] if bindings is None else bindings.stubbed

    async def catch_up(self, function_name: str, timeout_s: float = 30.0) -> None:
        """Wait until a Cosmos DB function's changes so far are checkpointed, by this host or another.

        Raises LookupError for an unknown function, ValueError for one without a Cosmos DB trigger, InvocationError if
        the function failed since the last call and a batch is lost, and TimeoutError with the leases that are behind.
        """
        function = self._function(function_name)
        listener = self._supervisor.listener(function_name)
        if not isinstance(listener, CosmosListener):
            raise ValueError(f"function '{function.name}' has no Cosmos DB trigger, but a {function.type}")  # noqa: TRY004
        await self._triggers.run(listener.catch_up(timeout_s))

    def _bound(
        self, functions: list[LoadedFunction], settings: AppSettings
    ) -> tuple[list[LoadedFunction], dict[str, FunctionBindings]]:
        """Return the functions whose bindings are valid, and these bindings by function name."""
        valid: list[LoadedFunction] = []
        bindings: dict[str, FunctionBindings] = {}
        for function in functions:
            try:
                bound = parse_bindings(function, settings, self._clients, self._triggers)
            except FunctionIndexError as error:
                self.errors.add(function.name, error)
                continue
            valid.append(function)
            if bound is not None:
                bindings[function.name] = bound
        return valid, bindings

    def _listeners(self, functions: list[LoadedFunction], settings: AppSettings, config: HostConfig) -> list[Listener]:
        listeners: list[Listener] = []
        for function in functions:
            retry = function.retry or config.retry
            try:
                if function.type == COSMOS:
                    parses = config.parses_dates
                    listeners.append(
                        CosmosListener(function, self._invoker, settings, self._clients, retry, parses_dates=parses)
                    )
                elif function.type == TIMER:
                    state_dir = self._settings.effective_state_dir
                    listeners.append(TimerListener(function, self._invoker, settings, state_dir, retry))
                elif is_supported(function.trigger):
                    continue  # HTTP functions, which the router serves
            except FunctionIndexError as error:
                self.errors.add(function.name, error)
            else:
                self._serve(function)
        return listeners

    def _http_server(
        self,
        functions: list[LoadedFunction],
        settings: AppSettings,
        config: HostConfig,
        local: LocalSettings,
    ) -> HttpServer:
        router = build_router((f for f in functions if f.type == HTTP), config.route_prefix, self.errors)
        for route in router.routes:
            if route.function.name.lower() not in self.disabled:
                self._serve(route.function)
        return HttpServer(
            router,
            self._invoker,
            AdminApi(self, config.route_prefix),
            self._cors(local),
            keys=self._keys(route.function for route in router.routes),
            throttle=RequestThrottle(config.max_outstanding_requests, config.max_concurrent_requests),
            custom_headers=config.custom_headers,
            allowed_hosts=self._settings.allowed_hosts,
            body_limit=config.body_limit,
            home_page=not settings.is_true("AzureWebJobsDisableHomepage"),
            has_sign_in=self._settings.sign_in,
            has_telemetry=config.has_telemetry,
            retry=config.retry,
            calls_for_nobody=config.calls_for_nobody,
            disabled=self.disabled,
            grace_s=self._settings.grace_s,
        )

    def _keys(self, functions: Iterable[LoadedFunction]) -> Keys | None:
        if not self._settings.enable_auth:
            return None
        directory = self._settings.effective_state_dir / "secrets"
        _log.info("requests require the keys in %s", directory)
        return Keys(directory, functions)

    async def _listen(self, server: HttpServer) -> None:
        self._resources.push_async_callback(server.stop)
        self._resources.callback(self._close_sockets)
        if not self._sockets:
            self._sockets = await _bound_sockets(self._settings.host, self._port)
        await server.start(self._sockets)
        host, port = self._settings.host, self._sockets[0].getsockname()[1]
        authority = f"{f'[{host}]' if ':' in host else host}:{port}"
        self.url = f"http://{authority}"
        os.environ["WEBSITE_HOSTNAME"] = authority

    def _close_sockets(self) -> None:
        for each in self._sockets:
            each.close()

    def _serve(self, function: LoadedFunction) -> None:
        self.functions[function.name.lower()] = function

    def _cors(self, local: LocalSettings) -> CorsPolicy:
        origins, credentials = self._settings.cors, self._settings.cors_credentials
        return CorsPolicy(
            local.cors_origins if origins is None else split_origins(origins),
            local.cors_credentials if credentials is None else credentials,
        )


async def _bound_sockets(host: str, port: int) -> list[socket.socket]:
    """Bind every address of a host. Raises OSError if the port is in use."""
    loop = asyncio.get_running_loop()
    async with await loop.create_server(asyncio.Protocol, host, port, start_serving=False) as server:
        return [each.dup() for each in server.sockets]


def _manual_argument(function: LoadedFunction, payload: str) -> object:
    if function.type == HTTP:
        raise ValueError("an HTTP function needs a request")
    if function.type != COSMOS:
        return timer_argument(function, past_due=False, status=None)
    if not isinstance(json.loads(payload or "[]"), list):
        raise ValueError("the input of a Cosmos DB function must be a JSON array of items")  # noqa: TRY004 - a payload
    return decode_documents(function.argument_type, payload or "[]")


def _argument(function: LoadedFunction, data: object) -> object:
    if function.type == HTTP:
        raise ValueError(f"function '{function.name}' has an HTTP trigger: send a request, in a test with app.client")
    if function.type == COSMOS:
        if data is not None and not isinstance(data, Sequence):
            raise TypeError(f"function '{function.name}' needs a list of items, not {data!r}")
        items = [item.to_dict() if isinstance(item, func.Document) else item for item in data or ()]
        return decode_documents(function.argument_type, json.dumps(items))
    if function.type == TIMER:
        if data is None:
            return timer_argument(function, past_due=False, status=None)
        if not isinstance(data, func.TimerRequest):
            raise TypeError(f"function '{function.name}' needs a TimerRequest or nothing, not {data!r}")
        if function.argument_type in (str, bytes):
            return timer_argument(function, past_due=data.past_due, status=None)
    return data


def _is_disabled(name: str, settings: AppSettings) -> bool:
    switches = (f"AzureWebJobs.{name}.Disabled", f"AzureWebJobs_{name}_Disabled")
    if any(settings.is_true(switch) for switch in switches):
        _log.info("Function %s is disabled", name)
        return True
    return False


def _thread_count(settings: AppSettings) -> int | None:
    text = settings.get("PYTHON_THREADPOOL_THREAD_COUNT") or str(_THREADS)
    if text.isdigit() and int(text) > 0:
        return int(text)
    _log.warning("PYTHON_THREADPOOL_THREAD_COUNT: %r is not a positive integer; using Python's default", text)
    return None
