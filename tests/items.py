"""Items as the app writes them, for tests that need them without running the app."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from shared.models.comment import NewComment, comment_item
from shared.models.like import like_item
from shared.models.post import NewPost, post_item
from shared.models.user import user_item
from shared.platform.data.idempotency import idempotency_record
from shared.platform.models import Item, iso_utc

_START = datetime(2026, 1, 1, tzinfo=UTC)


def unique(stem: str) -> str:
    """Return a name that no other test has: at most 30 characters, like a username."""
    return f"{stem}-{uuid.uuid4().hex[:12]}"


def moment(second: float) -> str:
    """Return the date `second` seconds after the tests' epoch."""
    return iso_utc(_START + timedelta(seconds=second))


def a_user(name: str = "ada", *, user_id: str | None = None) -> Item:
    return user_item(user_id or str(uuid.uuid4()), unique(name), moment(0))


def a_post(author: Item, *, second: float = 0, title: str = "A title", content: str = "Some content.") -> Item:
    new = NewPost(user_id=author["id"], title=title, content=content)
    return post_item(str(uuid.uuid4()), author, new, moment(second))


def a_comment(post: Item, author: Item, *, second: float = 0, content: str = "Well put.") -> Item:
    new = NewComment(user_id=author["id"], content=content)
    return comment_item(str(uuid.uuid4()), post["postId"], author, new, moment(second))


def a_like(post: Item, liker: Item, *, second: float = 0) -> Item:
    return like_item(post["postId"], liker, moment(second))


def a_record(comment: Item, command_id: str = "command") -> Item:
    """Return the idempotency record of the command that creates this comment."""
    new = NewComment(user_id=comment["userId"], content=comment["content"])
    return idempotency_record(command_id, new, postId=comment["postId"])
