"""Settings of every app on the platform, read once from the environment. An app can add its own in a subclass."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from shared.platform import NAME

# How the names of settings start.
_PREFIX = f"{NAME.upper()}_"


class SettingsError(Exception):
    """A setting is missing or invalid. The message names all of them."""


class AuthMode(StrEnum):
    """How commands are authenticated: the values of the setting `AUTH`."""

    FUNCTION_KEY = "function-key"
    APP_SERVICE = "app-service"

    @property
    def users_sign_in(self) -> bool:
        """Whether commands come from people who sign in, instead of a trusted back end."""
        return self is not AuthMode.FUNCTION_KEY


def _require_base64(key: str | None) -> str | None:
    # The SDK decodes the key for each request, so a truncated one would fail only then.
    if key is not None:
        base64.b64decode(key, validate=True)
    return key


@dataclass(frozen=True)
class Account:
    """A Cosmos DB account. Without `key`, the app uses `DefaultAzureCredential`."""

    endpoint: Annotated[str, Field(pattern=r"^https?://([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?/?$")]
    key: Annotated[str | None, AfterValidator(_require_base64)] = field(default=None, repr=False)


def _parse_account(value: object) -> object:
    """The account from the text of `COSMOS`, or from `COSMOS__account…`, whose names arrive in lower case."""
    if isinstance(value, str):
        parts = dict(part.split("=", 1) for part in value.split(";") if "=" in part)
        endpoint, key = parts.get("AccountEndpoint"), parts.get("AccountKey")
        if not (endpoint and key):
            raise ValueError
        return {"endpoint": endpoint, "key": key}
    if isinstance(value, dict):
        return {"endpoint": value.get("accountendpoint"), "key": value.get("accountkey")}
    return value


class AppSettings(BaseSettings):
    """The settings that are needed to register the functions. SettingsError shows a field's description as advice."""

    model_config = SettingsConfigDict(
        frozen=True,
        env_prefix=_PREFIX,
        env_ignore_empty=True,
        env_nested_delimiter="__",
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
        validate_default=True,
    )

    auth: AuthMode = Field(default=AuthMode.FUNCTION_KEY, description=f"one of {', '.join(AuthMode)}")
    # Set by the platform. https://learn.microsoft.com/azure/app-service/reference-app-settings#authentication--authorization
    platform_authenticates: str = Field(default="", validation_alias="WEBSITE_AUTH_ENABLED")
    site_url: Annotated[str, AfterValidator(lambda url: url.removesuffix("/"))] = Field(
        default="",
        pattern=r"^(https?://[^\s/?#@]+/?)?$",
        description="an origin such as https://www.example.com, without a path",
    )
    title: str = Field(
        default=f"The {NAME.title()}", min_length=1, max_length=60, description="a name of at most 60 characters"
    )
    application_insights: str = Field(default="", validation_alias="APPLICATIONINSIGHTS_CONNECTION_STRING", repr=False)
    otlp_endpoint: str = Field(default="", validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    telemetry_disabled: str = Field(default="", validation_alias="OTEL_SDK_DISABLED")

    @property
    def telemetry(self) -> bool:
        """Whether telemetry is exported. OpenTelemetry and Azure Monitor read the values themselves."""
        return self.telemetry_disabled.lower() != "true" and bool(self.application_insights or self.otlp_endpoint)

    @property
    def can_sign_in(self) -> bool:
        """Whether the platform authenticates callers. If it does not, clients can forge the headers about them.

        No documentation says that every plan sets its variable, and a deployment sets `AUTH` before it enables
        sign-in, so the app starts and refuses commands.
        """
        return self.auth.users_sign_in and self.platform_authenticates.lower() == "true"


class Settings(AppSettings):
    """All settings. The triggers' `connection="COSMOS"` determines the names of the settings of the account."""

    account: Annotated[Account, NoDecode, BeforeValidator(_parse_account)] = Field(
        validation_alias="COSMOS",
        description="AccountEndpoint=…;AccountKey=…;, or COSMOS__accountEndpoint to use an identity",
    )
    database: str = Field(
        pattern=r"^[^/\\#?]{0,254}[^/\\#? ]$",  # https://learn.microsoft.com/rest/api/cosmos-db/create-a-database
        description=r"the name of the database, without / \ # ? and not ending with a space",
    )
    delivery_deadline_s: PositiveInt = Field(default=150, description="a whole number of seconds, at least 1")


AnySettings = TypeVar("AnySettings", bound=AppSettings)


def read_settings(kind: type[AnySettings], **overrides: Any) -> AnySettings:
    """Read settings from the environment, except `overrides`. Raises SettingsError, which quotes no values."""
    try:
        return kind(**overrides)
    except ValidationError as error:
        places = {fault["loc"][0] for fault in error.errors(include_url=False, include_input=False)}
    # Pydantic names a field by its alias, or by its name if it has none or is nested.
    faulty = [(name, field) for name, field in kind.model_fields.items() if places & {name, field.validation_alias}]
    advice = (
        f"set {field.validation_alias or _PREFIX + name.upper()} to {field.description}" for name, field in faulty
    )
    raise SettingsError("; ".join(advice))


@cache
def settings() -> Settings:
    """This process's settings. Raises SettingsError."""
    return read_settings(Settings)


@cache
def app_settings() -> AppSettings:
    """This process's settings without the database's, needed to register functions. Raises SettingsError."""
    return read_settings(AppSettings)
