"""The templates match the code: containers, scripts, settings, functions and parameters."""

from __future__ import annotations

import json
import re
from typing import Any

from management.template import ADD_ONS
from shared.containers import container_definitions
from shared.platform.http.calls import BODY_LIMIT
from shared.platform.settings import AuthMode
from tests.blog import STORED_PROCEDURES
from tests.infra.conftest import Compiled
from tests.running_app import REPOSITORY, SETTING_NAMES, TRIGGERS, settings_of

CONTAINERS = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers"
PARAMETERS = json.loads((REPOSITORY / "infra" / "main.parameters.json").read_text(encoding="utf-8"))["parameters"]
# Keys are disabled, and the platform sets the last one.
NOT_SET = {"COSMOS", "COSMOS__accountKey", "WEBSITE_AUTH_ENABLED"}
# Of the Functions host and the SDKs. https://learn.microsoft.com/azure/azure-functions/functions-app-settings
OF_THE_PLATFORM = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AZURE_CLIENT_ID",
    "AZURE_TOKEN_CREDENTIALS",
    "AzureWebJobsDisableHomepage",
    "AzureWebJobsStorage__blobServiceUri",
    "AzureWebJobsStorage__clientId",
    "AzureWebJobsStorage__credential",
    "COSMOS__clientId",
    "COSMOS__credential",
    "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
    "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID",
    "FUNCTIONS_WORKER_PROCESS_COUNT",
    "WEBSITE_AUTH_AAD_ALLOWED_TENANTS",
}
# Of add-ons that need resources of their own.
OF_ADD_ONS = {f"BLOG_{name.upper()}" for name in ADD_ONS if (REPOSITORY / "infra" / f"{name}.bicep").exists()}


def _settings(compiled: Compiled) -> dict[str, str]:
    """Return the settings of the function app. Those that only Azure knows are an address."""
    defaults = {
        f"[parameters('{name}')]": given.get("defaultValue") for name, given in compiled.main["parameters"].items()
    }
    given = {name: defaults.get(value, value) for name, value in compiled.module("app")["settings"].items()}
    return {name: "https://only.azure.knows" if value.startswith("[") else value for name, value in given.items()}


def test_every_property_of_a_container_is_deployed(compiled: Compiled) -> None:
    (template,) = [one for one, _ in compiled.of_type(CONTAINERS) if "definition" in one["parameters"]]

    used = set(re.findall(r"parameters\('definition'\)(?:\.|, ')(\w+)", json.dumps(template["resources"])))
    assert used == {name for definition in container_definitions() for name in definition}


def test_every_script_is_deployed(compiled: Compiled) -> None:
    ((template, _),) = compiled.of_type(f"{CONTAINERS}/storedProcedures")

    texts = template["variables"]
    deployed = {name: texts[re.findall(r"'(.+)'", text)[0]] for name, text in texts["scripts"].items()}
    assert deployed == {path.stem: path.read_bytes().decode() for path in STORED_PROCEDURES.glob("*.js")}


def test_the_app_gets_every_setting_it_reads_and_no_others(compiled: Compiled) -> None:
    read_by_the_app = {name for name in SETTING_NAMES if name.startswith(("BLOG_", "COSMOS", "WEBSITE_"))}

    assert set(_settings(compiled)) == (read_by_the_app - NOT_SET) | OF_THE_PLATFORM | OF_ADD_ONS


def test_the_app_accepts_its_settings(compiled: Compiled) -> None:
    given = _settings(compiled)
    for mode in AuthMode:
        assert f"'{mode}'" in compiled.module("app")["settings"]["BLOG_AUTH"]
        settings = settings_of(given | {"BLOG_AUTH": mode, "WEBSITE_AUTH_ENABLED": "True"})

        assert (settings.account.key, settings.database) == (None, "blog")


def test_the_app_registration_has_no_secret_and_only_its_tokens_are_accepted(compiled: Compiled) -> None:
    ((_, authentication),) = compiled.of_type("Microsoft.Web/sites/config")
    text = json.dumps(authentication["properties"])

    assert "'OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID'" in text.replace('"', "'")
    assert "createArray(parameters('clientId'))" in text
    assert authentication["properties"]["globalValidation"]["requireAuthentication"] is False


def test_the_host_refuses_bodies_of_twice_the_apps_limit(compiled: Compiled) -> None:
    """The app's own 413 needs room below: Microsoft's host closes the connection or answers 500."""
    assert _settings(compiled)["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"] == str(2 * BODY_LIMIT)


def test_instances_can_be_reserved_for_each_change_feed_function(compiled: Compiled) -> None:
    ((template, _),) = compiled.of_type("Microsoft.Web/sites")

    assert set(re.findall(r"function:(\w+)", json.dumps(template["variables"]))) == set(TRIGGERS)


def test_the_app_runs_the_python_version_that_is_tested_with_microsofts_worker(compiled: Compiled) -> None:
    ((_, site),) = compiled.of_type("Microsoft.Web/sites")
    tested = (REPOSITORY / "tests" / "azure_runtime" / "environment.py").read_text(encoding="utf-8")

    assert f"python{site['properties']['functionAppConfig']['runtime']['version']}" in tested


def test_each_parameter_is_set_from_an_environment_variable(compiled: Compiled) -> None:
    # The developer is whoever deploys, and the month is now. An unset variable leaves the default.
    computed = ("principalId", "currentMonth")
    assert list(PARAMETERS) == [name for name in compiled.main["parameters"] if name not in computed]
    assert [value for value in PARAMETERS.values() if not re.fullmatch(r"\$\{[A-Z_]+\}", value["value"])] == []


def test_the_documented_parameters_have_the_defaults_of_the_template(compiled: Compiled) -> None:
    # The page about deployments has the parameters of the add-ons.
    pages = [(REPOSITORY / "docs" / name).read_text(encoding="utf-8") for name in ("parameters.md", "deploy.md")]
    documented: dict[str, str] = {}
    for row in re.findall(r"^\| (`.+?) \|(.*?)\|", "\n".join(pages), re.MULTILINE):
        names, defaults = (re.findall(r"`([^`]*)`", cell) for cell in row)
        # One default for all names of a row, or one for each.
        each = defaults if len(defaults) == len(names) else (defaults or [""]) * len(names)
        documented |= dict(zip(names, each, strict=True))

    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    assert documented == {
        given["value"].strip("${}"): text(compiled.main["parameters"][name]["defaultValue"])
        for name, given in PARAMETERS.items()
        if name not in ("environmentName", "location", "budgetStart")
    }
