"""Metrics, with OpenTelemetry's API. Without an exporter, they record nothing."""

from __future__ import annotations

from opentelemetry import metrics

from shared.platform.name import NAME

meter = metrics.get_meter(NAME)

charge = meter.create_histogram(
    "azure.cosmosdb.client.operation.request_charge",
    "{request_unit}",
    "Charge of a call of the database",
    explicit_bucket_boundaries_advisory=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
)
lag = meter.create_histogram(
    f"{NAME}.change_feed.lag",
    "s",
    "Age of the oldest change of a delivery",
    explicit_bucket_boundaries_advisory=[1, 2, 5, 10, 30, 60, 300, 900, 3_600],
)
throttled = meter.create_counter(f"{NAME}.throttled", "{response}", "429 responses")
retries = meter.create_counter(f"{NAME}.retries", "{request}", "Requests that were sent again")
failures = meter.create_counter(f"{NAME}.change_feed.failures", "{change}", "Changes kept in `failures`")
