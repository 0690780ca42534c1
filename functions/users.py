"""Users: create, edit, retrieve."""

from __future__ import annotations

import azure.functions as func

from functions.routes import ROUTES
from shared.containers import USERS
from shared.cosmos import container
from shared.data import users
from shared.errors import AlreadyRegistered, IdempotencyKeyReused, UsernameTaken, UserNotFound, VersionMismatch
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.http.replies import changed, created, found
from shared.models.user import NewUser, User, UserChanges

endpoints = Endpoints("users", ROUTES["users"])


@endpoints.endpoint(
    summary="Create a user (C1)",
    body=NewUser,
    resource=User,
    answers=(201,),
    refusals=(UsernameTaken, AlreadyRegistered, IdempotencyKeyReused),
)
async def create_user(call: Call[NewUser]) -> func.HttpResponse:
    """The name must be nobody else's, compared case-insensitively after Unicode NFKC. A caller who signs in has one
    user."""
    stored, caller, key = await container(USERS), call.caller, call.idempotency_key
    if caller.user is None:
        user = await users.create_user(stored, call.body, idempotency_key=key)
    else:
        user = await users.register_user(stored, call.body, user_id=str(caller.user), idempotency_key=key)
    return created(User, user, f"/api/users/{user['id']}")


@endpoints.endpoint(
    summary="Edit a user (C1)",
    body=UserChanges,
    resource=User,
    answers=(200,),
    refusals=(UserNotFound, UsernameTaken, VersionMismatch),
)
async def edit_user(call: Call[UserChanges]) -> func.HttpResponse:
    """The new name appears on the user at once, on the user's posts, comments and likes a moment later."""
    user = await users.edit_user(await container(USERS), call.path["userId"], call.body, etag=call.if_match)
    return changed(User, user)


@endpoints.endpoint(
    summary="Retrieve a user (Q1)",
    resource=User,
    answers=(200, 304),
    refusals=(UserNotFound,),
)
async def get_user(call: Call[None]) -> func.HttpResponse:
    return found(call, User, await users.get_user(await container(USERS), call.path["userId"]))
