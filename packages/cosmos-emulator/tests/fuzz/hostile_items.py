"""Items with many different shapes."""

from __future__ import annotations

from typing import Any, Final


def _deep(levels: int) -> Any:
    return [{"a": _deep(levels - 2)}] if levels > 0 else 1


ITEMS: Final[list[dict[str, Any]]] = [
    {"id": "1", "pk": "p", "n": 1, "s": "a", "b": True, "tags": ["a", "b"], "o": {"id": 1, "n": [1]}, "text": "a%b_c"},
    {"id": "2", "pk": "p", "n": 2.5, "s": "B", "b": False, "tags": [], "o": {}, "text": "", "z": None},
    {"id": "3", "pk": "p", "n": None, "s": None, "b": None, "tags": None, "o": None, "deep": _deep(60)},
    {
        "id": "4",
        "pk": "p",
        "n": "1",
        "s": 1,
        "b": "true",
        "tags": {"0": 1},
        "o": [[1, 2], [{"n": 3}]],
        "text": "x" * 5000,
    },
    {"id": "5", "pk": "p", "n": 1e308, "s": "😀é\u0000", "tags": [1, "a", None, [1], {"n": 1}], "o": {"o": {"o": {}}}},
    {"id": "6", "pk": "q", "n": -9007199254740993, "s": "ß", "tags": ["a", "a", "a"], "text": "(((((", "z": []},
    {
        "id": "7",
        "pk": "q",
        "n": 0,
        "s": "2024-01-01T00:00:00.0000000Z",
        "tags": [[[[]]]],
        "z": {"": 0},
        "text": "a" * 40,
    },
    {"id": "8", "pk": "q"},
]
