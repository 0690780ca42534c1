"""The data model as the inspector draws it: containers from containers.json, and the declared change feeds."""

from __future__ import annotations

from functools import cache
from typing import Any

from shared.containers import FAILURES, FEED, LEASES, POSTS, USERS, container_definitions
from shared.propagation.change_feeds import CHANGE_FEEDS

# The containers that the function of a change feed writes to.
_TARGETS = {USERS: (POSTS,), POSTS: (USERS, FEED)}
_WIDTH, _GAP = 142, 10
_TOP, _BOTTOM, _FUNCTION = 58, 132, 182
_ASIDE = 26


@cache
def data_model() -> dict[str, Any]:
    """Boxes of `containers` and `functions`, and `arrows` as SVG paths, by the ends that inspector-diagram.js names."""
    stored = [definition for definition in container_definitions() if definition["id"] not in (FAILURES, LEASES)]
    left = {definition["id"]: number * (_WIDTH + _GAP) + 2 for number, definition in enumerate(stored)}
    middle = {name: x + _WIDTH // 2 for name, x in left.items()}
    center = sum(middle.values()) // len(middle)
    arrows = {f"requests {name}": f"M{center} 30C{center} 46 {x} 38 {x} {_TOP - 3}" for name, x in middle.items()}
    for feed in CHANGE_FEEDS.values():
        start = middle[feed.container]
        arrows[f"{feed.container} {feed.function}"] = f"M{start} {_BOTTOM}V{_FUNCTION - 3}"
        for target in _TARGETS[feed.container]:
            aside = _ASIDE if middle[target] > start else -_ASIDE
            begin, end, half = start + aside, middle[target] - aside, (_BOTTOM + _FUNCTION) // 2
            arrows[f"{feed.function} {target}"] = (
                f"M{begin} {_FUNCTION}C{begin} {half} {end} {half} {end} {_BOTTOM + 3}"
            )
    return {
        "width": max(left.values()) + _WIDTH + 2,
        "center": center,
        "box": {"width": _WIDTH, "top": _TOP, "height": _BOTTOM - _TOP, "function": _FUNCTION},
        "containers": [
            {"id": definition["id"], "key": definition["partitionKey"]["paths"][0], "x": left[definition["id"]]}
            for definition in stored
        ],
        "functions": [{"name": feed.function, "x": left[feed.container]} for feed in CHANGE_FEEDS.values()],
        "arrows": arrows,
    }
