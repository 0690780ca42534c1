"""Settings, read once from the environment. docs/settings.md lists them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Literal, TypeVar
from urllib.parse import urlsplit

Way = Literal["batch", "procedure"]
Value = TypeVar("Value")

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class SettingsError(Exception):
    """A setting is missing or invalid. The message names all of them."""


class AuthMode(StrEnum):
    """How commands are authenticated: the values of `BLOG_AUTH`."""

    FUNCTION_KEY = "function-key"
    OIDC = "oidc"
    APP_SERVICE = "app-service"


@dataclass(frozen=True)
class AuthSettings:
    """All but `mode` apply to OIDC only. Without `jwks_uri`, discovery finds the keys.

    `client_id` identifies the web site to the issuer. Without it, users cannot sign in there.
    """

    mode: AuthMode = AuthMode.FUNCTION_KEY
    issuer: str = ""
    audience: str = ""
    jwks_uri: str | None = None
    client_id: str = ""

    @property
    def users_sign_in(self) -> bool:
        """Whether commands come from users instead of a trusted back end."""
        return self.mode is not AuthMode.FUNCTION_KEY


@dataclass(frozen=True)
class Settings:
    """All settings. Without `account_key`, the app uses `DefaultAzureCredential`."""

    account_endpoint: str
    account_key: str | None = field(repr=False)
    database: str
    transactions: Way = "batch"
    auth: AuthSettings = AuthSettings()
    batch_deadline_s: int = 150
    inspector: bool = False


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read all settings. Raises SettingsError without revealing secrets.

    `COSMOS` and `COSMOS__accountEndpoint` are the names that the change-feed triggers' `connection="COSMOS"` implies.
    """
    faults: list[str] = []
    connection = environment.get("COSMOS", "")
    parts = dict(part.split("=", 1) for part in connection.split(";") if "=" in part)
    endpoint = parts.get("AccountEndpoint") or environment.get("COSMOS__accountEndpoint", "")
    key = parts.get("AccountKey") or environment.get("COSMOS__accountKey") or None
    if connection and not (parts.get("AccountEndpoint") and parts.get("AccountKey")):
        faults.append("set COSMOS to AccountEndpoint=…;AccountKey=…;")
    elif not endpoint:
        faults.append("set COSMOS to a connection string, or COSMOS__accountEndpoint to use an identity")
    database = environment.get("BLOG_DATABASE", "")
    if not database:
        faults.append("set BLOG_DATABASE to the name of the database")
    ways: dict[str, Way] = {"": "batch", "batch": "batch", "procedure": "procedure"}
    way = ways.get(environment.get("BLOG_TRANSACTIONS", ""))
    if way is None:
        faults.append("set BLOG_TRANSACTIONS to batch or procedure")
    batch_deadline = environment.get("BLOG_BATCH_DEADLINE_S") or str(Settings.batch_deadline_s)
    if not batch_deadline.isdecimal() or int(batch_deadline) == 0:
        faults.append("set BLOG_BATCH_DEADLINE_S to a whole number of seconds, at least 1")
    inspector = _read_inspector(environment, faults)
    auth = _read_auth(environment, faults)
    if faults or way is None:
        raise SettingsError("; ".join(faults))
    return Settings(endpoint, key, database, way, auth, int(batch_deadline), inspector)


def read_auth_settings(environment: Mapping[str, str]) -> AuthSettings:
    """Read only the authentication settings. Raises SettingsError."""
    return _read_alone(_read_auth, environment)


def _read_alone(read: Callable[[Mapping[str, str], list[str]], Value], environment: Mapping[str, str]) -> Value:
    faults: list[str] = []
    value = read(environment, faults)
    if faults:
        raise SettingsError("; ".join(faults))
    return value


def is_trustworthy_url(text: str) -> bool:
    """Whether a response from this URL is authentic: https, or http on loopback."""
    try:
        url = urlsplit(text)
        host = url.hostname
        _ = url.port  # raises ValueError if invalid
    except ValueError:
        return False
    safe = url.scheme == "https" or (url.scheme == "http" and host in _LOOPBACK)
    return bool(host) and safe and url.username is None and not url.fragment and text.isprintable() and " " not in text


def _read_inspector(environment: Mapping[str, str], faults: list[str]) -> bool:
    """Read whether the inspector is enabled, and append what is wrong with the setting to `faults`."""
    value = environment.get("BLOG_INSPECTOR", "")
    if value not in ("", "0", "1"):
        faults.append("set BLOG_INSPECTOR to 1 to enable the inspector, or to 0")
    return value == "1"


def _read_auth(environment: Mapping[str, str], faults: list[str]) -> AuthSettings:
    """Read the authentication settings and append what is wrong with them to `faults`."""
    mode = environment.get("BLOG_AUTH") or AuthMode.FUNCTION_KEY
    if mode not in list(AuthMode):
        faults.append(f"set BLOG_AUTH to one of {', '.join(AuthMode)}")
        return AuthSettings()
    # If the platform does not authenticate, clients can forge the headers that this mode trusts.
    # https://learn.microsoft.com/azure/app-service/reference-app-settings#authentication--authorization
    if mode == AuthMode.APP_SERVICE and environment.get("WEBSITE_AUTH_ENABLED", "").lower() != "true":
        faults.append(
            "enable App Service authentication for BLOG_AUTH=app-service (the platform then sets WEBSITE_AUTH_ENABLED)"
        )
    if mode != AuthMode.OIDC:
        return AuthSettings(AuthMode(mode))
    issuer = environment.get("BLOG_OIDC_ISSUER", "")
    audience = environment.get("BLOG_OIDC_AUDIENCE", "")
    jwks_uri = environment.get("BLOG_OIDC_JWKS_URI") or None
    if not is_trustworthy_url(issuer) or "?" in issuer:
        faults.append("set BLOG_OIDC_ISSUER to the issuer's https URL (http on loopback only)")
    if not audience:
        faults.append("set BLOG_OIDC_AUDIENCE to the audience of the tokens")
    if jwks_uri is not None and not is_trustworthy_url(jwks_uri):
        faults.append("set BLOG_OIDC_JWKS_URI to an https URL (http on loopback only)")
    return AuthSettings(AuthMode.OIDC, issuer, audience, jwks_uri, environment.get("BLOG_OIDC_CLIENT_ID", ""))


@cache
def settings() -> Settings:
    """This process's settings. Raises SettingsError."""
    return read_settings(os.environ)


@cache
def auth_settings() -> AuthSettings:
    """This process's authentication settings, needed to register functions. Raises SettingsError."""
    return read_auth_settings(os.environ)


def inspector_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether pages have the inspector, needed to register functions. Raises SettingsError."""
    return _read_alone(_read_inspector, environment)


def telemetry_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether telemetry is exported. OpenTelemetry and Azure Monitor read the values themselves."""
    exporters = ("APPLICATIONINSIGHTS_CONNECTION_STRING", "OTEL_EXPORTER_OTLP_ENDPOINT")
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not is_disabled and any(environment.get(name) for name in exporters)
