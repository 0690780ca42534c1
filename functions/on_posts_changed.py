"""The change feed of `posts`: keeps the copies of posts. See shared/propagation/posts.py."""

from __future__ import annotations

import azure.functions as func

from functions.change_feed import batch_of, react
from shared.containers import POSTS

blueprint = func.Blueprint()


@batch_of(blueprint, container_name=POSTS)
async def on_posts_changed(changes: func.DocumentList) -> None:
    """Copy changed posts into `users` and `feed`, take deleted ones out, set outdated names right."""
    # Imported by the first batch, as functions/routes.py imports what answers requests.
    from shared.propagation.reactions import posts_reaction

    await react("on_posts_changed", changes, (await posts_reaction()).on_changed)
