"""The commands that the app acknowledged, and those that it may have run without a response."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

from shared.platform.database.sessions import Session

T = TypeVar("T")

# How long a request can run after its client disconnects: the app's deadline plus a margin.
IN_FLIGHT_S = 12.0
# From the end of the storm, or from sending if that was later.
ANSWER_DEADLINE_S = 60.0

PostAndUser = tuple[str, str]


@dataclass
class CommentState:
    post_id: str
    there: set[bool]


@dataclass
class RunRecord:
    """The possible states of everything: one if acknowledged, two if a client gave up.

    The state of a user or post is the username or title, or None if deleted. `created` maps each creation's unique text
    to the acknowledged IDs.
    """

    names: dict[str, set[str | None]] = field(default_factory=dict)
    posts: dict[str, set[str | None]] = field(default_factory=dict)
    comments: dict[str, CommentState] = field(default_factory=dict)
    likes: dict[PostAndUser, set[bool]] = field(default_factory=dict)
    # Whether a user has reported a post or comment, by the ID of the item and the user.
    reports: dict[PostAndUser, set[bool]] = field(default_factory=dict)
    # The least number of audit items, by the ID of what was deleted with a reason. Each attempt can write one.
    audits: dict[str, int] = field(default_factory=dict)
    # The IDs of users who cannot register again.
    banned: set[str] = field(default_factory=set)
    created: dict[str, set[str]] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    given_up: int = 0
    # Applied conditional commands whose client's first attempt got 412, because the app or the SDK retried an applied
    # write. RFC 9110, 13.1.1 allows it.
    rejected_although_applied: int = 0
    slowest_s: float = 0.0
    # The session tokens that all clients have seen, if they send session tokens.
    session: Session | None = None
    divergences: list[str] = field(default_factory=list)
    # Posts that returned 404.
    missed: set[str] = field(default_factory=set)
    # End of the storm, or 0.
    calm_since: float = 0.0
    _busy_until: dict[object, float] = field(default_factory=dict)
    _live: list[str] = field(default_factory=list)

    def post_created(self, post_id: str, title: str, *, for_all: bool = True) -> None:
        """Add a post. With `for_all`, other clients can comment on it and like it."""
        self.posts[post_id] = {title}
        if for_all:
            self._live.append(post_id)

    @property
    def live_posts(self) -> list[str]:
        """Posts that no client has started to delete."""
        return self._live

    def post_leaves(self, post_id: str) -> None:
        self._live.remove(post_id)
        self.posts[post_id].add(None)

    def diverged(self, what: str) -> None:
        """Record an unexpected response."""
        self.divergences.append(what)

    def is_overdue(self, sent: float) -> bool:
        """Return whether a command sent at this time is overdue; never during the storm."""
        return time.monotonic() > max(sent, self.calm_since) + ANSWER_DEADLINE_S

    def mark_busy(self, target: object) -> None:
        """Block commands to the target until a request without a response can no longer run."""
        self._busy_until[target] = time.monotonic() + IN_FLIGHT_S

    def is_busy(self, target: object) -> bool:
        return time.monotonic() < self._busy_until.get(target, 0.0)
