"""The function app: registers one blueprint per file in functions/."""

import azure.functions as func

from functions import comments, docs, feed, health, likes, on_posts_changed, on_users_changed, posts, users
from shared.settings import auth_settings

# Commands inherit this level and queries are anonymous. If users sign in, the app authenticates commands itself.
_COMMANDS = func.AuthLevel.ANONYMOUS if auth_settings().users_sign_in else func.AuthLevel.FUNCTION

app = func.FunctionApp(http_auth_level=_COMMANDS)
app.register_functions(users.bp)
app.register_functions(posts.bp)
app.register_functions(comments.bp)
app.register_functions(likes.bp)
app.register_functions(feed.bp)
app.register_functions(health.bp)
app.register_functions(docs.bp)
app.register_functions(on_users_changed.bp)
app.register_functions(on_posts_changed.bp)
