"""Log lines with fields: what happened, then `name=value`, never a body, a key or a whole item.

Values are written as JSON, so that no input can end a line or forge a field. The trace of the request or batch
(`traceparent`, https://www.w3.org/TR/trace-context/) is on every line written on its behalf.
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
    """Put `traceparent` on every line written inside this block; what is not one is left out."""
    valid = traceparent if traceparent and _TRACEPARENT.fullmatch(traceparent) else None
    token = _traceparent.set(valid)
    try:
        yield
    finally:
        _traceparent.reset(token)


def log(level: int, event: str, *, exception: BaseException | None = None, **fields: object) -> None:
    """Write one line: `event name=value …`, with the trace where there is one."""
    traceparent = _traceparent.get()
    if traceparent:
        fields["traceparent"] = traceparent
    text = " ".join([event, *(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())])
    _logger.log(level, "%s", text, exc_info=exception)
