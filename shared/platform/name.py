"""The name of the app: of its logger, its settings, and the start of the names of its metrics and attributes."""

from typing import Final

NAME: Final = "blog"
