"""The setting of the inspector."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from shared.platform.settings import AppSettings, read_settings


class InspectorSettings(AppSettings):
    """The settings of the app and of the inspector."""

    inspector: Annotated[bool, BeforeValidator(lambda value: {"0": False, "1": True}.get(value, value))] = Field(
        default=False,
        strict=True,
        validation_alias="BLOG_INSPECTOR",
        description="1 to enable the inspector, or to 0",
    )


@cache
def inspector_settings() -> InspectorSettings:
    """This process's settings. Raises SettingsError."""
    return read_settings(InspectorSettings)
