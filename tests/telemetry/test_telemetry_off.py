"""Without an exporter, the app does not use OpenTelemetry at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared import tracing

_REPOSITORY = Path(__file__).parents[2]
_LOADED = "import function_app, sys; print(*sorted(name for name in sys.modules if 'opentelemetry' in name))"


def _loaded(environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", _LOADED]
    done = subprocess.run(command, cwd=_REPOSITORY, env=environment, check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    return done.stdout.strip()


@pytest.mark.parametrize("value", [None, ""])
def test_without_an_exporter_nothing_of_opentelemetry_is_imported(value: str | None) -> None:
    names = ("APPLICATIONINSIGHTS_CONNECTION_STRING", "OTEL_EXPORTER_OTLP_ENDPOINT")

    loaded = _loaded({} if value is None else dict.fromkeys(names, value))

    assert loaded == ""


def test_with_an_endpoint_opentelemetry_is_imported() -> None:
    loaded = _loaded({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})

    assert "opentelemetry.sdk.trace" in loaded
    assert "azure.monitor.opentelemetry" not in loaded


def test_without_telemetry_items_have_no_trace() -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    with tracing.span("create_post", traceparent=traceparent) as span:
        assert tracing.stamp() == {}

    assert span.traceparent == traceparent
