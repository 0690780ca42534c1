"""What the owner of a blog chooses: its title, tagline, page about it, and color."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from shared.platform.settings import AppSettings, read_settings

DEFAULT_ACCENT: Final = "#b3401c"
_APP: Final = Path(__file__).parents[2]
# The paper of the light theme, site.css.
_PAPER: Final = "#fcfbf8"
_LEAST_CONTRAST: Final = 4.5


def _luminance(color: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    channels = (int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", color.lower()))
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable(color: str) -> str:
    # Text has this color. The dark theme takes only its hue.
    if (_luminance(_PAPER) + 0.05) / (_luminance(color) + 0.05) < _LEAST_CONTRAST:
        raise ValueError
    return color


def _text_of(about: str) -> str:
    """Return the Markdown, which can be in a file of the app. Raises ValueError."""
    if not about.endswith(".md"):
        return about
    try:
        return (_APP / about).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError from error


class WebSettings(AppSettings):
    """The settings of the app and of the site."""

    tagline: str = Field(
        default="Posts and conversations, for everyone who likes to read or write.",
        max_length=200,
        description="one line of at most 200 characters",
    )
    about: Annotated[str, AfterValidator(_text_of)] = Field(
        default="", description="Markdown, or the path of a .md file in the app"
    )
    accent: Annotated[str, AfterValidator(_readable)] = Field(
        default=DEFAULT_ACCENT,
        pattern=r"^#[0-9A-Fa-f]{6}$",
        description=f"a color such as {DEFAULT_ACCENT}, dark enough for text on white (contrast 4.5)",
    )


@cache
def web_settings() -> WebSettings:
    """This process's settings. Raises SettingsError."""
    return read_settings(WebSettings)
