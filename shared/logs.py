"""Structured log lines: `event name=value …`.

Values are JSON, so input cannot end a line or forge a field. Never log bodies, keys, or whole items.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_logger = logging.getLogger("blog")
_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


@contextmanager
def traced(traceparent: str | None) -> Iterator[None]:
    """Add a W3C `traceparent` to every line logged in this block; ignore a malformed one."""
    valid = traceparent if traceparent and _TRACEPARENT.fullmatch(traceparent) else None
    token = _traceparent.set(valid)
    try:
        yield
    finally:
        _traceparent.reset(token)


def log(level: int, event: str, *, exception: BaseException | None = None, **fields: object) -> None:
    """Log one line."""
    traceparent = _traceparent.get()
    if traceparent:
        fields["traceparent"] = traceparent
    text = " ".join([event, *(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())])
    _logger.log(level, "%s", text, exc_info=exception)
