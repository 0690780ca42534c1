"""Without an exporter and the inspector, the app uses OpenTelemetry's API, but not its SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared.platform import telemetry

pytestmark = pytest.mark.nightly

_REPOSITORY = Path(__file__).parents[3]
_BEYOND_THE_API = ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.instrumentation", "azure.monitor")
_LOADED = f"print(*sorted(name for name in sys.modules if name.startswith({_BEYOND_THE_API})))"
_STAMP = "from shared.platform import telemetry\nwith telemetry.span('a_test'): print(telemetry.trace_property())"
# Exits at once, because the exporters would try to reach their endpoint.
_EXIT = "sys.stdout.flush(); os._exit(0)"
_INSIGHTS = "InstrumentationKey=0b5be3f6-6b0a-4f0e-9d0e-6a1f6f3c2b11;IngestionEndpoint=http://127.0.0.1:9/"


def _started(environment: dict[str, str], code: str = _LOADED) -> subprocess.CompletedProcess[str]:
    """Import the app in its own process, then run `code`."""
    command = [sys.executable, "-c", f"import function_app, os, sys\n{code}\n{_EXIT}"]
    return subprocess.run(command, cwd=_REPOSITORY, env=environment, check=False, capture_output=True, text=True)  # noqa: S603 - our own code


def test_without_an_exporter_only_the_api_is_imported() -> None:
    started = _started({})

    assert (started.returncode, started.stdout) == (0, "\n")


@pytest.mark.parametrize("name", ["APPLICATIONINSIGHTS_CONNECTION_STRING", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_traces_can_be_disabled(name: str) -> None:
    endpoint = {"APPLICATIONINSIGHTS_CONNECTION_STRING": _INSIGHTS, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}

    started = _started({name: endpoint[name], "OTEL_TRACES_EXPORTER": "none"}, _STAMP)

    assert started.returncode == 0, started.stderr
    assert started.stdout == "{}\n"


def test_an_invalid_connection_string_is_named() -> None:
    started = _started({"APPLICATIONINSIGHTS_CONNECTION_STRING": "secret"})

    assert started.returncode != 0
    assert "set APPLICATIONINSIGHTS_CONNECTION_STRING to" in started.stderr


def test_with_an_endpoint_opentelemetry_is_imported() -> None:
    loaded = _started({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}).stdout.split()

    assert "opentelemetry.sdk.trace" in loaded
    assert "azure.monitor.opentelemetry" not in loaded


def test_without_telemetry_items_have_no_trace() -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    with telemetry.span("create_post", caller=traceparent):
        assert telemetry.trace_property() == {}
        assert telemetry.current_traceparent() == traceparent
