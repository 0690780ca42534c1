"""What the app has answered for, and what may be because no answer came: held against the blog when all is over."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

# The time that a request may still be at work after its client has gone: the app's deadline, and some.
IN_FLIGHT_S = 12.0
# How long after the storm, or after it was sent in the calm, a command may go without an answer.
PATIENCE_S = 60.0

PostAndUser = tuple[str, str]


@dataclass
class Comment:
    post_id: str
    there: set[bool]


@dataclass
class Record:
    """Of everything the states in which it may be found: one for what was answered, two where a client gave up.

    A post's state is its title, None when it is deleted. `created` has the ids of what was created by the marks that
    its creation carried: none for a creation without an answer.
    """

    names: dict[str, set[str]] = field(default_factory=dict)
    posts: dict[str, set[str | None]] = field(default_factory=dict)
    comments: dict[str, Comment] = field(default_factory=dict)
    likes: dict[PostAndUser, set[bool]] = field(default_factory=dict)
    created: dict[str, set[str]] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    given_up: int = 0
    # Conditional commands that were answered with 412 at their first attempt, and carried out: the app, or the SDK
    # below it, had sent the write again, and the second one met what the first had done. RFC 9110, 13.1.1 allows it.
    refused_though_done: int = 0
    slowest_s: float = 0.0
    divergences: list[str] = field(default_factory=list)
    # Posts of which an answer said that they are not there.
    missed: set[str] = field(default_factory=set)
    # When the storm ended; without one there is calm from the start.
    calm_since: float = 0.0
    _busy_until: dict[object, float] = field(default_factory=dict)
    _live: list[str] = field(default_factory=list)

    def post_created(self, post_id: str, title: str, *, for_all: bool = True) -> None:
        """`for_all`: others may comment on it and like it."""
        self.posts[post_id] = {title}
        if for_all:
            self._live.append(post_id)

    @property
    def live_posts(self) -> list[str]:
        """Those that nobody has begun to delete."""
        return self._live

    def post_leaves(self, post_id: str) -> None:
        """Its deletion begins."""
        self._live.remove(post_id)
        self.posts[post_id].add(None)

    def diverged(self, what: str) -> None:
        """A promise that an answer itself broke."""
        self.divergences.append(what)

    def is_overdue(self, sent: float) -> bool:
        """Whether a command that was sent at this moment should have been answered by now: in a storm there is no
        telling how long that takes."""
        return time.monotonic() > max(sent, self.calm_since) + PATIENCE_S

    def leave_alone(self, target: object) -> None:
        """A request without an answer may still be carried out, after one that comes later: nobody may command the
        target until it is surely over, or nobody could say what its state must be."""
        self._busy_until[target] = time.monotonic() + IN_FLIGHT_S

    def is_busy(self, target: object) -> bool:
        return time.monotonic() < self._busy_until.get(target, 0.0)
