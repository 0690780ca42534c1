"""Every HTTP function of the app, on one page.

The host needs to know this much of a function before anybody calls it, and no more. So what answers a request is
imported by the first request for it: a process that only reacts to change feeds never loads it, and the host has
indexed the app sooner.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Final

import azure.functions as func

from shared.http.route import Route
from shared.settings import AuthSettings

# By the file of functions/ that has the function.
ROUTES: Final[Mapping[str, tuple[Route, ...]]] = {
    "users": (
        Route("POST", "users", "create_user"),
        Route("PUT", "users/{userId}", "edit_user"),
        Route("GET", "users/{userId}", "get_user"),
    ),
    "posts": (
        Route("POST", "posts", "create_post"),
        Route("PUT", "posts/{postId}", "edit_post"),
        Route("DELETE", "posts/{postId}", "delete_post"),
        Route("GET", "posts/{postId}", "get_post"),
        Route("GET", "users/{userId}/posts", "list_user_posts"),
    ),
    "comments": (
        Route("POST", "posts/{postId}/comments", "create_comment"),
        Route("DELETE", "posts/{postId}/comments/{commentId}", "delete_comment"),
        Route("GET", "posts/{postId}/comments", "list_comments"),
    ),
    "likes": (
        Route("POST", "posts/{postId}/likes", "create_like"),
        Route("DELETE", "posts/{postId}/likes/{userId}", "delete_like"),
        Route("GET", "posts/{postId}/likes", "list_likes"),
    ),
    "feed": (Route("GET", "feed", "get_feed"),),
    "health": (Route("GET", "health", "get_health"),),
    "description": (
        Route("GET", "openapi.json", "get_openapi"),
        Route("GET", "docs", "get_docs"),
        Route("GET", "docs/{asset}", "get_docs_asset"),
    ),
}


def blueprint(auth: AuthSettings) -> func.Blueprint:
    """The functions for the app to register. Queries are open; commands need a function key, which the host checks,
    unless users sign in: then who they are is checked before anything else."""
    commands = func.AuthLevel.ANONYMOUS if auth.users_sign_in else func.AuthLevel.FUNCTION
    functions = func.Blueprint()
    for module, routes in ROUTES.items():
        for route in routes:
            level = commands if route.is_command else func.AuthLevel.ANONYMOUS
            functions.route(route=route.path, methods=[route.method], auth_level=level)(_function(module, route))
    return functions


def _function(module: str, route: Route) -> Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]:
    async def run(req: func.HttpRequest) -> func.HttpResponse:
        answer: Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]
        answer = getattr(import_module(f"functions.{module}"), route.function)
        return await answer(req)

    # The host names a function after its Python function; the worker checks the annotations.
    run.__name__ = run.__qualname__ = route.function
    run.__annotations__ = {"req": func.HttpRequest, "return": func.HttpResponse}
    return run
