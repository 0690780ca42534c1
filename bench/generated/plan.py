"""Generate a blog's items from a seed.

Each item can be generated alone, so nothing is kept in memory. IDs derive from seed and sizes, so an interrupted seed
can be repeated, and seeds of different sizes can coexist. Dates are relative to `now`; nothing else depends on it.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import ClassVar, Self

from bench.generated.names import Names
from bench.generated.prose import SUBJECTS, Prose
from shared.models.comment import NewComment, comment_item
from shared.models.like import like_item
from shared.models.post import NewPost, post_item
from shared.models.user import user_item
from shared.platform.models import Item, iso_utc

_NAMESPACE = uuid.UUID("3c0b7f5a-2a53-5f6c-9a57-1f3f0a4b8e21")
# Ages. No post is newer than the last one, so that new posts are ahead of the sample.
_FIRST_USER = timedelta(days=365)
_FIRST_POST = timedelta(days=334)
_LAST_POST = timedelta(minutes=3)
# The higher, the more posts are recent: with 60 posts, the newest is minutes and a third are at most days old.
_RECENCY = 3
_RANGE = re.compile(r"(?P<low>[0-9]{1,6})(-(?P<high>[0-9]{1,6}))?")
_ANSWERED_WITHIN = timedelta(days=14)


@dataclass(frozen=True)
class Range:
    """An inclusive range such as `5-50`, or a number."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a range, or raise ValueError."""
        numbers = _RANGE.fullmatch(text)
        if numbers is None:
            raise ValueError(f"{text!r} is not a range")
        found = cls(int(numbers["low"]), int(numbers["high"] or numbers["low"]))
        if found.low > found.high:
            raise ValueError(f"{text!r} ends before it starts")
        return found

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def pick(self, rng: random.Random, *, most: int | None = None) -> int:
        high = self.high if most is None else min(self.high, most)
        return rng.randint(min(self.low, high), high)


@dataclass(frozen=True)
class SeedPlan:
    """The sizes of a blog, and when it is generated, in whole seconds. A post has at most one like per user."""

    users: int = 20
    posts_per_user: Range = Range(1, 5)
    comments_per_post: Range = Range(0, 4)
    likes_per_post: Range = Range(0, 8)
    seed: int = 1
    # Constant unless given, so that benchmarks are reproducible.
    now: datetime = datetime(2025, 12, 1, tzinfo=UTC)
    # Distance of a post's author to the first user who can comment on it or like it: nobody does so on their own posts.
    NEAREST: ClassVar[int] = 1

    @cached_property
    def _names(self) -> Names:
        return Names(self._key)

    @property
    def _key(self) -> str:
        sizes = (self.users, self.posts_per_user, self.comments_per_post, self.likes_per_post)
        return "/".join(str(part) for part in (self.seed, *sizes))

    def _rng(self, *path: object) -> random.Random:
        return random.Random("/".join((self._key, *map(str, path))))  # noqa: S311 - made up, not secret

    def _id(self, *path: object) -> str:
        return str(uuid.uuid5(_NAMESPACE, "/".join((self._key, *map(str, path)))))

    def _prose(self, rng: random.Random, post_id: str) -> Prose:
        """A post and its comments share a subject."""
        return Prose(rng, self._rng("subject", post_id).choice(SUBJECTS))

    def user(self, index: int) -> Item:
        joined = (
            self.now
            - _FIRST_USER
            + (_FIRST_USER - _FIRST_POST) * _share(self._rng("user", index), _FIRST_USER - _FIRST_POST)
        )
        return user_item(self._id("user", index), self._names.name(index), iso_utc(joined))

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        for number in range(self.post_count(index)):
            post_id, rng = self._id("post", index, number), self._rng("post", index, number)
            prose = self._prose(rng, post_id)
            new = NewPost(user_id=author["userId"], title=prose.title(), content=prose.post())
            age = _LAST_POST + (_FIRST_POST - _LAST_POST) * (1 - _share(rng, _FIRST_POST)) ** _RECENCY
            post = post_item(post_id, author, new, iso_utc(self.now - age))
            comments, likes = self.response_counts(index, number, rng)
            yield post | {"commentCount": comments, "likeCount": likes, "version": 1 + comments + likes}

    def post_count(self, index: int) -> int:
        return self.posts_per_user.pick(self._rng("posts", index))

    def response_counts(self, index: int, number: int, rng: random.Random) -> tuple[int, int]:  # noqa: ARG002 - a subclass uses it
        others = self.users - self.NEAREST
        comments = self.comments_per_post.pick(rng) if others > 0 else 0
        return comments, self.likes_per_post.pick(rng, most=max(others, 0))

    def responses(self, author: int, post: Item) -> Iterator[tuple[int, Item]]:
        """Yield the comments and likes of a post by user `author`, each with its user's index."""
        rng = self._rng("responses", post["id"])
        prose = self._prose(rng, post["id"])
        start = datetime.fromisoformat(post["creationDate"])
        period = min(_ANSWERED_WITHIN, self.now - start)
        for number in range(post["commentCount"]):
            index = (author + rng.randrange(self.NEAREST, self.users)) % self.users
            reader = self.user(index)
            new = NewComment(user_id=reader["userId"], content=prose.remark())
            date = iso_utc(start + period * _share(rng, _ANSWERED_WITHIN))
            yield index, comment_item(self._id("comment", post["id"], number), post["id"], reader, new, date)
        for distance in rng.sample(range(self.NEAREST, self.users), post["likeCount"]):
            index = (author + distance) % self.users
            date = iso_utc(start + period * _share(rng, _ANSWERED_WITHIN))
            yield index, like_item(post["id"], self.user(index), date)


def _share(rng: random.Random, period: timedelta) -> float:
    """A random share of a period, a multiple of its milliseconds, above 0 and below 1."""
    milliseconds = period // timedelta(milliseconds=1)
    return rng.randrange(1, milliseconds) / milliseconds
