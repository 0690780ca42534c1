"""The function app: every function is registered here and defined in functions/."""

import azure.functions as func

from functions import on_posts_changed, on_users_changed, routes
from shared.settings import auth_settings

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)

# Who may in is settled before anything is served; raises SettingsError, and then there is no app.
app.register_functions(routes.blueprint(auth_settings()))
app.register_functions(on_users_changed.blueprint)
app.register_functions(on_posts_changed.blueprint)
