"""The blog of this process: its containers, and how it writes transactions."""

from __future__ import annotations

from dataclasses import dataclass, field

from async_lru import alru_cache

from shared.containers import FAILURES, FEED, POSTS, USERS
from shared.platform.database.client import open_container
from shared.platform.database.container import Container
from shared.settings import settings
from shared.transactions import Transactions, transactions


@dataclass(frozen=True)
class Blog:
    """The containers of a database, except the leases."""

    users: Container
    posts: Container
    feed: Container
    failures: Container
    transactions: Transactions = field(default_factory=lambda: transactions("batch"))


@alru_cache(maxsize=1)
async def open_blog() -> Blog:
    """Return the blog of this process, whose containers the first call opens.

    Raises SettingsError, DatabaseUnavailable.
    """
    users, posts, feed, failures = [await open_container(name) for name in (USERS, POSTS, FEED, FAILURES)]
    return Blog(users, posts, feed, failures, transactions(settings().transactions))
