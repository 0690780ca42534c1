"""The settings of the moderation."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from shared.platform.settings import AppSettings, read_settings


class ModerationSettings(AppSettings):
    """The settings of the app and of the moderation."""

    moderation: Annotated[bool, BeforeValidator(lambda value: {"0": False, "1": True}.get(value, value))] = Field(
        default=False,
        strict=True,
        validation_alias="BLOG_MODERATION",
        description="1 if the database has the container of addons/moderation/containers.json, or 0",
    )
    moderator_role: str = Field(
        default="",
        validation_alias="BLOG_MODERATOR_ROLE",
        description="the value of an app role of Microsoft Entra ID, such as Moderator",
    )
    # Core Tools and functions-host set it to Development; in Azure it is Production unless an app setting changes it.
    # https://learn.microsoft.com/azure/azure-functions/functions-app-settings#azure_functions_environment
    environment: str = Field(default="", validation_alias="AZURE_FUNCTIONS_ENVIRONMENT")

    @property
    def everybody_moderates(self) -> bool:
        """Whether the app runs on a developer's machine, where no one signs in."""
        return not self.auth.users_sign_in and self.environment == "Development"


@cache
def moderation_settings() -> ModerationSettings:
    """This process's settings. Raises SettingsError."""
    return read_settings(ModerationSettings)
