"""The function app's settings and scale match the code."""

from __future__ import annotations

import json

import pytest

from shared.http.calls import BODY_LIMIT
from shared.settings import AuthMode
from tests.infra.deployments import VARIANTS, app_settings, deployment
from tests.running_app import REPOSITORY, SETTING_NAMES, TRIGGERS, settings_of

# Keys are disabled, and the platform sets the last one.
NOT_SET = {"COSMOS", "COSMOS__accountKey", "WEBSITE_AUTH_ENABLED"}
# Of the Functions host and the SDKs. https://learn.microsoft.com/azure/azure-functions/functions-app-settings
OF_THE_PLATFORM = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AZURE_CLIENT_ID",
    "AzureFunctionsJobHost__logging__logLevel__default",
    "AzureWebJobsDisableHomepage",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
    "COSMOS__clientId",
    "COSMOS__credential",
    "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
}
# Flex Consumption has properties instead of these.
# https://learn.microsoft.com/azure/azure-functions/functions-app-settings#flex-consumption-plan-deprecations
REJECTED = {
    "ENABLE_ORYX_BUILD",
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "WEBSITE_RUN_FROM_PACKAGE",
}
# With any of these, creating the function app fails in some regions with "for Flex Consumption sites is invalid".
# https://github.com/Azure/terraform-azurerm-avm-res-web-site/pull/345
REJECTED_PROPERTIES = {
    "alwaysOn",
    "ftpsState",
    "functionAppScaleLimit",
    "functionsRuntimeScaleMonitoringEnabled",
    "linuxFxVersion",
    "netFrameworkVersion",
    "preWarmedInstanceCount",
    "use32BitWorkerProcess",
    "windowsFxVersion",
}


def _read_by_the_app() -> set[str]:
    return {name for name in SETTING_NAMES if name.startswith(("BLOG_", "COSMOS", "WEBSITE_"))}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_app_gets_every_setting_it_reads_and_no_others(variant: str) -> None:
    assert set(app_settings(variant)) == (_read_by_the_app() - NOT_SET) | OF_THE_PLATFORM
    assert set(app_settings(variant)) & REJECTED == set()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_app_has_no_property_that_flex_consumption_rejects(variant: str) -> None:
    (site,) = deployment(variant).of_type("Microsoft.Web/sites")

    assert site["properties"]["siteConfig"].keys() & REJECTED_PROPERTIES == set()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_app_accepts_its_settings(variant: str) -> None:
    settings = settings_of(app_settings(variant))

    assert settings.account.key is None
    assert settings.database == "blog"
    assert settings.inspector is False
    assert settings.auth is AuthMode.FUNCTION_KEY


def test_the_host_refuses_bodies_of_twice_the_apps_limit() -> None:
    """The app's own 413 needs room below: Microsoft's host closes the connection or answers 500."""
    example = json.loads((REPOSITORY / "local.settings.example.json").read_text(encoding="utf-8"))["Values"]

    assert example["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"] == str(2 * BODY_LIMIT)
    assert app_settings()["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"] == str(2 * BODY_LIMIT)


def test_the_triggers_and_the_app_use_the_same_identity() -> None:
    settings = app_settings()

    assert settings["COSMOS__credential"] == settings["AzureWebJobsStorage__credential"] == "managedidentity"
    client_ids = [settings[name] for name in ("AZURE_CLIENT_ID", "COSMOS__clientId", "AzureWebJobsStorage__clientId")]
    assert len(set(client_ids)) == 1
    assert settings["APPLICATIONINSIGHTS_AUTHENTICATION_STRING"] == f"Authorization=AAD;ClientId={client_ids[0]}"


def test_the_settings_are_documented() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")

    assert [name for name in _read_by_the_app() if f"`{name}`" not in page] == []


def test_instances_can_be_reserved_for_http_and_each_change_feed_function() -> None:
    (site,) = deployment("everything").of_type("Microsoft.Web/sites")
    (idle,) = deployment("defaults").of_type("Microsoft.Web/sites")
    scale = [each["properties"]["functionAppConfig"]["scaleAndConcurrency"] for each in (site, idle)]

    names = {entry["name"] for entry in scale[0]["alwaysReady"]}
    assert names == {"http", *(f"function:{trigger}" for trigger in TRIGGERS)}
    assert scale[1]["alwaysReady"] == []


def test_http_concurrency_is_explicit() -> None:
    (site,) = deployment().of_type("Microsoft.Web/sites")
    scale = site["properties"]["functionAppConfig"]["scaleAndConcurrency"]

    assert scale["triggers"]["http"]["perInstanceConcurrency"] == 50


def test_the_app_runs_the_python_version_that_is_tested_with_microsofts_worker() -> None:
    (site,) = deployment().of_type("Microsoft.Web/sites")
    tested = (REPOSITORY / "tests" / "azure_runtime" / "environment.py").read_text(encoding="utf-8")

    runtime = site["properties"]["functionAppConfig"]["runtime"]
    assert runtime["name"] == "python"
    assert f"python{runtime['version']}" in tested
