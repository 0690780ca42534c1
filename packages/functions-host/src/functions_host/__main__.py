"""Command line: `python -m functions_host [--port 7071] [--app-dir .]`."""

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

_log = logging.getLogger("Host.Startup")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C or SIGTERM; 0 after an orderly end, 1 when the app cannot start."""
    given = _parse(arguments)
    settings = _settings(given)
    # Core Tools starts in the app's directory, and apps read files relative to it.
    os.chdir(settings.app_dir)
    host = FunctionsHost(settings, configure_logs=True)
    try:
        asyncio.run(_serve(host, held=given.hold))
    except (HostStartError, OSError) as error:
        sys.stderr.write(f"The host cannot start: {error}\n")
        return 1
    if host.has_running_threads:
        # A sync function that outlived the grace period would hold the interpreter for as long as it likes.
        logging.shutdown()
        os._exit(0)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m functions_host", description=__doc__)
    parser.add_argument("--app-dir", type=Path, default=Path(), help="directory of function_app.py")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="port, 0 for a free one (default: local.settings.json, then 7071)")
    parser.add_argument("--state-dir", type=Path, help="where timers keep their state")
    parser.add_argument("--cors", help="allowed origins, separated by commas")
    parser.add_argument("--cors-credentials", action=argparse.BooleanOptionalAction, help="allow credentials")
    parser.add_argument(
        "--hold", action="store_true", help="load the app, then wait for a line on standard input before listening"
    )
    given = parser.parse_args(arguments)
    if not given.app_dir.is_dir():
        parser.error(f"--app-dir: {given.app_dir} is not a directory")
    return given


def _settings(given: argparse.Namespace) -> HostSettings:
    return HostSettings(
        app_dir=given.app_dir.resolve(),
        host=given.host,
        port=given.port,
        cors=given.cors,
        cors_credentials=given.cors_credentials,
        state_dir=given.state_dir.resolve() if given.state_dir else None,
    )


async def _serve(host: FunctionsHost, *, held: bool) -> None:
    if held:
        host.load()
        # Nothing runs yet that this could hold up; the end of the input is that of whoever would have said to go on.
        if not sys.stdin.readline():
            return
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with host:
        for function in host.functions.values():
            _log.info("function=%s trigger=%s", function.name, function.type)
        _log.info("listening on %s", host.url)
        await stopping.wait()
        _log.info("stopping")


def _on_signals(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stopping.set)
        except NotImplementedError:
            # Windows event loops cannot; the plain handler runs in the main thread and wakes the loop.
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopping.set))


if __name__ == "__main__":
    sys.exit(main())
