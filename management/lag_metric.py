"""Send the result of `manage.py lag` to Application Insights, for the alert `standstill` (infra/alerts.bicep)."""

from __future__ import annotations

from collections.abc import Mapping

from azure.identity import DefaultAzureCredential
from azure.monitor.opentelemetry.exporter import AzureMonitorMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

from shared.platform.settings import SettingsError
from shared.settings import Settings


def record_check(configuration: Settings, are_fine: Mapping[str, bool]) -> None:
    """Record 0 for each function that is fine, and 1 for each other. Without an account key, sign in as an identity.

    A failed export is logged. Raises SettingsError.
    """
    try:
        exporter = AzureMonitorMetricExporter(
            connection_string=configuration.application_insights,
            credential=None if configuration.account.key else DefaultAzureCredential(),
            disable_offline_storage=True,
        )
    except ValueError:
        raise SettingsError(
            "set APPLICATIONINSIGHTS_CONNECTION_STRING to the connection string of Application Insights"
        ) from None
    provider = MeterProvider([PeriodicExportingMetricReader(exporter)])
    check = provider.get_meter("blog").create_gauge("blog.change_feed.check", "1", "1 if a function is not fine")
    for function, is_fine in are_fine.items():
        check.set(int(not is_fine), {"blog.function": function})
    provider.shutdown()
