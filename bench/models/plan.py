"""The article's data, generated from a seed: 5 to 50 posts per user, up to 25 comments and 100 likes per post.

The measured posts are the same in every size: user 0 has 29 posts, the first with 20 comments and 50 likes, as the
article's figures imply (specification of the charges, section 3).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

from bench.generated.plan import Range, SeedPlan
from bench.generated.prose import SUBJECTS, Prose, Subject
from shared.platform.models import Item

# Characters per post or comment, fitted to the article's C3.
TEXT_LENGTH: Final = 1480
EXHIBIT_POSTS: Final = 29
# Comments and likes of user 0's first posts. The second also fits a blog of ten users.
EXHIBITS: Final = ((20, 50), (10, 10))
_TEXTS: Final = 256
_POSTS: Final = Range(5, 50)
_COMMENTS: Final = Range(0, 25)
_LIKES: Final = Range(0, 100)
_FEW: Final = Range(0, 1)


@dataclass(frozen=True)
class ArticlePlan(SeedPlan):
    """The plan in the article's sizes.

    To limit time and space, only posts of the first `crowded_users` (None: all) have the article's comments and likes;
    others have `few`.
    """

    NEAREST: ClassVar[int] = 0  # the article's posts have up to as many likes as there are users

    users: int = 100
    posts_per_user: Range = _POSTS
    comments_per_post: Range = _COMMENTS
    likes_per_post: Range = _LIKES
    crowded_users: int | None = None
    few: Range = _FEW
    _users: dict[int, Item] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        numbers = f"{self.posts_per_user} posts per user, {self.comments_per_post} comments and {self.likes_per_post}"
        some = ""
        if self.crowded_users is not None and self.crowded_users < self.users:
            some = f" on the posts of the first {self.crowded_users} users, {self.few} of each on the other posts"
        return f"{self.users:,} users, {numbers} likes per post{some}; seed {self.seed}"

    def user(self, index: int) -> Item:
        """Return the cached user: every comment and like needs it."""
        if index not in self._users:
            self._users[index] = super().user(index)
        return self._users[index]

    def post_count(self, index: int) -> int:
        return EXHIBIT_POSTS if index == 0 else super().post_count(index)

    def response_counts(self, index: int, number: int, rng: random.Random) -> tuple[int, int]:
        if index == 0 and number < len(EXHIBITS):
            comments, likes = EXHIBITS[number]
            return comments, min(likes, self.users)
        if self.crowded_users is None or index < self.crowded_users:
            return super().response_counts(index, number, rng)
        return self.few.pick(rng), self.few.pick(rng, most=self.users)

    def exhibit(self, number: int) -> Item:
        return next(post for at, post in enumerate(self.posts(0, self.user(0))) if at == number)

    def _prose(self, rng: random.Random, post_id: str) -> Prose:
        return _LongProse(rng, self._rng("subject", post_id).choice(SUBJECTS), self._texts)

    @cached_property
    def _texts(self) -> list[str]:
        """Texts to choose from; comments can repeat."""
        rng = random.Random(f"{self.seed}/texts")  # noqa: S311 - made up, not secret
        return [_text(Prose(rng, rng.choice(SUBJECTS))) for _ in range(_TEXTS)]


class _LongProse(Prose):
    """Posts and comments of the article's length."""

    def __init__(self, rng: random.Random, subject: Subject, texts: list[str]) -> None:
        super().__init__(rng, subject)
        self._texts = texts

    def post(self) -> str:
        return self._rng.choice(self._texts)

    def remark(self) -> str:
        return self._rng.choice(self._texts)


def _text(prose: Prose) -> str:
    text = prose.post()
    while len(text) < TEXT_LENGTH:
        text += "\n\n" + prose.post()
    return text[: TEXT_LENGTH - 1] + "."
