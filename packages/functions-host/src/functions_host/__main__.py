"""Run a Python v2 Azure Functions app locally."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from .errors import HostStartError
from .host import FunctionsHost
from .logs import LISTING
from .reloading import (
    SUPPORTED,
    delay_signals,
    inherited_sockets,
    interrupt_on_signals,
    replace_process,
    unavailable,
)
from .settings import HostSettings
from .source_files import Snapshot, next_change, snapshot
from .version import VERSION

_log = logging.getLogger("Host.Startup")
_listing = logging.getLogger(LISTING)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C or SIGTERM. Return 1 if the app cannot start."""
    interrupt_on_signals()
    try:
        return _run(_parse(arguments))
    except KeyboardInterrupt:
        return 0


def _run(options: argparse.Namespace) -> int:
    settings = _settings(options)
    sockets = inherited_sockets()
    directory, environment = str(Path.cwd()), dict(os.environ)
    # As in Core Tools, so that the app can read files relative to its directory.
    os.chdir(settings.app_dir)
    # Before the app is loaded, so that no later change is missed.
    files = snapshot(settings.app_dir) if options.reload else None
    host = FunctionsHost(settings, configure_logs=True, sockets=sockets)
    stopping = asyncio.Event()
    try:
        kept = asyncio.run(_serve(host, options, settings.app_dir, files, stopping, reloaded=bool(sockets)))
    except Exception as error:  # noqa: BLE001 - the app can raise anything while it is loaded
        if isinstance(error, (HostStartError, OSError)):
            sys.stderr.write(f"The host cannot start: {error}\n")
        else:
            traceback.print_exc()
        if not sockets:
            return 1
        stopping = asyncio.Event()  # an event belongs to one event loop
        kept = asyncio.run(_wait_for_change(sockets, settings.app_dir, files or {}, stopping))
    # A signal can arrive as late as the end of the event loop.
    if kept and not stopping.is_set():
        logging.shutdown()
        replace_process(kept, directory, environment)
    if host.has_running_threads:
        # The interpreter would wait for a sync function that outlived the grace period.
        logging.shutdown()
        os._exit(0)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="functions-host", description=__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    parser.add_argument("--app-dir", type=Path, default=Path(), help="directory of function_app.py (default: .)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, help="port, or 0 for a free one (default: LocalHttpPort in local.settings.json, or 7071)"
    )
    parser.add_argument(
        "--state-dir", type=Path, help="directory for timer state and keys (default: .data/functions-host in the app)"
    )
    parser.add_argument("--cors", help="comma-separated list of allowed origins, without spaces")
    parser.add_argument(
        "--cors-credentials", action=argparse.BooleanOptionalAction, help="allow cross-origin credentials"
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name to serve besides private names and IP addresses, or * for all; repeatable",
    )
    parser.add_argument(
        "--local-settings", action=argparse.BooleanOptionalAction, default=True, help="read local.settings.json"
    )
    parser.add_argument(
        "--enable-auth", "--enableAuth", action="store_true", help="check the keys of functions that are not anonymous"
    )
    parser.add_argument(
        "--sign-in", action="store_true", help="emulate App Service authentication, with a form to sign in"
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="do not list functions, name ignored settings, or log HTTP requests and successful invocations",
    )
    parser.add_argument(
        "--hold",
        action="store_true",
        help="load the app, then wait for a line on standard input before listening; with --quiet, name no address",
    )
    parser.add_argument(
        "--no-reload",
        dest="reload",
        action="store_false",
        default=SUPPORTED,
        help="do not reload the app when a source file changes (never on Windows)",
    )
    options = parser.parse_args(arguments)
    if not options.app_dir.is_dir():
        parser.error(f"--app-dir: {options.app_dir} is not a directory")
    return options


def _settings(options: argparse.Namespace) -> HostSettings:
    return HostSettings(
        app_dir=options.app_dir.resolve(),
        host=options.host,
        port=options.port,
        cors=options.cors,
        cors_credentials=options.cors_credentials,
        state_dir=options.state_dir.resolve() if options.state_dir else None,
        quiet=options.quiet,
        local_settings=options.local_settings,
        enable_auth=options.enable_auth,
        sign_in=options.sign_in,
        allowed_hosts=tuple(options.allowed_host),
    )


async def _serve(
    host: FunctionsHost,
    options: argparse.Namespace,
    app_dir: Path,
    files: Snapshot | None,
    stopping: asyncio.Event,
    *,
    reloaded: bool,
) -> list[socket.socket]:
    """Serve until a signal or, if `files` is given, until one of them changes. Return the sockets for a reload."""
    host.load()
    # Blocking is safe because no task runs yet. End of input means that the parent process has ended.
    if options.hold and not reloaded and not sys.stdin.readline():
        return []
    _on_signals(stopping, host)
    await host.start()
    _listing.info("functions: %s", ", ".join(sorted(function.name for function in host.functions.values())))
    if not (options.hold and options.quiet):
        _log.info("listening on %s", host.url)
    elif reloaded:
        _log.info("reloaded")
    changed = await _changed_file(app_dir, files, stopping)
    if changed is None:
        _log.info("stopping")
        await host.stop()
        return []
    _log.info("%s changed; reloading", changed)
    sockets = await host.hand_over()
    delay_signals()
    return sockets


async def _wait_for_change(
    sockets: list[socket.socket], app_dir: Path, files: Snapshot, stopping: asyncio.Event
) -> list[socket.socket]:
    """Refuse requests until a signal or until a file changes. Return the sockets."""
    sys.stderr.write("The host is waiting for the next change.\n")
    _on_signals(stopping, None)
    async with unavailable(sockets):
        await _changed_file(app_dir, files, stopping)
    delay_signals()
    return sockets


async def _changed_file(app_dir: Path, files: Snapshot | None, stopping: asyncio.Event) -> str | None:
    """Wait for a change or a signal. Return None for a signal."""
    stopped = asyncio.create_task(stopping.wait())
    if files is None:
        await stopped
        return None
    change = asyncio.create_task(next_change(app_dir, files))
    await asyncio.wait([stopped, change], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if stopping.is_set():
        change.cancel()
        return None
    return change.result()


def _on_signals(stopping: asyncio.Event, host: FunctionsHost | None) -> None:
    """Set `stopping` on the first Ctrl-C or SIGTERM, and exit with status 1 on the second."""
    loop = asyncio.get_running_loop()
    is_second = False

    # Not a handler of the event loop, which a function can block.
    def stop(*_: object) -> None:
        nonlocal is_second
        if is_second:
            calls = host.running_calls if host else []
            _log.warning("stopping at once; aborted calls: %s", ", ".join(calls) or "none")
            logging.shutdown()
            os._exit(1)
        is_second = True
        if loop.is_closed():
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(stopping.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


if __name__ == "__main__":
    sys.exit(main())
