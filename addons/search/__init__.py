"""Search in all posts and comments: a global secondary index of `posts`, with full-text indexes.

It is on only if BLOG_SEARCH=1. The index is declared in containers.json and filled by Cosmos DB.
"""

from __future__ import annotations

from types import ModuleType

import azure.functions as func

from addons.search.settings import search_settings


def register(app: func.FunctionApp) -> None:
    """Raises SettingsError."""
    # Imported here, because a module of the search should not load the site.
    from addons.search import api, pages, sitemaps

    is_on = search_settings().search
    pages.extend(is_on=is_on)
    app.register_functions(pages.bp)
    if is_on:
        app.register_functions(api.bp)
        app.register_functions(sitemaps.bp)


def api_modules() -> tuple[ModuleType, ...]:
    """Return the modules whose functions belong in the description of the API. Raises SettingsError."""
    from addons.search import api

    return (api,) if search_settings().search else ()
