"""Settings: valid values, error messages, secrecy, and documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from shared.settings import AuthMode, AuthSettings, SettingsError, read_auth_settings, read_settings, telemetry_enabled

ROOT = Path(__file__).parents[2]
KEY = "c2VjcmV0IGtleQ=="
CONNECTION = {"COSMOS": f"AccountEndpoint=http://localhost:8081/;AccountKey={KEY};", "BLOG_DATABASE": "blog"}
OIDC = {"BLOG_AUTH": "oidc", "BLOG_OIDC_ISSUER": "https://issuer.example/tenant", "BLOG_OIDC_AUDIENCE": "api://blog"}


class Recorder(Mapping[str, str]):
    """An environment that records which settings are read."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values_, self.read = values, set[str]()

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


@pytest.mark.parametrize("environment", [{}, {"BLOG_AUTH": ""}, {"BLOG_AUTH": "function-key"}])
def test_function_keys_are_the_default(environment: dict[str, str]) -> None:
    assert read_settings(CONNECTION | environment).auth == AuthSettings(AuthMode.FUNCTION_KEY)


@pytest.mark.parametrize("name", ["OIDC", "none", "anonymous", "oidc "])
def test_an_unknown_authentication_mode_is_rejected(name: str) -> None:
    with pytest.raises(SettingsError, match="set BLOG_AUTH to one of function-key, oidc, app-service"):
        read_settings(CONNECTION | {"BLOG_AUTH": name})


def test_oidc_reads_an_issuer_and_an_audience() -> None:
    settings = read_auth_settings(OIDC | {"BLOG_OIDC_JWKS_URI": ""})

    assert settings == AuthSettings(AuthMode.OIDC, "https://issuer.example/tenant", "api://blog", None)


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(SettingsError, match=r"COSMOS.*BLOG_DATABASE.*BLOG_OIDC_ISSUER.*BLOG_OIDC_AUDIENCE.*JWKS_URI"):
        read_settings({"BLOG_AUTH": "oidc", "BLOG_OIDC_JWKS_URI": "http://issuer.example/keys"})


@pytest.mark.parametrize(
    "issuer",
    [
        "",
        "issuer.example",
        "http://issuer.example",
        "http://localhost.example",
        "http://127.0.0.1.example",
        "https://",
        "https://user:password@issuer.example",
        "https://issuer.example/#x",
        "https://issuer.example/?x",
        "https://issuer.example:port",
        "https://issuer.example/\nx",
        "file:///etc/passwd",
        "https://[issuer",
    ],
)
def test_an_issuer_that_can_be_impersonated_is_rejected(issuer: str) -> None:
    with pytest.raises(SettingsError, match="BLOG_OIDC_ISSUER"):
        read_auth_settings(OIDC | {"BLOG_OIDC_ISSUER": issuer})


@pytest.mark.parametrize("issuer", ["http://localhost:8080/x", "http://127.0.0.1", "http://[::1]:8080", "https://a.b/"])
def test_https_and_loopback_issuers_are_accepted(issuer: str) -> None:
    assert read_auth_settings(OIDC | {"BLOG_OIDC_ISSUER": issuer}).issuer == issuer


@pytest.mark.parametrize("enabled", [None, "", "False", "0"])
def test_app_service_mode_requires_the_platforms_authentication(enabled: str | None) -> None:
    environment = {"BLOG_AUTH": "app-service"} | ({} if enabled is None else {"WEBSITE_AUTH_ENABLED": enabled})

    with pytest.raises(SettingsError, match="WEBSITE_AUTH_ENABLED"):
        read_auth_settings(environment)
    assert read_auth_settings(environment | {"WEBSITE_AUTH_ENABLED": "True"}).mode is AuthMode.APP_SERVICE


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "two minutes"])
def test_a_batch_deadline_must_be_whole_seconds(seconds: str) -> None:
    assert read_settings(CONNECTION | {"BLOG_BATCH_DEADLINE_S": "20"}).batch_deadline_s == 20
    with pytest.raises(SettingsError, match="set BLOG_BATCH_DEADLINE_S to a whole number of seconds, at least 1"):
        read_settings(CONNECTION | {"BLOG_BATCH_DEADLINE_S": seconds})


def test_the_string_form_of_the_settings_omits_the_key() -> None:
    settings = read_settings(CONNECTION)

    assert settings.account_key == KEY
    assert KEY not in repr(settings) + str(settings) + f"{settings}"


@pytest.mark.parametrize("connection", [f"AccountKey={KEY};", f"AccountEndpoint=;AccountKey={KEY}", f"key {KEY}", KEY])
def test_settings_errors_do_not_quote_secrets(connection: str) -> None:
    with pytest.raises(SettingsError) as fault:
        read_settings({"COSMOS": connection, "BLOG_AUTH": KEY, "BLOG_DATABASE": "blog"})

    assert KEY not in str(fault.value)


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
    assert "set BLOG_AUTH to one of function-key, oidc, app-service" in started.stderr


def test_token_libraries_are_not_imported_at_startup() -> None:
    listing = subprocess.run(
        [sys.executable, "-c", "import sys, function_app; print('jwt' in sys.modules, 'cryptography' in sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert listing.stdout.split() == ["False", "False"]


def documented() -> dict[str, list[str]]:
    """The table of docs/settings.md: the cells after each name."""
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").partition("## Authentication")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows}


def test_the_documentation_lists_exactly_the_settings_that_are_read() -> None:
    read = set()
    for environment in ({}, OIDC, {"BLOG_AUTH": "app-service"}):
        recorder = Recorder(environment)
        with pytest.raises(SettingsError):
            read_settings(recorder)
        telemetry_enabled(recorder)
        read |= recorder.read

    assert set(documented()) == read - {"OTEL_SDK_DISABLED"}  # a standard name, as are those in Telemetry


def test_the_documentation_lists_the_values_and_the_defaults() -> None:
    table, defaults = documented(), read_settings(CONNECTION)

    assert re.findall(r"`(.+?)`", table["BLOG_AUTH"][0]) == list(AuthMode)
    assert table["BLOG_AUTH"][1] == f"`{defaults.auth.mode}`"
    assert table["BLOG_BATCH_DEADLINE_S"][1] == f"`{defaults.batch_deadline_s}`"
    assert table["BLOG_TRANSACTIONS"][1] == f"`{defaults.transactions}`"
    for way in re.findall(r"`(.+?)`", table["BLOG_TRANSACTIONS"][0]):
        assert read_settings(CONNECTION | {"BLOG_TRANSACTIONS": way}).transactions == way


def test_the_example_file_sets_only_documented_settings_to_valid_values() -> None:
    values = json.loads((ROOT / "local.settings.example.json").read_text(encoding="utf-8"))["Values"]
    of_the_host = {
        "FUNCTIONS_WORKER_RUNTIME",
        "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT",
        "AzureWebJobsStorage",
        "AzureWebJobsDisableHomepage",
    }
    # A managed identity uses the first two instead of a connection string. The platform sets WEBSITE_AUTH_ENABLED.
    of_azure = {"COSMOS__accountEndpoint", "COSMOS__accountKey", "WEBSITE_AUTH_ENABLED"}

    assert set(values) - of_the_host == set(documented()) - of_azure
    assert read_settings(values).auth == AuthSettings()
