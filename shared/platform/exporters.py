"""Exports spans and metrics: to Application Insights, an OTLP endpoint, or both.

Imported only if one is set. OpenTelemetry reads its other settings from the environment (docs/settings.md).
"""

from __future__ import annotations

import os

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from shared.platform import NAME
from shared.platform.settings import SettingsError
from shared.platform.telemetry import KEPT

# The app uses these libraries, and Azure Monitor would instrument them.
_INSTRUMENTED = ("azure_sdk", "requests", "urllib", "urllib3")


def start() -> None:
    """Start the exporters that the environment configures. Raises SettingsError."""
    processors: list[SpanProcessor] = []
    readers: list[MetricReader] = []
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        processors.append(BatchSpanProcessor(OTLPSpanExporter()))
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
    if os.environ.get("APPLICATIONINSIGHTS_CONNECTION_STRING"):
        _start_azure_monitor(processors, readers)
        return
    resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or NAME})
    metrics.set_meter_provider(MeterProvider(readers, resource))
    if os.environ.get("OTEL_TRACES_EXPORTER") != "none":
        provider = TracerProvider(resource=resource)
        for processor in processors:
            provider.add_span_processor(processor)
        trace.set_tracer_provider(provider)


def _start_azure_monitor(processors: list[SpanProcessor], readers: list[MetricReader]) -> None:
    """Export to Application Insights, signed in with APPLICATIONINSIGHTS_AUTHENTICATION_STRING.

    The Functions host exports requests, the log and live metrics. The app exports only the log lines that must not be
    lost if the host drops them. The instrumentations would record the same requests to the database again, with their
    addresses, which can contain names. Raises SettingsError.
    """
    # Azure Monitor's own default ignores the decision of a span's parent.
    os.environ.setdefault("OTEL_TRACES_SAMPLER", "parentbased_always_on")
    from azure.monitor.opentelemetry import configure_azure_monitor

    try:
        configure_azure_monitor(
            span_processors=processors,
            metric_readers=readers,
            logger_name=KEPT,
            enable_live_metrics=False,
            enable_performance_counters=False,
            instrumentation_options={library: {"enabled": False} for library in _INSTRUMENTED},
        )
    except ValueError as error:
        raise SettingsError(
            f"set APPLICATIONINSIGHTS_CONNECTION_STRING to the connection string of Application Insights ({error})"
        ) from error
