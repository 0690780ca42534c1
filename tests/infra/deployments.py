"""The deployments that the tests look at."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.infra.bicep import INFRA, Deployment, Template

_REQUIRED = {"environmentName": "test", "location": "westeurope"}
# Together, these take both branches of every condition.
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {"principalId": "developer"},
    "everything": {
        "principalId": "developer",
        "transactions": "procedure",
        "cosmosCapacity": "autoscale",
        "alwaysReadyHttp": 1,
        "alwaysReadyChangeFeed": 1,
        "corsOrigins": ["https://example.com"],
        "privateNetworking": True,
        "alertEmail": "ops@example.com",
    },
    "minimum": {"availabilityTest": False},
}


@cache
def deployment(variant: str = "defaults") -> Deployment:
    """Return what infra/main.bicep yields with the parameters of a variant."""
    return Template(INFRA / "main.bicep").deploy(_REQUIRED | VARIANTS[variant])


def app_settings(variant: str = "defaults") -> dict[str, str]:
    """Return the settings of the function app."""
    (site,) = deployment(variant).of_type("Microsoft.Web/sites")
    return {setting["name"]: setting["value"] for setting in site["properties"]["siteConfig"]["appSettings"]}
