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

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)

app.register_functions(users.endpoints.blueprint)
app.register_functions(posts.endpoints.blueprint)
app.register_functions(comments.endpoints.blueprint)
app.register_functions(likes.endpoints.blueprint)
app.register_functions(feed.endpoints.blueprint)
app.register_functions(health.endpoints.blueprint)
app.register_functions(description.endpoints.blueprint)
app.register_functions(on_users_changed.blueprint)
app.register_functions(on_posts_changed.blueprint)
