"""The settings of the app: one frozen object, read from the environment once, every fault reported together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Literal
from urllib.parse import urlsplit

Way = Literal["batch", "procedure"]

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class SettingsError(Exception):
    """A setting is missing or has a value that cannot be used."""


class AuthMode(StrEnum):
    """Where the identity of a command's caller comes from; the values of `BLOG_AUTH`."""

    FUNCTION_KEY = "function-key"
    OIDC = "oidc"
    APP_SERVICE = "app-service"


@dataclass(frozen=True)
class AuthSettings:
    """`issuer`, `audience` and `jwks_uri` are of the mode OIDC alone; without a `jwks_uri` the issuer is asked for it
    (OpenID Connect Discovery)."""

    mode: AuthMode = AuthMode.FUNCTION_KEY
    issuer: str = ""
    audience: str = ""
    jwks_uri: str | None = None

    @property
    def users_sign_in(self) -> bool:
        """Whether a command comes from a user, and not from a back end that names one."""
        return self.mode is not AuthMode.FUNCTION_KEY


@dataclass(frozen=True)
class Settings:
    """`account_key` is None where the app signs in to Cosmos DB with its identity (`DefaultAzureCredential`);
    `transactions` says how comments, likes and names are written (shared/transactions)."""

    account_endpoint: str
    # Not in the text of the object, which may end up in a log or an error.
    account_key: str | None = field(repr=False)
    database: str
    transactions: Way = "batch"
    auth: AuthSettings = AuthSettings()


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings from `environment`.

    `COSMOS` is a connection string; without it `COSMOS__accountEndpoint` names the account and `COSMOS__accountKey`,
    where given, its key. These are the names under which a Functions trigger looks up the connection `COSMOS`.
    Raises SettingsError, naming every fault and no value that may be secret.
    """
    faults = []
    connection = environment.get("COSMOS", "")
    parts = dict(part.split("=", 1) for part in connection.split(";") if "=" in part)
    endpoint = parts.get("AccountEndpoint") or environment.get("COSMOS__accountEndpoint", "")
    key = parts.get("AccountKey") or environment.get("COSMOS__accountKey") or None
    if connection and not (parts.get("AccountEndpoint") and parts.get("AccountKey")):
        faults.append("COSMOS must read AccountEndpoint=…;AccountKey=…;")
    elif not endpoint:
        faults.append("set COSMOS (a connection string) or COSMOS__accountEndpoint (to sign in with an identity)")
    database = environment.get("BLOG_DATABASE", "")
    if not database:
        faults.append("set BLOG_DATABASE, the name of the database")
    transactions = environment.get("BLOG_TRANSACTIONS") or "batch"
    if transactions not in ("batch", "procedure"):
        faults.append("BLOG_TRANSACTIONS is batch or procedure")
    auth, auth_faults = _read_auth(environment)
    _raise_any(faults + auth_faults)
    return Settings(
        account_endpoint=endpoint,
        account_key=key,
        database=database,
        transactions="procedure" if transactions == "procedure" else "batch",
        auth=auth,
    )


def read_auth_settings(environment: Mapping[str, str]) -> AuthSettings:
    """Read `BLOG_AUTH` and what belongs to it alone. Raises SettingsError, naming every fault."""
    auth, faults = _read_auth(environment)
    _raise_any(faults)
    return auth


def is_trustworthy_url(text: str) -> bool:
    """Whether what comes from this address comes from nobody else: https, or this very machine."""
    try:
        url = urlsplit(text)
        host = url.hostname
        _ = url.port  # raises for one that is no number
    except ValueError:
        return False
    safe = url.scheme == "https" or (url.scheme == "http" and host in _LOOPBACK)
    return bool(host) and safe and url.username is None and not url.fragment and text.isprintable() and " " not in text


def _read_auth(environment: Mapping[str, str]) -> tuple[AuthSettings, list[str]]:
    name = environment.get("BLOG_AUTH") or AuthMode.FUNCTION_KEY.value
    if name not in list(AuthMode):
        return AuthSettings(), [f"BLOG_AUTH must be one of {', '.join(AuthMode)}"]
    mode = AuthMode(name)
    if mode is AuthMode.OIDC:
        return _read_oidc(environment)
    # App Service says itself that it authenticates. Without it nobody strips the headers that a stranger forges.
    # https://learn.microsoft.com/azure/app-service/reference-app-settings#authentication--authorization
    if mode is AuthMode.APP_SERVICE and environment.get("WEBSITE_AUTH_ENABLED", "").lower() != "true":
        return AuthSettings(), [
            "BLOG_AUTH=app-service needs App Service authentication switched on (the platform then sets "
            "WEBSITE_AUTH_ENABLED)"
        ]
    return AuthSettings(mode), []


def _read_oidc(environment: Mapping[str, str]) -> tuple[AuthSettings, list[str]]:
    issuer = environment.get("BLOG_OIDC_ISSUER", "")
    audience = environment.get("BLOG_OIDC_AUDIENCE", "")
    jwks_uri = environment.get("BLOG_OIDC_JWKS_URI") or None
    faults = []
    if not is_trustworthy_url(issuer) or "?" in issuer:
        faults.append("set BLOG_OIDC_ISSUER, the issuer of the tokens: an https address (http for this machine alone)")
    if not audience:
        faults.append("set BLOG_OIDC_AUDIENCE, the audience that the tokens are made out to")
    if jwks_uri is not None and not is_trustworthy_url(jwks_uri):
        faults.append("BLOG_OIDC_JWKS_URI must be an https address (http for this machine alone)")
    return AuthSettings(AuthMode.OIDC, issuer, audience, jwks_uri), faults


def _raise_any(faults: list[str]) -> None:
    if faults:
        raise SettingsError("; ".join(faults))


@cache
def settings() -> Settings:
    """The settings of this process. Raises SettingsError."""
    return read_settings(os.environ)


@cache
def auth_settings() -> AuthSettings:
    """Those that say who may in, which are needed before the others: the functions are registered by them. Raises
    SettingsError."""
    return read_auth_settings(os.environ)
