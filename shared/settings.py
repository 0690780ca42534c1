"""The settings of the blog, read once from the environment. docs/settings.md lists them."""

from __future__ import annotations

import sys
from functools import cache
from typing import Literal

from pydantic import Field

from shared.platform import settings as platform
from shared.platform.settings import SettingsError, read_settings

TransactionMode = Literal["batch", "procedure"]


class Settings(platform.Settings):
    """All settings of the core; an add-on has its own."""

    transactions: TransactionMode = Field(default="batch", description="batch or procedure")


@cache
def settings() -> Settings:
    """This process's settings. Raises SettingsError."""
    return read_settings(Settings)


if __name__ == "__main__":  # `python -m local` checks all settings at once before it starts the app
    try:
        read_settings(Settings)
    except SettingsError as error:
        sys.exit(f"The settings are incomplete: {error}")
