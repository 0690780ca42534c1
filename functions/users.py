"""Users: create, edit, delete, retrieve."""

from __future__ import annotations

import azure.functions as func

from shared.data import users
from shared.data.blog import open_blog
from shared.endpoints import Endpoint
from shared.errors import AccountDeleted, AlreadyRegistered, TooManyRenames, UsernameTaken, UserNotFound
from shared.models.user import NewUser, User, UserChanges
from shared.platform.errors import IdempotencyKeyReused, VersionMismatch
from shared.platform.http.callers import BackEnd
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response, no_content, resource_response

bp = func.Blueprint()

_CREATE_ERRORS = (UsernameTaken, AlreadyRegistered, AccountDeleted, IdempotencyKeyReused)
_EDIT_ERRORS = (UserNotFound, UsernameTaken, TooManyRenames, VersionMismatch)


@bp.route(route="api/users", methods=["POST"])
@Endpoint("C1", body=NewUser, returns=User, errors=_CREATE_ERRORS)
async def create_user(call: Call[NewUser]) -> Response:
    """Create a user.

    The username must use one script, and be unique, compared case-insensitively after Unicode NFKC. A signed-in caller
    can create only one user.
    """
    blog, caller, key = await open_blog(), call.caller, call.idempotency_key
    if isinstance(caller, BackEnd):
        user = await users.create_user(blog.users, call.body, idempotency_key=key)
    else:
        user = await users.register_user(blog.users, call.body, user_id=str(caller.user), idempotency_key=key)
    return resource_response(User, user, location=f"/api/users/{user['id']}")


@bp.route(route="api/users/{userId}", methods=["PUT"])
@Endpoint("C1", body=UserChanges, returns=User, errors=_EDIT_ERRORS)
async def edit_user(call: Call[UserChanges]) -> Response:
    """Rename a user.

    The user shows the new name immediately. Their posts, comments, and likes show it after a short delay. Returns 429
    after too many renames.
    """
    blog = await open_blog()
    user = await users.edit_user(blog.users, call.path["userId"], call.body, if_match=call.if_match)
    return resource_response(User, user)


@bp.route(route="api/users/{userId}", methods=["DELETE"])
@Endpoint(errors=(UserNotFound, VersionMismatch))
async def delete_user(call: Call[None]) -> Response:
    """Delete a user.

    Requests for the user and for lists of their posts return 404 immediately, and the username is free. Their posts,
    comments, and likes are deleted after a short delay. The user can register again 30 days later.
    """
    blog = await open_blog()
    await users.delete_user(blog.users, call.path["userId"], if_match=call.if_match)
    return no_content()


@bp.route(route="api/users/{userId}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint("Q1", returns=User, errors=(UserNotFound,))
async def get_user(call: Call[None]) -> Response:
    """Retrieve a user."""
    blog = await open_blog()
    return resource_response(User, await users.get_user(blog.users, call.path["userId"]))
