"""The visits of the tour's pages, and the posts that each has written.

They are kept in memory, so after a crash no visit is open. tour.py deletes the posts of the tour that no visit has.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field

from shared.errors import PostNotFound

# A reader who does nothing for longer must press the buttons again.
IDLE_S = 600.0
_KEPT_ENDED = 1_000


@dataclass
class _Visit:
    used_s: float
    posts: dict[str, None] = field(default_factory=dict)


class Visits:
    """Which posts the open visits have written. A visit is open from its first command until it ends or is idle."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._open: dict[str, _Visit] = {}
        # A command can still run when its page is left.
        self._ended: OrderedDict[str, None] = OrderedDict()

    def use(self, visit: str) -> None:
        """Open a visit, or note that it is not idle."""
        if visit not in self._ended:
            self._open.setdefault(visit, _Visit(0)).used_s = time.monotonic()

    def add(self, visit: str, *post_ids: str) -> None:
        """Keep posts until the visit ends."""
        if visit in self._open:
            self._open[visit].posts |= dict.fromkeys(post_ids)

    def posts(self, visit: str) -> list[str]:
        """Return the posts of an open visit."""
        return list(self._open[visit].posts) if visit in self._open else []

    def require(self, visit: str, post_id: str) -> None:
        """Raise PostNotFound unless the visit has written the post."""
        if post_id not in self.posts(visit):
            raise PostNotFound(post_id)

    def kept(self) -> set[str]:
        """Return the posts of all open visits."""
        return {post_id for visit in self._open.values() for post_id in visit.posts}

    def has_ended(self, visit: str) -> bool:
        return visit in self._ended

    def end(self, visit: str) -> None:
        """End a visit, also before its first command arrives."""
        self._open.pop(visit, None)
        self._ended[visit] = None
        while len(self._ended) > _KEPT_ENDED:
            self._ended.popitem(last=False)

    def end_idle(self) -> None:
        """End the visits that nobody has ended: the browser crashed, or the network failed."""
        earliest_s = time.monotonic() - self._idle_s
        for visit in [name for name, opened in self._open.items() if opened.used_s < earliest_s]:
            self.end(visit)
