"""The deployed app as Azure's APIs show it, called with azd's sign-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import ClientSession
from azure.core.credentials_async import AsyncTokenCredential

_MANAGEMENT = "https://management.azure.com"
_INSIGHTS = "https://api.applicationinsights.io"
# Metrics arrive minutes late.
_IDLE = timedelta(minutes=10)

# A table exists once it has rows; the empty ones are for the time before.
_LOG_LINES = 'union isfuzzy=true traces, (datatable(message: string) []) | where message contains @"{0}" | count'
_DELIVERIES = """union isfuzzy=true dependencies, (datatable(name: string, customDimensions: dynamic) [])
| where tostring(customDimensions["_MS.links"]) contains "{0}" | distinct name"""
_ROLES = """union isfuzzy=true requests, dependencies, traces, (datatable(cloud_RoleName: string) [])
| distinct cloud_RoleName"""


class AzureApp:
    """An app in an azd environment, whose `values` `azd env get-values` prints."""

    def __init__(
        self,
        session: ClientSession,
        credential: AsyncTokenCredential,
        values: Mapping[str, str],
        *,
        management: str = _MANAGEMENT,
        insights: str = _INSIGHTS,
    ) -> None:
        self._session, self._credential = session, credential
        group = f"/subscriptions/{values['AZURE_SUBSCRIPTION_ID']}/resourceGroups/{values['AZURE_RESOURCE_GROUP']}"
        self._site = f"{management}{group}/providers/Microsoft.Web/sites/{values['AZURE_FUNCTION_NAME']}"
        self._query = f"{insights}/v1/apps/{values['APPLICATIONINSIGHTS_APP_ID']}/query"

    async def function_key(self) -> str:
        """Return the default key of all functions."""
        keys = await self._call("POST", f"{self._site}/host/default/listkeys", params={"api-version": "2024-04-01"})
        return str(keys["functionKeys"]["default"])

    async def is_idle(self) -> bool:
        """Return whether the app had instances in the last hour, but none in the last ten minutes.

        https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-web-sites-metrics
        """
        now = datetime.now(UTC)
        parameters = {
            "api-version": "2023-10-01",
            "metricnames": "InstanceCount",
            "aggregation": "Average",
            "interval": "PT1M",
            "timespan": f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}/{now:%Y-%m-%dT%H:%M:%SZ}",
        }
        (metric,) = (await self._call("GET", f"{self._site}/providers/Microsoft.Insights/metrics", parameters))["value"]
        points = [point for series in metric["timeseries"] for point in series["data"] if point.get("average")]
        running = [datetime.fromisoformat(point["timeStamp"]) for point in points]
        return bool(running) and now - max(running) > _IDLE

    async def log_lines(self, containing: str) -> int:
        ((count,),) = await self._rows(_LOG_LINES.format(containing.replace('"', '""')))
        return int(count)

    async def deliveries_caused_by(self, trace_id: str) -> Sequence[str]:
        return [name for (name,) in await self._rows(_DELIVERIES.format(trace_id))]

    async def role_names(self) -> Sequence[str]:
        return [name for (name,) in await self._rows(_ROLES)]

    async def _rows(self, query: str) -> Sequence[Sequence[Any]]:
        """Query Application Insights: https://learn.microsoft.com/rest/api/application-insights/query/execute."""
        return list((await self._call("POST", self._query, body={"query": query}))["tables"][0]["rows"])

    async def _call(
        self, method: str, url: str, params: Mapping[str, str] | None = None, body: object = None
    ) -> Mapping[str, Any]:
        audience = _INSIGHTS if url == self._query else _MANAGEMENT
        token = await self._credential.get_token(f"{audience}/.default")
        headers = {"Authorization": f"Bearer {token.token}"}
        async with self._session.request(method, url, params=params, json=body, headers=headers) as answer:
            assert answer.status == 200, (url, answer.status, await answer.text())
            return dict(await answer.json())
