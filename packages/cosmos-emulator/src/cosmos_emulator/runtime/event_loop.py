"""The emulator's event loop."""

from __future__ import annotations

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return uvloop's loop if it is installed, because it needs less of the processor for each request."""
    try:
        import uvloop
    except ImportError:  # for example, on Windows
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
