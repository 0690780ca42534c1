"""The web site: pages rendered on the server from the same data functions as the API."""

from __future__ import annotations

import azure.functions as func


def register(app: func.FunctionApp) -> None:
    """Raises SettingsError."""
    # Imported here, because a module of the site should not load all of it.
    from addons.web import assets, pages
    from addons.web.settings import web_settings

    web_settings()
    app.register_functions(pages.bp)
    app.register_functions(assets.bp)


def frame(path: str) -> tuple[str, str]:
    """The style sheet and the header of the site, for a page of another add-on."""
    from addons.web.rendering import render

    return render("_styles.html", {}).decode(), render("_header.html", {"path": path}).decode()
