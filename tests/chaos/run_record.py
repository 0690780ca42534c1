"""What the app acknowledged and what may have happened without an answer."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

# How long a request may keep running after its client disconnects: the app's deadline plus a margin.
IN_FLIGHT_S = 12.0
# Deadline for an answer after the storm, or after sending if the command was sent later.
ANSWER_DEADLINE_S = 60.0

PostAndUser = tuple[str, str]


@dataclass
class CommentState:
    post_id: str
    there: set[bool]


@dataclass
class RunRecord:
    """The possible states of everything: one if acknowledged, two if a client gave up.

    A post's state is its title, or None if deleted. `created` maps the unique text of each creation to the IDs
    acknowledged for it: none if it had no answer.
    """

    names: dict[str, set[str]] = field(default_factory=dict)
    posts: dict[str, set[str | None]] = field(default_factory=dict)
    comments: dict[str, CommentState] = field(default_factory=dict)
    likes: dict[PostAndUser, set[bool]] = field(default_factory=dict)
    created: dict[str, set[str]] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    given_up: int = 0
    # Conditional commands refused with 412 on the client's first attempt although they took effect. The app or the SDK
    # had retried a write that was already applied. RFC 9110, 13.1.1 allows it.
    rejected_although_applied: int = 0
    slowest_s: float = 0.0
    divergences: list[str] = field(default_factory=list)
    # Posts for which a request returned 404.
    missed: set[str] = field(default_factory=set)
    # End of the storm; 0 if there is none.
    calm_since: float = 0.0
    _busy_until: dict[object, float] = field(default_factory=dict)
    _live: list[str] = field(default_factory=list)

    def post_created(self, post_id: str, title: str, *, for_all: bool = True) -> None:
        """Add a post. With `for_all`, other clients may comment on it and like it."""
        self.posts[post_id] = {title}
        if for_all:
            self._live.append(post_id)

    @property
    def live_posts(self) -> list[str]:
        """Posts that no client has started to delete."""
        return self._live

    def post_leaves(self, post_id: str) -> None:
        """Record that a deletion starts."""
        self._live.remove(post_id)
        self.posts[post_id].add(None)

    def diverged(self, what: str) -> None:
        """Record an unexpected answer."""
        self.divergences.append(what)

    def is_overdue(self, sent: float) -> bool:
        """Return whether a command sent at this time has missed its deadline. There is none during the storm."""
        return time.monotonic() > max(sent, self.calm_since) + ANSWER_DEADLINE_S

    def mark_busy(self, target: object) -> None:
        """Block commands to the target until an unanswered request cannot run any more, so its state is known."""
        self._busy_until[target] = time.monotonic() + IN_FLIGHT_S

    def is_busy(self, target: object) -> bool:
        return time.monotonic() < self._busy_until.get(target, 0.0)
