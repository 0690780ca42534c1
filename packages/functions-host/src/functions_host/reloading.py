"""Reload: the process replaces itself with a fresh interpreter.

The listening sockets stay open, so requests wait instead of failing. The process keeps its ID, so a parent process
does not notice the reload.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NoReturn

from aiohttp import web

# Windows cannot replace a process.
SUPPORTED = os.name == "posix"
_SOCKETS = "FUNCTIONS_HOST_SOCKETS"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def inherited_sockets() -> list[socket.socket]:
    """Return the listening sockets of the process before the reload. Empty on the first start."""
    sockets = [socket.socket(fileno=int(number)) for number in os.environ.pop(_SOCKETS, "").split()]
    for each in sockets:
        each.set_inheritable(False)
    return sockets


def interrupt_on_signals() -> None:
    """Raise KeyboardInterrupt on Ctrl-C or SIGTERM, also if it arrived during a reload."""

    # asyncio would replace signal.default_int_handler, and then a signal could not end an import.
    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in _SIGNALS:
        signal.signal(number, interrupt)
    if SUPPORTED:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def delay_signals() -> None:
    """Keep signals pending until the new interpreter can handle them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


def replace_process(sockets: Sequence[socket.socket], directory: str, environment: Mapping[str, str]) -> NoReturn:
    """Start over with the same command in its original directory and environment. Call `delay_signals` before."""
    sys.stdout.flush()
    for each in sockets:
        each.set_inheritable(True)
    os.chdir(directory)
    numbers = " ".join(str(each.fileno()) for each in sockets)
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, {**environment, _SOCKETS: numbers})  # noqa: S606 - this command started the host


@asynccontextmanager
async def unavailable(sockets: Sequence[socket.socket]) -> AsyncIterator[None]:
    """Answer requests with 503, as the real host does if it cannot start (HostAvailabilityCheckMiddleware.cs)."""

    async def refuse(_: web.BaseRequest) -> web.Response:
        return web.Response(status=503, text="Function host is not running.", headers={"Connection": "close"})

    runner = web.ServerRunner(web.Server(refuse, access_log=None), shutdown_timeout=1)
    await runner.setup()
    try:
        for each in sockets:
            await web.SockSite(runner, each.dup()).start()
        yield
    finally:
        await runner.cleanup()
