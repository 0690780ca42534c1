"""docs/data-model.md shows items as the app stores them, and charges as measured."""

from __future__ import annotations

import json
import re

import pytest

from shared.data.comments import create_comment
from shared.data.likes import create_like
from shared.data.posts import create_post
from shared.data.username_reservations import reservation_id
from shared.data.users import create_user, edit_user
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import NewPost
from shared.models.user import NewUser, UserChanges
from shared.platform.models import Item
from tests.blog import Blog
from tests.running_app import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGE = (DOCS / "data-model.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
DATES = {"user": "2026-11-28T09:00:00.000Z", "post": "2026-11-28T09:05:00.000Z"}
LATER = "2026-11-28T09:10:00.000Z"


async def test_the_page_shows_the_items_that_the_app_stores(blog: Blog) -> None:
    ada = await create_user(blog.users, NewUser(username="ada"), idempotency_key=None)
    grace = await create_user(blog.users, NewUser(username="grace"), idempotency_key=None)
    new = NewPost(user_id=ada["id"], title="Hello", content="My **first** post.")
    post_id = (await create_post(blog.stored, new, idempotency_key=None))["id"]
    welcome = NewComment(user_id=grace["id"], content="Welcome!")
    comment = await create_comment(blog.stored, post_id, welcome, idempotency_key=None)
    await create_like(blog.stored, post_id, NewLike(user_id=grace["id"]))
    await blog.drain()
    await edit_user(blog.users, ada["id"], UserChanges(username="countess"))
    renamed = await blog.users.read(ada["id"], ada["id"])  # before the change feed has copied the name
    await blog.drain()

    key = reservation_id("countess")
    stored = [
        renamed,
        await blog.users.read(key, key),
        await blog.posts.read(post_id, post_id),
        await blog.users.read(post_id, ada["id"]),
        await blog.feed.read(post_id, "post"),
        await blog.posts.read(comment["id"], post_id),
        await blog.posts.read(grace["id"], post_id),
    ]

    names = {ada["id"]: "ada-id", grace["id"]: "grace-id", post_id: "post-id", comment["id"]: "comment-id"}
    blocks = [_shown(item, names) for item in stored if item is not None]
    assert len(blocks) == len(stored)
    missing = [block for block in blocks if block not in BLOCKS]
    assert missing == [], "docs/data-model.md must have these blocks:\n" + "".join(missing)
    assert [block for block in BLOCKS if block not in blocks] == []
    assert len(set(blocks)) == len(blocks) - 1  # the copies in `users` and `feed` are equal


def _shown(item: Item, names: dict[str, str]) -> str:
    """The item with fixed IDs and dates, without the system properties and the random ID of its last edit."""
    shown = {name: value for name, value in item.items() if not name.startswith("_") and name != "editId"}
    if "creationDate" in shown:
        shown["creationDate"] = DATES.get(item["type"], LATER)
    text = json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
    for value, name in names.items():
        text = text.replace(value, name)
    return text


@pytest.mark.parametrize("request_", re.findall(r"^\| ((?:C|Q)\d .*?), RU \|", PAGE, re.MULTILINE))
def test_the_page_shows_the_measured_charges(request_: str) -> None:
    models = (DOCS / "benchmarks" / "models.md").read_text(encoding="utf-8")
    row = next(line for line in models.splitlines() if line.startswith(f"| {request_} |"))
    v1, v2, v3, _, this, *_ = [cell.strip() for cell in row.split("|")[2:]]

    assert f"| {request_}, RU | {v1} | {v2} | {v3} | {this} |" in PAGE
