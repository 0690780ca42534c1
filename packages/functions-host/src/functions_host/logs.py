"""Logs on stderr, with the levels of host.json's `logging.logLevel`.

A category such as `Function.hello` is the name of a Python logger, so the longest-prefix rule is `logging`'s own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def configure_logging(levels: Mapping[str, int]) -> None:
    """Send records to stderr; `levels` maps categories (`default` for all others) to `logging` levels."""
    logging.basicConfig(format=FORMAT, level=logging.INFO)
    # At INFO the Azure SDKs log the headers of every single request.
    logging.getLogger("azure").setLevel(logging.WARNING)
    for category, level in levels.items():
        logging.getLogger(None if category.lower() == "default" else category).setLevel(level)
