"""The OpenAPI description of the API, and its page."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import azure.functions as func


def register(app: func.FunctionApp) -> None:
    from addons.openapi import docs

    app.register_functions(docs.bp)


def describe(*modules: ModuleType) -> None:
    """Add the functions of another add-on to the description. Call it when the app is built."""
    from addons.openapi import docs

    docs.DESCRIBED.extend(modules)


def frame_page(frame: Callable[[str], tuple[str, str]]) -> None:
    """Give the page the tags of the head and the header that the function returns for its path."""
    from addons.openapi import docs

    docs.FRAMES.append(frame)
