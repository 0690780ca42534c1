"""Structured log lines: `event name=value …`.

Values are JSON, so input cannot end a line or forge a field. Never log bodies, keys, or whole items.
"""

from __future__ import annotations

import json
import logging

from shared.platform.name import NAME
from shared.platform.observability.spans import current_traceparent, is_recorded_by_host

_logger = logging.getLogger(NAME)
# The app exports this logger's lines itself (exporters.py), because the host drops the lines of traces that it does not
# record (`EnableTraceBasedLogsSampler`: https://github.com/Azure/azure-sdk-for-net/issues/61704).
KEPT = f"{NAME}.kept"
_kept = logging.getLogger(KEPT)
_KEPT_EVENTS = ("not authenticated",)
# At INFO, they log each request with its URL and partition key, which can contain names, and each token and export.
_SDKS = ("azure.core", "azure.cosmos", "azure.identity", "azure.monitor")


def limit_sdks() -> None:
    """Log only warnings of the Azure SDKs, because Microsoft's worker sets the root logger to INFO."""
    for name in _SDKS:
        logging.getLogger(name).setLevel(logging.WARNING)


def log(level: int, event: str, *, exception: BaseException | None = None, **fields: object) -> None:
    """Log one line, with the trace of the current span."""
    if traceparent := current_traceparent():
        fields["traceparent"] = traceparent
    text = " ".join([event, *(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())])
    must_be_kept = level >= logging.WARNING or event in _KEPT_EVENTS
    logger = _kept if must_be_kept and not is_recorded_by_host() else _logger
    logger.log(level, "%s", text, exc_info=exception)
