"""The inspector and the tour: what each request and each change feed costs, shown on the pages of the site.

They are on only if BLOG_INSPECTOR=1. They are not for production: everybody sees all requests, and can switch the
emulator.
"""

from __future__ import annotations

import azure.functions as func

from addons.inspector.settings import inspector_settings


def register(app: func.FunctionApp) -> None:
    """Raises SettingsError."""
    if not inspector_settings().inspector:
        return
    # Imported here, because the app should not load them otherwise.
    from addons.inspector import events, pages, provoked_failures, tour

    events.start()
    pages.extend()
    provoked_failures.shorten()
    app.register_functions(events.bp)
    app.register_functions(tour.bp)
