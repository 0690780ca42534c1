"""The change feed of `users`: settles names. See shared/propagation/users.py."""

from __future__ import annotations

import azure.functions as func

from functions.change_feed import batch_of, react
from shared.containers import USERS

blueprint = func.Blueprint()


@batch_of(blueprint, container_name=USERS)
async def on_users_changed(changes: func.DocumentList) -> None:
    """Confirm and release reservations, carry changed names to posts, comments and likes."""
    # Imported by the first batch, as functions/routes.py imports what answers requests.
    from shared.propagation.reactions import users_reaction

    await react("on_users_changed", changes, (await users_reaction()).on_changed)
