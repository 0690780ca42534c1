"""The function app: registers one blueprint per file in functions/."""

import azure.functions as func

from functions import (
    assets,
    change_feeds,
    comments,
    docs,
    feed,
    health,
    likes,
    posts,
    site,
    users,
)
from shared.observability import logs
from shared.settings import app_settings

logs.limit_sdks()
# Commands inherit this level and queries are anonymous. If users sign in, the app authenticates commands itself.
_COMMANDS = func.AuthLevel.ANONYMOUS if app_settings().auth.users_sign_in else func.AuthLevel.FUNCTION

app = func.FunctionApp(http_auth_level=_COMMANDS)
for module in (users, posts, comments, likes, feed, health, docs, site, assets, change_feeds):
    app.register_functions(module.bp)
if app_settings().telemetry:
    from shared.observability import exporters

    exporters.start()
if app_settings().inspector:
    from functions import inspector, tour

    app.register_functions(inspector.bp)
    app.register_functions(tour.bp)
