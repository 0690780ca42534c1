"""Charges of the article's ten requests, as modeled by the emulator: `python -m bench.request_charges`.

Data follows the article: posts and comments of 1,480 characters, a post with 20 comments and 50 likes, a user with 29
posts, and a full front page. Each request runs a command or query of shared/data; its charge is the sum of all
responses. Lists are one page.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from bench.models.article import ARTICLE
from bench.servers import Server, emulator
from bench.tables import table
from management.account import open_client, open_containers
from management.provision import provision
from shared.data.blog import Blog
from shared.data.comments import create_comment, list_comments
from shared.data.front_page import list_recent_posts
from shared.data.likes import create_like, list_likes
from shared.data.posts import create_post, edit_post, get_post, list_posts_of_user
from shared.data.users import create_user, edit_user, get_user
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost, PostChanges
from shared.models.user import NewUser, UserChanges
from shared.platform.database.scope import request_scope
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.posts import handle_changed_posts

PROFILES: Final = ("service-2026", "article-2019")
TEXT: Final = ("word " * 296).strip()
_TITLE: Final = "A title of fifty characters, as long as they may be"[:50]


async def measure(server: Server) -> dict[str, float]:
    """Return the modeled charge of each request, in request units."""
    configuration = server.settings("bench")
    await provision(configuration)
    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        charges = {}
        for name, request in requests(blog, *await fill(blog)).items():
            await server.next_second()
            with request_scope() as scope:
                await request()
            charges[name] = scope.request_units
        return charges


async def fill(blog: Blog) -> tuple[Item, Item]:
    """Create a user with 29 posts, the last with 20 comments and 50 likes, and fill the front page."""
    people = [await add_user(blog, f"reader_{number:02}") for number in range(50)]
    author = await add_user(blog, "the_author")
    posts = [await add_post(blog, person) for person in people for _ in range(2)]
    posts += [await add_post(blog, author) for _ in range(29)]
    for person in people[:20]:
        await add_comment(blog, posts[-1], person)
    for person in people:
        await add_like(blog, posts[-1], person)
    await handle_changed_posts(blog, [await get_post(blog.posts, post["id"]) for post in posts])
    return author, posts[-1]


async def add_user(blog: Blog, name: str) -> Item:
    return await create_user(blog.users, NewUser(username=name), idempotency_key=None)


async def add_post(blog: Blog, author: Item) -> Item:
    """Create a post of the article's length."""
    return await create_post(blog, new_post(author), idempotency_key=None)


def new_post(author: Item) -> NewPost:
    return NewPost(user_id=author["id"], title=_TITLE, content=TEXT)


async def add_comment(blog: Blog, post: Item, author: Item) -> Item:
    """Create a comment of the article's length."""
    new = NewComment(user_id=author["id"], content=TEXT)
    return await create_comment(blog, post["id"], new, idempotency_key=None)


async def add_like(blog: Blog, post: Item, liker: Item) -> Item:
    new = NewLike(user_id=liker["id"])
    like, _ = await create_like(blog, post["id"], new)
    return like


def requests(blog: Blog, author: Item, post: Item) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return the requests by name, in an order in which they can run."""
    user_id, post_id = author["id"], post["id"]
    renamed = UserChanges(username="renamed_01")
    changes = PostChanges(title=_TITLE.upper(), content=TEXT.upper())
    return {
        "C1 create a user": lambda: add_user(blog, "newcomer_01"),
        "C1 edit a user": lambda: edit_user(blog.users, user_id, renamed),
        "Q1 retrieve a user": lambda: get_user(blog.users, user_id),
        "C2 create a post": lambda: add_post(blog, author),
        "C2 edit a post": lambda: edit_post(blog.posts, post_id, changes, by=BackEnd()),
        "Q2 retrieve a post": lambda: get_post(blog.posts, post_id),
        "Q3 list a user's posts": lambda: list_posts_of_user(blog.users, user_id, limit=100, cursor=None),
        "C3 create a comment": lambda: add_comment(blog, post, author),
        "Q4 list a post's comments": lambda: list_comments(blog.posts, post_id, limit=100, cursor=None),
        "C4 like a post": lambda: add_like(blog, post, author),
        "Q5 list a post's likes": lambda: list_likes(blog.posts, post_id, limit=100, cursor=None),
        "Q6 list the most recent posts": lambda: list_recent_posts(blog.feed),
    }


async def main() -> None:
    measured = []
    for profile in PROFILES:
        async with emulator(None, "--profile", profile) as server:
            measured.append(await measure(server))
    rows = [
        (
            name,
            "" if "edit" in name else f"{ARTICLE[name[:2]]['V3'].charge_ru:.2f}",
            *(f"{charges[name]:.2f}" for charges in measured),
        )
        for name in measured[0]
    ]
    ours = (f"this project, {profile} (modeled)" for profile in PROFILES)
    sys.stdout.write("\n".join(table(["request", "article's V3, measured 2019", *ours], rows)) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
