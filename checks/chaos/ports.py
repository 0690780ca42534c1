"""Ports for processes that are restarted."""

from __future__ import annotations

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """Return an unused port below those that systems give to connections, so that none takes it before the next start.

    They are from 32768 on Linux, and from 49152 on macOS and Windows.
    """
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
