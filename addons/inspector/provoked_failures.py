"""One line instead of a traceback for a delivery that fails because the tour makes the database fail."""

from __future__ import annotations

import logging

from addons.inspector.emulator_switches import SWITCHES
from shared.platform.deliveries.delivery import DATABASE_ERRORS
from shared.propagation.change_feeds import CHANGE_FEEDS


def shorten() -> None:
    """Change what the Functions host logs about the change-feed functions, which run in its process."""
    for feed in CHANGE_FEEDS.values():
        logging.getLogger(f"Function.{feed.function}").addFilter(_shortened)


def _shortened(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if SWITCHES.name == "faults" and isinstance(error, DATABASE_ERRORS):
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
        record.msg, record.args = "failed because the tour makes the database fail; the changes are delivered again", ()
    return True
