"""Settings: what they may be, and that their secrets stay with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared.settings import AuthMode, AuthSettings, SettingsError, read_auth_settings, read_settings

ROOT = Path(__file__).parents[2]
KEY = "c2VjcmV0IGtleQ=="
CONNECTION = {"COSMOS": f"AccountEndpoint=http://localhost:8081/;AccountKey={KEY};", "BLOG_DATABASE": "blog"}
OIDC = {"BLOG_AUTH": "oidc", "BLOG_OIDC_ISSUER": "https://issuer.example/tenant", "BLOG_OIDC_AUDIENCE": "api://blog"}


@pytest.mark.parametrize("environment", [{}, {"BLOG_AUTH": ""}, {"BLOG_AUTH": "function-key"}])
def test_function_keys_are_the_default(environment: dict[str, str]) -> None:
    assert read_settings(CONNECTION | environment).auth == AuthSettings(AuthMode.FUNCTION_KEY)


@pytest.mark.parametrize("name", ["OIDC", "none", "anonymous", "oidc "])
def test_any_other_way_in_is_a_fault_that_names_those_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match="set BLOG_AUTH to one of function-key, oidc, app-service"):
        read_settings(CONNECTION | {"BLOG_AUTH": name})


def test_oidc_has_an_issuer_and_an_audience() -> None:
    settings = read_auth_settings(OIDC | {"BLOG_OIDC_JWKS_URI": ""})

    assert settings == AuthSettings(AuthMode.OIDC, "https://issuer.example/tenant", "api://blog", None)


def test_every_fault_is_named_at_once() -> None:
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
def test_an_issuer_that_anyone_can_pretend_to_be_is_a_fault(issuer: str) -> None:
    with pytest.raises(SettingsError, match="BLOG_OIDC_ISSUER"):
        read_auth_settings(OIDC | {"BLOG_OIDC_ISSUER": issuer})


@pytest.mark.parametrize("issuer", ["http://localhost:8080/x", "http://127.0.0.1", "http://[::1]:8080", "https://a.b/"])
def test_this_machine_and_https_can_be_trusted(issuer: str) -> None:
    assert read_auth_settings(OIDC | {"BLOG_OIDC_ISSUER": issuer}).issuer == issuer


@pytest.mark.parametrize("enabled", [None, "", "False", "0"])
def test_app_service_authentication_must_be_switched_on_where_it_is_declared(enabled: str | None) -> None:
    environment = {"BLOG_AUTH": "app-service"} | ({} if enabled is None else {"WEBSITE_AUTH_ENABLED": enabled})

    with pytest.raises(SettingsError, match="WEBSITE_AUTH_ENABLED"):
        read_auth_settings(environment)
    assert read_auth_settings(environment | {"WEBSITE_AUTH_ENABLED": "True"}).mode is AuthMode.APP_SERVICE


def test_the_key_is_in_no_text_of_the_settings() -> None:
    settings = read_settings(CONNECTION)

    assert settings.account_key == KEY
    assert KEY not in repr(settings) + str(settings) + f"{settings}"


@pytest.mark.parametrize("connection", [f"AccountKey={KEY};", f"AccountEndpoint=;AccountKey={KEY}", f"key {KEY}", KEY])
def test_no_fault_of_the_settings_quotes_a_secret(connection: str) -> None:
    with pytest.raises(SettingsError) as fault:
        read_settings({"COSMOS": connection, "BLOG_AUTH": KEY, "BLOG_DATABASE": "blog"})

    assert KEY not in str(fault.value)


def test_an_app_that_does_not_know_who_may_in_does_not_start() -> None:
    """In a process of its own: an app reads its settings once."""
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


def test_what_reads_tokens_is_imported_only_where_they_are_read() -> None:
    listing = subprocess.run(
        [sys.executable, "-c", "import sys, function_app; print('jwt' in sys.modules, 'cryptography' in sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert listing.stdout.split() == ["False", "False"]
