"""Generate the blog's items, each about 500 bytes as stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from shared.models.comment import NewComment, comment_item
from shared.models.like import like_item
from shared.models.post import NewPost, post_item, short_form
from shared.models.user import user_item
from shared.platform.models import Item, iso_utc

# 50 comments and 49 likes per post, 99 posts per user: 100 items per logical partition.
GROUP = 100
_COMMENTS = 50
_TEXT = ("All work and no play makes a long text of no content. " * 4)[:160]
_TITLE = "A title of some thirty characters"
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)


def user_id(number: int) -> str:
    """Return a user's ID, the partition key of their posts' copies."""
    return f"user-{number:07}"


def post_id(number: int) -> str:
    """Return a post's ID, the partition key of its comments and likes."""
    return f"post-{number:07}"


def posts_items(count: int, *, busy: int = 0) -> Iterator[Item]:
    """Yield `count` items of `posts`; the first post has `busy` additional comments."""
    for number in range((count - busy) // GROUP):
        post = post_id(number)
        yield _post(post, user_id(number))
        for index in range(_COMMENTS + (busy if number == 0 else 0)):
            yield comment(post, index)
        for index in range(GROUP - 1 - _COMMENTS):
            yield like_item(post, _user(user_id(index)), _date(index))


def users_items(count: int) -> Iterator[Item]:
    for number in range(count // GROUP):
        user = user_id(number)
        yield _user(user)
        for index in range(GROUP - 1):
            yield short_form(_post(f"{user}-post-{index}", user, index)) | {"userId": user}


def feed_items(count: int) -> Iterator[Item]:
    for number in range(count):
        yield short_form(_post(post_id(number), user_id(number // GROUP), number))


def comment(post: str, number: int) -> Item:
    new = NewComment(user_id=user_id(number), content=_TEXT)
    return comment_item(f"comment-{number:07}", post, _user(user_id(number)), new, _date(number))


def _user(user: str) -> Item:
    return user_item(user, user.replace("-", "_"), _date(0))


def _post(post: str, author: str, number: int = 0) -> Item:
    new = NewPost(user_id=author, title=_TITLE, content=_TEXT)
    return post_item(post, _user(author), new, _date(number))


def _date(number: int) -> str:
    return iso_utc(_FIRST + timedelta(seconds=number))
