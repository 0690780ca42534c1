"""The sample blog, written by hand: each file in posts/ is a post with its comments and likes.

A file starts with TOML between two lines of `+++`: `title`, `author`, `days_ago`, `liked_by`, and `comments` (`by`,
`hours_later`, `text`). The rest is the post's Markdown.
"""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from shared.models.comment import NewComment, comment_item
from shared.models.like import like_item
from shared.models.post import NewPost, post_item
from shared.models.user import user_item
from shared.platform.models import Item, iso_utc

_POSTS = Path(__file__).with_name("posts")
_NAMESPACE = uuid.UUID("8f1d6c1e-5e0b-5c4f-9f0e-2d7a4b6c9e13")
_JOINED = timedelta(days=90)
_LIKED_EVERY = timedelta(minutes=95)


@dataclass(frozen=True)
class SamplePost:
    """A post of the sample. Its ID derives from `name`, the name of the file."""

    name: str
    title: str
    author: str
    days_ago: float
    liked_by: list[str]
    comments: list[dict[str, Any]]
    content: str


@cache
def sample_posts() -> tuple[SamplePost, ...]:
    """The posts, oldest first."""
    found = [_read(path) for path in sorted(_POSTS.glob("*.md"))]
    return tuple(sorted(found, key=lambda post: -post.days_ago))


@cache
def sample_usernames() -> tuple[str, ...]:
    """Everybody who writes, comments or likes."""
    names = [name for post in sample_posts() for name in (post.author, *post.liked_by)]
    names += [comment["by"] for post in sample_posts() for comment in post.comments]
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Sample:
    """The sample blog as a plan. Only dates depend on `now`."""

    now: datetime = datetime(2025, 12, 1, tzinfo=UTC)

    @property
    def users(self) -> int:
        return len(sample_usernames())

    def user(self, index: int) -> Item:
        name = sample_usernames()[index]
        return user_item(_id("user", name), name, iso_utc(self.now - _JOINED + timedelta(hours=5 * index)))

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        for sample in sample_posts():
            if sample.author == sample_usernames()[index]:
                new = NewPost(user_id=author["userId"], title=sample.title, content=sample.content)
                post = post_item(_id("post", sample.name), author, new, iso_utc(self.now - _age(sample)))
                comments, likes = len(sample.comments), len(sample.liked_by)
                yield post | {"commentCount": comments, "likeCount": likes, "version": 1 + comments + likes}

    def responses(self, author: int, post: Item) -> Iterator[tuple[int, Item]]:  # noqa: ARG002 - the post has its author
        [sample] = [sample for sample in sample_posts() if _id("post", sample.name) == post["id"]]
        written = self.now - _age(sample)
        for number, comment in enumerate(sample.comments):
            index = sample_usernames().index(comment["by"])
            reader = self.user(index)
            new = NewComment(user_id=reader["userId"], content=comment["text"])
            date = iso_utc(written + timedelta(hours=comment["hours_later"]))
            yield index, comment_item(_id("comment", sample.name, number), post["id"], reader, new, date)
        for number, name in enumerate(sample.liked_by, 1):
            index = sample_usernames().index(name)
            yield index, like_item(post["id"], self.user(index), iso_utc(written + number * _LIKED_EVERY))


def _read(path: Path) -> SamplePost:
    _, head, content = path.read_text(encoding="utf-8").split("+++\n", 2)
    return SamplePost(name=path.stem, content=content.strip(), **({"comments": []} | tomllib.loads(head)))


def _age(sample: SamplePost) -> timedelta:
    return timedelta(days=sample.days_ago)


def _id(*path: object) -> str:
    return str(uuid.uuid5(_NAMESPACE, "/".join(map(str, path))))
