"""The invocation context of functions that a test calls without a host."""

from __future__ import annotations

from types import SimpleNamespace

UNTRACED = SimpleNamespace(invocation_id="0", trace_context=SimpleNamespace(trace_parent=""))
