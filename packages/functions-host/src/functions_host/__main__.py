"""Run a Python v2 Azure Functions app locally."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import HostStartError
from .host import FunctionsHost
from .settings import HostSettings
from .version import VERSION

_log = logging.getLogger("Host.Startup")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C or SIGTERM. Return 1 if the app cannot start."""
    options = _parse(arguments)
    settings = _settings(options)
    # As in Core Tools, so that the app can read files relative to its directory.
    os.chdir(settings.app_dir)
    host = FunctionsHost(settings, configure_logs=True)
    try:
        asyncio.run(_serve(host, hold=options.hold))
    except (HostStartError, OSError) as error:
        sys.stderr.write(f"The host cannot start: {error}\n")
        return 1
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
        "--state-dir", type=Path, help="directory for timer state (default: .data/functions-host in the app)"
    )
    parser.add_argument("--cors", help="comma-separated list of allowed origins, without spaces")
    parser.add_argument(
        "--cors-credentials", action=argparse.BooleanOptionalAction, help="allow cross-origin credentials"
    )
    parser.add_argument(
        "--local-settings", action=argparse.BooleanOptionalAction, default=True, help="read local.settings.json"
    )
    parser.add_argument("--quiet", action="store_true", help="do not log HTTP requests and successful invocations")
    parser.add_argument(
        "--hold", action="store_true", help="load the app, then wait for a line on standard input before listening"
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
    )


async def _serve(host: FunctionsHost, *, hold: bool) -> None:
    if hold:
        host.load()
        # Blocking is safe because no task runs yet. End of input means that the parent process has ended.
        if not sys.stdin.readline():
            return
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with host:
        _log.info("functions: %s", ", ".join(sorted(function.name for function in host.functions.values())))
        _log.info("listening on %s", host.url)
        await stopping.wait()
        _log.info("stopping")


def _on_signals(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stopping.set)
        except NotImplementedError:
            # Event loops on Windows do not support signal handlers.
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopping.set))


if __name__ == "__main__":
    sys.exit(main())
