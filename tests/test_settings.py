"""Settings: valid values, error messages, secrecy, and documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from shared.platform.settings import Account, AuthMode, SettingsError
from shared.settings import Settings
from tests.running_app import SETTING_NAMES, settings_of

ROOT = Path(__file__).parents[1]
# Read by the inspector.
OF_ADD_ONS = {
    "BLOG_ABOUT",
    "BLOG_ACCENT",
    "BLOG_TAGLINE",
    "BLOG_INSPECTOR",
    "BLOG_MODERATION",
    "BLOG_MODERATOR_ROLE",
    "BLOG_SEARCH",
}
KEY = "c2VjcmV0IGtleQ=="
CONNECTION = {"COSMOS": f"AccountEndpoint=http://localhost:8081/;AccountKey={KEY};", "BLOG_DATABASE": "blog"}


@pytest.mark.parametrize("environment", [{}, {"BLOG_AUTH": ""}, {"BLOG_AUTH": "function-key"}])
def test_function_keys_are_the_default(environment: dict[str, str]) -> None:
    assert settings_of(CONNECTION | environment).auth is AuthMode.FUNCTION_KEY


@pytest.mark.parametrize("name", ["oidc", "none", "anonymous", "App-Service", "app-service "])
def test_an_unknown_authentication_mode_is_rejected(name: str) -> None:
    with pytest.raises(SettingsError, match="set BLOG_AUTH to one of function-key, app-service"):
        settings_of(CONNECTION | {"BLOG_AUTH": name})


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(SettingsError, match=r"BLOG_AUTH.*BLOG_SITE_URL.*COSMOS.*BLOG_DATABASE"):
        settings_of({"BLOG_AUTH": "app", "BLOG_SITE_URL": "blog"})


@pytest.mark.parametrize("enabled", [None, "", "False", "0"])
def test_nobody_can_sign_in_without_the_platforms_authentication(enabled: str | None) -> None:
    environment = {"BLOG_AUTH": "app-service"} | ({} if enabled is None else {"WEBSITE_AUTH_ENABLED": enabled})

    assert not settings_of(CONNECTION | environment).can_sign_in
    assert settings_of(CONNECTION | environment | {"WEBSITE_AUTH_ENABLED": "True"}).can_sign_in
    assert not settings_of(CONNECTION | {"WEBSITE_AUTH_ENABLED": "True"}).can_sign_in


@pytest.mark.parametrize("name", ["APPLICATIONINSIGHTS_CONNECTION_STRING", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_telemetry_needs_an_exporter_and_can_be_disabled(name: str) -> None:
    exporting = CONNECTION | {name: "an exporter"}

    assert settings_of(CONNECTION).telemetry is False
    assert settings_of(CONNECTION | {name: ""}).telemetry is False
    assert settings_of(exporting).telemetry is True
    assert settings_of(exporting | {"OTEL_SDK_DISABLED": "True"}).telemetry is False
    assert settings_of(exporting | {"OTEL_SDK_DISABLED": "yes"}).telemetry is True


@pytest.mark.parametrize("url", ["", "https://blog.example", "http://localhost:7071", "https://[::1]:8080"])
def test_an_origin_is_a_site_url(url: str) -> None:
    assert settings_of(CONNECTION | {"BLOG_SITE_URL": url}).site_url == url


def test_a_site_url_can_end_with_a_slash() -> None:
    assert settings_of(CONNECTION | {"BLOG_SITE_URL": "https://blog.example/"}).site_url == "https://blog.example"


@pytest.mark.parametrize(
    "url",
    [
        "blog.example",
        "//blog.example",
        "ftp://blog.example",
        "https://",
        "https://blog.example//",
        "https://blog.example/blog",
        "https://a@b",
        "https://b?",
    ],
)
def test_anything_else_is_not(url: str) -> None:
    with pytest.raises(SettingsError, match="set BLOG_SITE_URL to an origin such as https://"):
        settings_of(CONNECTION | {"BLOG_SITE_URL": url})


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "two minutes"])
def test_a_delivery_deadline_must_be_whole_seconds(seconds: str) -> None:
    assert settings_of(CONNECTION | {"BLOG_DELIVERY_DEADLINE_S": "20"}).delivery_deadline_s == 20
    with pytest.raises(SettingsError, match="set BLOG_DELIVERY_DEADLINE_S to a whole number of seconds, at least 1"):
        settings_of(CONNECTION | {"BLOG_DELIVERY_DEADLINE_S": seconds})


def test_the_string_form_of_the_settings_omits_the_key() -> None:
    settings = settings_of(CONNECTION)

    assert settings.account.key == KEY
    assert KEY not in repr(settings) + str(settings) + f"{settings}"


@pytest.mark.parametrize("connection", [f"AccountKey={KEY};", f"AccountEndpoint=;AccountKey={KEY}", f"key {KEY}", KEY])
def test_settings_errors_do_not_quote_secrets(connection: str) -> None:
    with pytest.raises(SettingsError) as fault:
        settings_of({"COSMOS": connection, "BLOG_AUTH": KEY, "BLOG_DATABASE": "blog"})

    assert KEY not in "".join(traceback.format_exception(fault.value))


@pytest.mark.parametrize("key", [KEY[:-1], KEY[:-2], "c2VjcmV0IGtle?==", f" {KEY[1:]}", "é" * 8])
def test_an_account_key_must_be_base64(key: str) -> None:
    for environment in (
        {"COSMOS": f"AccountEndpoint=http://localhost:8081/;AccountKey={key};"},
        {"COSMOS__accountEndpoint": "https://a.example/", "COSMOS__accountKey": key},
    ):
        with pytest.raises(SettingsError, match=r"set COSMOS to AccountEndpoint=.*; set BLOG_DATABASE") as fault:
            settings_of(environment)
        assert key not in "".join(traceback.format_exception(fault.value))


@pytest.mark.parametrize(
    "endpoint", ["a.example", "localhost:8081", "http://", "https://a b/", "https://[::1", "ftp://a/"]
)
def test_an_account_endpoint_must_be_a_url(endpoint: str) -> None:
    for environment in (
        {"COSMOS": f"AccountEndpoint={endpoint};AccountKey={KEY};"},
        {"COSMOS__accountEndpoint": endpoint},
    ):
        with pytest.raises(SettingsError, match="set COSMOS to AccountEndpoint="):
            settings_of(environment | {"BLOG_DATABASE": "blog"})


@pytest.mark.parametrize("name", ["blog", "a b", " blog", "blog-1.2", "日本語"])
def test_a_database_has_any_other_name(name: str) -> None:
    assert settings_of(CONNECTION | {"BLOG_DATABASE": name}).database == name


@pytest.mark.parametrize("name", ["a/b", "/", "a\\", "#a", "a?", "blog ", " ", "a" * 256])
def test_a_database_cannot_have_a_name_that_cosmos_db_refuses(name: str) -> None:
    """https://learn.microsoft.com/rest/api/cosmos-db/create-a-database."""
    with pytest.raises(SettingsError, match="set BLOG_DATABASE to the name of the database, without"):
        settings_of(CONNECTION | {"BLOG_DATABASE": name})


def test_the_account_is_that_of_the_triggers() -> None:
    parts = {"COSMOS__accountEndpoint": "https://a.example/", "COSMOS__clientId": "x", "BLOG_DATABASE": "blog"}

    assert settings_of(parts).account == Account("https://a.example/", None)
    assert settings_of(parts | {"COSMOS__accountKey": KEY}).account == Account("https://a.example/", KEY)
    assert settings_of(parts | CONNECTION).account == Account("http://localhost:8081/", KEY)


def test_given_settings_take_precedence_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSMOS", f"AccountEndpoint=https://real.example/;AccountKey={KEY};")
    monkeypatch.setenv("COSMOS__accountKey", KEY)

    assert Settings(account=Account("http://localhost:1/"), database="blog").account.key is None


def test_the_app_does_not_start_with_an_unknown_authentication_mode() -> None:
    """Runs in its own process because settings are read once per process."""
    started = subprocess.run(
        [sys.executable, "-c", "import function_app"],
        cwd=ROOT,
        env={"BLOG_AUTH": "nobody"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode != 0
    assert "set BLOG_AUTH to one of function-key, app-service" in started.stderr


def documented() -> dict[str, list[str]]:
    """The table of docs/settings.md: the cells after each name."""
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").partition("## Authentication")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows}


def test_the_documentation_lists_exactly_the_settings_that_are_read() -> None:
    # A standard name, as are those in Telemetry.
    assert set(documented()) - OF_ADD_ONS == SETTING_NAMES - {"OTEL_SDK_DISABLED"}


def test_the_documentation_lists_the_values_and_the_defaults() -> None:
    table, defaults = documented(), settings_of(CONNECTION)

    assert re.findall(r"`(.+?)`", table["BLOG_AUTH"][0]) == list(AuthMode)
    assert table["BLOG_AUTH"][1] == f"`{defaults.auth}`"
    assert table["BLOG_DELIVERY_DEADLINE_S"][1] == f"`{defaults.delivery_deadline_s}`"
    assert table["BLOG_TRANSACTIONS"][1] == f"`{defaults.transactions}`"
    for way in re.findall(r"`(.+?)`", table["BLOG_TRANSACTIONS"][0]):
        assert settings_of(CONNECTION | {"BLOG_TRANSACTIONS": way}).transactions == way


def test_the_example_file_sets_only_documented_settings_to_valid_values() -> None:
    values = json.loads((ROOT / "local" / "local.settings.example.json").read_text(encoding="utf-8"))["Values"]
    of_the_host = {
        "FUNCTIONS_WORKER_RUNTIME",
        "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
        "AzureWebJobsStorage",
        "AzureWebJobsDisableHomepage",
    }
    # A managed identity uses the first two instead of a connection string. The platform sets WEBSITE_AUTH_ENABLED.
    of_azure = {"COSMOS__accountEndpoint", "COSMOS__accountKey", "WEBSITE_AUTH_ENABLED"}

    assert set(values) - of_the_host == set(documented()) - of_azure
    assert settings_of(values).auth is AuthMode.FUNCTION_KEY
