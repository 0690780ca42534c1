"""The reactions of this process: on its database, as its settings say."""

from __future__ import annotations

from shared.containers import FAILURES, FEED, POSTS, USERS
from shared.cosmos import container
from shared.propagation.posts import PostsReaction
from shared.propagation.users import UsersReaction
from shared.settings import settings
from shared.transactions import transactions


async def posts_reaction() -> PostsReaction:
    """Raises SettingsError, DatabaseUnavailable."""
    users, posts, feed, failures = [await container(name) for name in (USERS, POSTS, FEED, FAILURES)]
    return PostsReaction(users, posts, feed, failures, transactions(settings()))


async def users_reaction() -> UsersReaction:
    """Raises SettingsError, DatabaseUnavailable."""
    users, posts, failures = [await container(name) for name in (USERS, POSTS, FAILURES)]
    return UsersReaction(users, posts, failures, transactions(settings()))
