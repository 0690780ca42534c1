"""The article's ten requests, repeatable on a model that holds the planned blog.

Reads always use the plan's exhibits. Each write uses another user, because the project caches recent users, and posts
that are never read.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Final

from bench.models.interface import Model, PostView, UserView
from bench.models.plan import TEXT_LENGTH, ArticlePlan
from bench.timing import Action

_CONTENT: Final = ("word " * TEXT_LENGTH)[: TEXT_LENGTH - 1] + "."
_TITLE: Final = "A title of fifty characters, as long as they may be"[:50]
_POSTS_OF: Final = 6  # users whose posts are written to


@dataclass(frozen=True)
class Exhibits:
    """The measured user, with 29 posts, and one of these."""

    user_id: str
    post_id: str

    @classmethod
    def of(cls, plan: ArticlePlan, *, post: int = 0) -> Exhibits:
        return cls(plan.user(0)["id"], plan.exhibit(post)["id"])


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


@dataclass(frozen=True)
class Writers:
    """A new user for each command, and posts to write to."""

    users: dict[str, list[UserView]]
    targets: list[PostView]

    @classmethod
    async def prepare(cls, model: Model, plan: ArticlePlan, commands: int) -> Writers:
        """Create users for this many commands of each kind."""
        users = {name: [await model.create_user(_name()) for _ in range(commands)] for name in _BY_A_USER}
        ids = [
            post["id"] for index in range(1, min(plan.users, _POSTS_OF)) for post in plan.posts(index, plan.user(index))
        ]
        return cls(users, [await model.get_post(post_id) for post_id in ids])

    def target(self, number: int) -> PostView:
        return self.targets[number % len(self.targets)]


_BY_A_USER: Final = ("C2", "C3", "C4", "C1 edit")


def writes(model: Model, writers: Writers) -> dict[str, Action]:
    """C1 to C4, and the edits, which the article does not list."""
    users = writers.users
    return {
        "C1": lambda _: model.create_user(_name()),
        "C2": lambda number: model.create_post(users["C2"][number], _TITLE, _CONTENT),
        "C3": lambda number: model.create_comment(writers.target(number).id, users["C3"][number], _CONTENT),
        "C4": lambda number: model.like(writers.target(number).id, users["C4"][number]),
        "C1 edit": lambda number: model.rename_user(users["C1 edit"][number], _name()),
        "C2 edit": lambda number: model.edit_post(writers.target(number), _new_title(), _CONTENT),
    }


def _new_title() -> str:
    """A title that no other edit has: two models can share a database, and the same edit again writes nothing."""
    return f"{uuid.uuid4().hex[:8]} {_TITLE[9:]}"


def _name() -> str:
    return f"new-{uuid.uuid4().hex[:8]}"
