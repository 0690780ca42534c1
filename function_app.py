"""The function app: every function is registered here and defined in functions/."""

import azure.functions as func

from functions import (
    comments,
    description,
    feed,
    health,
    likes,
    on_posts_changed,
    on_users_changed,
    posts,
    users,
)
from shared.settings import auth_settings

# Who may in is settled before anything is served; raises SettingsError, and then there is no app.
_auth = auth_settings()
app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)

app.register_functions(users.endpoints.blueprint(_auth))
app.register_functions(posts.endpoints.blueprint(_auth))
app.register_functions(comments.endpoints.blueprint(_auth))
app.register_functions(likes.endpoints.blueprint(_auth))
app.register_functions(feed.endpoints.blueprint(_auth))
app.register_functions(health.endpoints.blueprint(_auth))
app.register_functions(description.endpoints.blueprint(_auth))
app.register_functions(on_users_changed.blueprint)
app.register_functions(on_posts_changed.blueprint)
