"""The article's ten requests, made again and again on a model that holds the planned blog.

Reads ask for what stays the same: the exhibits of the plan. Writes make something new each time, with users who were
made for it and on posts of users that no read looks at.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Final

from bench.models.interface import Model, Post, User
from bench.models.plan import TEXT_LENGTH, ArticlePlan
from bench.timing import Action, BenchmarkError

_CONTENT: Final = ("word " * TEXT_LENGTH)[: TEXT_LENGTH - 1] + "."
_TITLE: Final = "A title of fifty characters, as long as they may be"[:50]
_FRESH_USERS: Final = 40


@dataclass(frozen=True)
class Exhibits:
    """What is asked for: the user with 29 posts and one of these, and where comments and likes go."""

    user_id: str
    post_id: str
    targets: list[str]
    fresh: list[User]

    @classmethod
    async def prepare(cls, model: Model, plan: ArticlePlan, *, post: int = 0, writes: bool = True) -> Exhibits:
        """The exhibits; where there will be `writes` with users who have liked nothing yet."""
        targets = [item["id"] for index in range(1, min(plan.users, 6)) for item in plan.posts(index, plan.user(index))]
        names = [f"fresh-{uuid.uuid4().hex[:12]}" for _ in range(_FRESH_USERS if writes else 0)]
        fresh = [await model.create_user(name) for name in names]
        return cls(plan.user(0)["id"], plan.exhibit(post)["id"], targets, fresh)

    def liker(self, number: int) -> tuple[str, User]:
        """A post and a user who has not liked it. Raises BenchmarkError once there is no such pair."""
        if number >= len(self.targets) * len(self.fresh):
            raise BenchmarkError("every fresh user has liked every target")
        return self.targets[number % len(self.targets)], self.fresh[number // len(self.targets)]

    def target(self, number: int) -> str:
        return self.targets[number % len(self.targets)]


def reads(model: Model, exhibits: Exhibits) -> dict[str, Action]:
    """Q1 to Q6."""
    return {
        "Q1": lambda _: model.get_user(exhibits.user_id),
        "Q2": lambda _: model.get_post(exhibits.post_id),
        "Q3": lambda _: model.list_user_posts(exhibits.user_id),
        "Q4": lambda _: model.list_comments(exhibits.post_id),
        "Q5": lambda _: model.list_likes(exhibits.post_id),
        "Q6": lambda _: model.feed(),
    }


def writes(model: Model, exhibits: Exhibits, posts: dict[str, Post]) -> dict[str, Action]:
    """C1 to C4, and the edits for which the article has no figure. `posts` are states of the targets, by id."""

    async def like(number: int) -> object:
        post_id, liker = exhibits.liker(number)
        return await model.like(post_id, liker)

    async def edit_post(number: int) -> object:
        return await model.edit_post(posts[exhibits.target(number)], f"{_TITLE[:-8]}{number:08}", _CONTENT.upper())

    author = exhibits.fresh[0]
    return {
        "C1": lambda _: model.create_user(f"new-{uuid.uuid4().hex[:8]}"),
        "C2": lambda _: model.create_post(author, _TITLE, _CONTENT),
        "C3": lambda number: model.create_comment(exhibits.target(number), author, _CONTENT),
        "C4": like,
        "C1 edit": lambda number: model.rename_user(exhibits.fresh[number % len(exhibits.fresh)], _name()),
        "C2 edit": edit_post,
    }


def _name() -> str:
    return f"re-{uuid.uuid4().hex[:9]}"
