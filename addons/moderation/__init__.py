"""Reports by readers, and deletions by moderators, with a reason that is kept for a year.

It is on only if BLOG_MODERATION=1. All its items are in a container of its own. The core calls it at three places:
`erasure_hooks` (shared/propagation/users.py), `added_containers` (shared/containers.py) and the `tools` of an
`Extension` (addons/web/extensions.py). A ban is the `ttl` -1 of a user's tombstone.
"""

from __future__ import annotations

from types import ModuleType

import azure.functions as func

from addons.moderation.settings import moderation_settings


def register(app: func.FunctionApp) -> None:
    """Raises SettingsError."""
    if not moderation_settings().moderation:
        return
    # Imported here, because the app should not load them otherwise.
    from addons.moderation import api, container, pages, reports
    from shared.containers import added_containers
    from shared.propagation.users import erasure_hooks

    added_containers.extend(container.definitions())
    erasure_hooks.append(reports.erase_reports_by)
    pages.extend()
    app.register_functions(api.bp)
    app.register_functions(pages.bp)


def api_modules() -> tuple[ModuleType, ...]:
    """Return the modules whose functions belong in the description of the API. Raises SettingsError."""
    if not moderation_settings().moderation:
        return ()
    from addons.moderation import api  # with its errors, which the page of the API explains

    return (api,)
