"""The function app: registers one blueprint per file in functions/, and the add-ons.

An add-on is a folder that nothing here depends on: without it, delete its lines below, its folder, and its tests.
"""

import logging

import azure.functions as func

from addons import export, inspector, moderation, openapi, search, web
from functions import change_feeds, comments, feed, health, likes, posts, unknown, users
from shared.platform import telemetry
from shared.platform.settings import app_settings

telemetry.limit_sdks()
# Commands inherit this level and queries are anonymous. If users sign in, the app authenticates commands itself.
_COMMANDS = func.AuthLevel.ANONYMOUS if app_settings().auth.users_sign_in else func.AuthLevel.FUNCTION

if app_settings().auth.users_sign_in and not app_settings().can_sign_in:
    telemetry.log(
        logging.ERROR, "sign-in is not enabled", advice="enable App Service authentication; commands return 401"
    )

app = func.FunctionApp(http_auth_level=_COMMANDS)
for module in (users, posts, comments, likes, feed, health, change_feeds, unknown):
    app.register_functions(module.bp)
openapi.register(app)
web.register(app)
export.register(app)
openapi.describe(*export.api_modules())
search.register(app)
openapi.frame_page(web.frame)
openapi.describe(*search.api_modules())
moderation.register(app)
openapi.describe(*moderation.api_modules())
inspector.register(app)
if app_settings().telemetry:
    from shared.platform import exporters

    exporters.start()
