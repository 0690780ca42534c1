"""Nothing accepts keys or passwords, old TLS versions, or, with private networking, requests from the internet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.bicep import INFRA, Template
from tests.infra.deployments import VARIANTS, deployment

each_variant = pytest.mark.parametrize("variant", VARIANTS)


def _only(variant: str, type_: str) -> dict[str, Any]:
    (body,) = deployment(variant).of_type(type_)
    return dict(body["properties"])


@each_variant
def test_keys_and_passwords_are_disabled(variant: str) -> None:
    passwords = deployment(variant).of_type("Microsoft.Web/sites/basicPublishingCredentialsPolicies")

    assert _only(variant, "Microsoft.DocumentDB/databaseAccounts")["disableLocalAuth"] is True
    assert _only(variant, "Microsoft.Storage/storageAccounts")["allowSharedKeyAccess"] is False
    assert _only(variant, "Microsoft.Insights/components")["DisableLocalAuth"] is True
    assert {body["name"]: body["properties"]["allow"] for body in passwords} == {"ftp": False, "scm": False}


@each_variant
def test_connections_need_tls_1_2(variant: str) -> None:
    site = _only(variant, "Microsoft.Web/sites")
    storage = _only(variant, "Microsoft.Storage/storageAccounts")

    assert site["httpsOnly"] is True
    assert (site["siteConfig"]["minTlsVersion"], site["siteConfig"]["scmMinTlsVersion"]) == ("1.2", "1.2")
    assert (storage["minimumTlsVersion"], storage["supportsHttpsTrafficOnly"]) == ("TLS1_2", True)
    assert _only(variant, "Microsoft.DocumentDB/databaseAccounts")["minimalTlsVersion"] == "Tls12"


def test_no_other_site_can_call_the_api_by_default() -> None:
    assert _only("defaults", "Microsoft.Web/sites")["siteConfig"]["cors"]["allowedOrigins"] == []
    assert _only("everything", "Microsoft.Web/sites")["siteConfig"]["cors"]["allowedOrigins"] == ["https://example.com"]


def test_with_private_networking_only_the_network_reaches_the_data() -> None:
    endpoints = deployment("everything").of_type("Microsoft.Network/privateEndpoints")
    connections = [body["properties"]["privateLinkServiceConnections"][0]["properties"] for body in endpoints]
    zones = deployment("everything").of_type("Microsoft.Network/privateDnsZones")

    for type_ in ("Microsoft.DocumentDB/databaseAccounts", "Microsoft.Storage/storageAccounts"):
        assert _only("everything", type_)["publicNetworkAccess"] == "Disabled"
    assert [connection["groupIds"] for connection in connections] == [["Sql"], ["blob"]]
    assert [zone["name"] for zone in zones] == ["privatelink.documents.azure.com", "privatelink.blob.core.windows.net"]
    assert _only("everything", "Microsoft.Web/sites")["virtualNetworkSubnetId"] is not None


def test_private_endpoints_are_created_one_at_a_time() -> None:
    """They share a subnet: see infra/network.bicep."""
    assert Template(INFRA / "network.bicep").declarations["endpoint"].decorator("batchSize") == 1


def test_the_network_is_optional() -> None:
    assert deployment().of_type("Microsoft.Network/virtualNetworks") == []
    assert _only("defaults", "Microsoft.Web/sites")["virtualNetworkSubnetId"] is None
