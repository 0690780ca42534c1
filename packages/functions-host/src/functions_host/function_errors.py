"""Why functions of an app cannot be served."""

from __future__ import annotations

import logging

from .errors import FunctionIndexError

_log = logging.getLogger("Host.Startup")


class FunctionErrors(dict[str, str]):
    """The reasons by function name."""

    def add(self, name: str, error: FunctionIndexError) -> None:
        """Log and keep a reason."""
        _log.error("The '%s' function is in error: %s", name, error)
        self[name] = str(error)
