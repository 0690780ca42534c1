"""The change feed of `users`: settles names. See shared/propagation/users.py."""

from __future__ import annotations

import azure.functions as func

from functions.change_feed import batch_of, react
from shared.containers import FAILURES, POSTS, USERS
from shared.cosmos import container
from shared.propagation.users import UsersReaction
from shared.settings import settings
from shared.transactions.choice import chosen

blueprint = func.Blueprint()


@batch_of(blueprint, container_name=USERS)
async def on_users_changed(changes: func.DocumentList) -> None:
    """Confirm and release reservations, carry changed names to posts, comments and likes."""
    reaction = UsersReaction(
        await container(USERS),
        await container(POSTS),
        await container(FAILURES),
        chosen(settings()),
    )
    await react("on_users_changed", changes, reaction.on_changed)
