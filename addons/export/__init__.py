"""A user's data in one download, which the article does not have: `GET /api/users/{userId}/data`."""

from __future__ import annotations

from types import ModuleType

import azure.functions as func


def register(app: func.FunctionApp) -> None:
    from addons.export import api

    app.register_functions(api.bp)


def api_modules() -> tuple[ModuleType, ...]:
    """Return the modules whose functions belong in the description of the API."""
    from addons.export import api

    return (api,)
