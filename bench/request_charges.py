"""Charges of the article's ten requests, as modeled by the emulator: `python -m bench.request_charges`.

Data follows the article: posts and comments of 1,480 characters, a post with 20 comments and 50 likes, a user with 29
posts, and a full feed. Each request runs a command or query of shared/data; its charge is the sum of all responses.
Lists are one page.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.servers import PARTITIONS
from management.account import open_blog, signed_in
from management.provision import provision
from shared.data.blog import Blog
from shared.data.comments import create_comment, list_comments
from shared.data.feed import FEED_LENGTH, list_recent_posts
from shared.data.likes import create_like, list_likes
from shared.data.posts import create_post, edit_post, get_post, list_posts_of_user
from shared.data.users import create_user, edit_user, get_user
from shared.database.charges import metered
from shared.models.base import Item
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, PostChanges
from shared.models.user import NewUser, UserChanges
from shared.propagation.posts import PostChangeHandler
from shared.settings import Account, Settings

Profile = Literal["service-2026", "article-2019"]
PROFILES: tuple[Profile, ...] = ("service-2026", "article-2019")
_TEXT = ("word " * 296).strip()
_TITLE = "A title of fifty characters, as long as they may be"[:50]


@dataclass(frozen=True)
class Row:
    """A request and the article's V3 figure, if any."""

    name: str
    article_ru: float | None
    request: Callable[[], Awaitable[Any]]


async def measure(profile: Profile) -> list[tuple[Row, float]]:
    """Return the modeled charge of each request, in request units."""
    async with CosmosEmulator(EmulatorSettings(charge_profile=profile, partitions=PARTITIONS)) as emulator:
        configuration = Settings(account=Account(emulator.endpoint, emulator.key), database="bench")
        await provision(configuration)
        async with signed_in(configuration) as client:
            blog = await open_blog(client, configuration.database)
            author, post = await fill(blog)
            charges = []
            for row in rows(blog, author, post):
                with metered() as charge:
                    await row.request()
                charges.append((row, charge.request_units))
            return charges


async def fill(blog: Blog) -> tuple[Item, Item]:
    """Create a user with 29 posts, the last with 20 comments and 50 likes, and fill the feed."""
    people = [await add_user(blog, f"reader_{number:02}") for number in range(50)]
    author = await add_user(blog, "the_author")
    posts = [await add_post(blog, person) for person in people for _ in range(2)]
    posts += [await add_post(blog, author) for _ in range(29)]
    for person in people[:20]:
        await add_comment(blog, posts[-1], person)
    for person in people:
        await add_like(blog, posts[-1], person)
    handler = PostChangeHandler(blog)
    await handler.on_changed([await get_post(blog.posts, post["id"]) for post in posts])
    return author, posts[-1]


async def add_user(blog: Blog, name: str) -> Item:
    return await create_user(blog.users, NewUser(username=name), idempotency_key=None)


async def add_post(blog: Blog, author: Item) -> Item:
    """Create a post of the article's length."""
    new = NewPost(user_id=author["id"], title=_TITLE, content=_TEXT)
    return await create_post(blog.users, blog.posts, new, idempotency_key=None)


async def add_comment(blog: Blog, post: Item, author: Item) -> Item:
    """Create a comment of the article's length."""
    new = NewComment(user_id=author["id"], content=_TEXT)
    return await create_comment(blog, post["id"], new, idempotency_key=None)


async def add_like(blog: Blog, post: Item, liker: Item) -> Item:
    new = NewLike(user_id=liker["id"])
    return (await create_like(blog, post["id"], new, idempotency_key=None)).item


def rows(blog: Blog, author: Item, post: Item) -> list[Row]:
    """Return the requests in an order in which they can run."""
    user_id, post_id = author["id"], post["id"]
    changes = PostChanges(title=_TITLE.upper(), content=_TEXT.upper())
    return [
        Row("C1 create a user", 5.71, lambda: add_user(blog, "newcomer_01")),
        Row(
            "C1 edit a user",
            None,
            lambda: edit_user(blog.users, user_id, UserChanges(username="renamed_01"), etag=None),
        ),
        Row("Q1 retrieve a user", 1, lambda: get_user(blog.users, user_id)),
        Row("C2 create a post", 8.76, lambda: add_post(blog, author)),
        Row("C2 edit a post", None, lambda: edit_post(blog.posts, post_id, changes, etag=None)),
        Row("Q2 retrieve a post", 1, lambda: get_post(blog.posts, post_id)),
        Row("Q3 list a user's posts", 6.46, lambda: list_posts_of_user(blog.users, user_id, limit=100, cursor=None)),
        Row("C3 create a comment", 15.27, lambda: add_comment(blog, post, author)),
        Row("Q4 list a post's comments", 7.72, lambda: list_comments(blog.posts, post_id, limit=100, cursor=None)),
        Row("C4 like a post", 14.67, lambda: add_like(blog, post, author)),
        Row("Q5 list a post's likes", 8.92, lambda: list_likes(blog.posts, post_id, limit=100, cursor=None)),
        Row("Q6 list the most recent posts", 16.97, lambda: list_recent_posts(blog.feed, limit=FEED_LENGTH)),
    ]


async def main() -> None:
    tables = [await measure(profile) for profile in PROFILES]
    lines = [
        "| request | article's V3, measured 2019 | "
        + " | ".join(f"this project, {profile} (modeled)" for profile in PROFILES)
        + " |",
        "|---|---|" + "---|" * len(PROFILES),
    ]
    for same in zip(*tables, strict=True):
        article = same[0][0].article_ru
        figures = " | ".join(f"{charge:.2f}" for _, charge in same)
        lines.append(f"| {same[0][0].name} | {'' if article is None else f'{article:.2f}'} | {figures} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
