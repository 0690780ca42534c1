"""The change feed of `posts`: keeps the copies of posts. See shared/propagation/posts.py."""

from __future__ import annotations

import azure.functions as func

from functions.change_feed import batch_of, react
from shared.containers import FAILURES, FEED, POSTS, USERS
from shared.cosmos import container
from shared.propagation.posts import PostsReaction
from shared.settings import settings
from shared.transactions.choice import chosen

blueprint = func.Blueprint()


@batch_of(blueprint, container_name=POSTS)
async def on_posts_changed(changes: func.DocumentList) -> None:
    """Copy changed posts into `users` and `feed`, take deleted ones out, set outdated names right."""
    reaction = PostsReaction(
        await container(USERS),
        await container(POSTS),
        await container(FEED),
        await container(FAILURES),
        chosen(settings()),
    )
    await react("on_posts_changed", changes, reaction.on_changed)
