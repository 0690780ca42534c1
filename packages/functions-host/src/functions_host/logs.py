"""Logging to stderr, in color on a terminal.

Categories such as `Function.hello` are logger names, so `logging` applies the longest-prefix rule.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
# The host's own requests to Cosmos DB. In Azure, they are not in the app's log.
SDK = "Host.CosmosDB"
# The names of the functions.
LISTING = "Host.Functions"
# Logs each change of a file. The host logs those that reload the app.
_WATCHER = "watchfiles"
# ANSI: green, yellow, red
_COLORS = defaultdict(int, {logging.INFO: 32, logging.WARNING: 33, logging.ERROR: 31, logging.CRITICAL: 31})


class _ColorFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name in logging.Formatter
        level = f"\033[0;{_COLORS[record.levelno]}m{record.levelname}"
        return f"\033[2m{record.asctime} {level}\033[0;2m {record.name}\033[0m {record.message}"


class AcceptErrorFilter(logging.Filter):
    """Passes one error per second of connections that cannot be accepted; asyncio logs one for every attempt."""

    _next_s = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        if not record.getMessage().startswith("socket.accept()"):
            return True
        now = time.monotonic()
        if now < self._next_s:
            return False
        self._next_s = now + 1
        return True


def configure_logging(levels: Mapping[str, int], *, quiet: bool) -> None:
    """Log to stderr. `levels` maps categories, or `default`, to levels and overrides `quiet`.

    Microsoft's worker, too, sets the root logger to INFO and no other level (azure-functions-python-worker,
    workers/proxy_worker/dispatcher.py).
    """
    handler = logging.StreamHandler()
    in_color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    handler.setFormatter(_ColorFormatter(FORMAT) if in_color else logging.Formatter(FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    logging.getLogger("asyncio").addFilter(AcceptErrorFilter())
    for category in (SDK, _WATCHER, LISTING, "Host.Http", "Function") if quiet else (SDK, _WATCHER):
        logging.getLogger(category).setLevel(logging.WARNING)
    for category, level in levels.items():
        logging.getLogger(None if category.lower() == "default" else category).setLevel(level)
