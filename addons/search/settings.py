"""The setting of the search."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from shared.platform.settings import AppSettings, read_settings


class SearchSettings(AppSettings):
    """The settings of the app and of the search."""

    search: Annotated[bool, BeforeValidator(lambda value: {"0": False, "1": True}.get(value, value))] = Field(
        default=False,
        strict=True,
        validation_alias="BLOG_SEARCH",
        description="1 if the database has the container of addons/search/containers.json, or 0",
    )


@cache
def search_settings() -> SearchSettings:
    """This process's settings. Raises SettingsError."""
    return read_settings(SearchSettings)
