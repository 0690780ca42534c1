"""Run the function app in this directory with a local Cosmos DB emulator."""

from __future__ import annotations

import signal

if __name__ == "__main__":
    # Before the other imports, because Ctrl-C would show a traceback until `stop_signals` waits for it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import asyncio
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from local.stack import StackError, StackSettings, http_routes, running, stop_signals
from management.local_settings import LocalSettingsError

_LARGEST_PORT = 65535
# The pages worth opening: their path, and the route of their function, which the app may not have.
_PAGES = {
    "Blog": ("", "{*path}"),
    "Tour": ("tour", "tour/{step?}"),
    "API": ("api/feed", "api/feed"),
    "Docs": ("api/docs", "api/docs"),
    "Health": ("api/health", "api/health"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C or SIGTERM. Returns 1 if the stack cannot start."""
    settings = _parse(arguments)
    try:
        asyncio.run(_run(settings))
    except (StackError, LocalSettingsError) as error:
        _say(f"The local stack cannot start: {str(error).rstrip('.')}.")
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> StackSettings:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument("--app-dir", type=Path, default=Path(), help="directory of function_app.py (default: .)")
    parser.add_argument("--port", type=int, default=7071, help="port of the app (default: 7071)")
    parser.add_argument("--cosmos-port", type=int, default=8081, help="port of the emulator (default: 8081)")
    parser.add_argument("--data-dir", type=Path, help="data directory (default: .data/cosmos in the app)")
    parser.add_argument("--memory", action="store_true", help="keep the database in memory only")
    parser.add_argument("--seed", action="store_true", help="add sample data if the database is empty")
    parser.add_argument("--verbose", action="store_true", help="log a line for each request and delivery")
    given = parser.parse_args(arguments)
    if not (given.app_dir / "function_app.py").is_file():
        parser.error(f"--app-dir: {given.app_dir} has no function_app.py")
    for option, port in (("--port", given.port), ("--cosmos-port", given.cosmos_port)):
        if not 1 <= port <= _LARGEST_PORT:
            parser.exit(1, f"{parser.prog}: error: {option} must be from 1 to {_LARGEST_PORT}\n")
    if given.port == given.cosmos_port:
        parser.exit(1, f"{parser.prog}: error: --port and --cosmos-port must differ\n")
    app_dir = given.app_dir.resolve()
    return StackSettings(
        app_dir=app_dir,
        port=given.port,
        cosmos_port=given.cosmos_port,
        data_dir=None if given.memory else (given.data_dir or app_dir / ".data" / "cosmos").resolve(),
        seed=given.seed,
        verbose=given.verbose,
    )


async def _run(settings: StackSettings) -> None:
    stopped = asyncio.create_task(stop_signals())
    serving = asyncio.create_task(_serve(settings))
    await asyncio.wait([stopped, serving], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        stopped.cancel()
        serving.result()
        return
    _say("\nStopping.")
    serving.cancel()
    await asyncio.wait([serving])
    if not serving.cancelled():
        serving.result()


async def _serve(settings: StackSettings) -> None:
    async with running(settings, _say):
        _say(_addresses(settings, await http_routes(settings)))
        await asyncio.Event().wait()


def _addresses(settings: StackSettings, routes: Collection[str]) -> str:
    """The addresses to open. `routes` are the routes of the app's HTTP functions."""
    rows = [
        *((name, f"{settings.url}/{path}") for name, (path, route) in _PAGES.items() if route in routes),
        ("Explorer", f"{settings.cosmos_url}/_explorer/"),
        ("Data", str(settings.data_dir or "in memory")),
    ]
    bold, plain = ("\033[1;36m", "\033[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    table = [f"  {bold}{name:<10}{plain} {address}" for name, address in rows]
    return "\n".join(["", *table, "", "  Press Ctrl-C to stop.", ""])


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
