"""The article's measurements of 2019, with 100,000 users.

learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example. Nineteen of the thirty figures are distinct: V3
repeats most of V2's, and V2 some of V1's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Figure:
    """One cell of the article's table."""

    latency_ms: float
    charge_ru: float


REQUESTS: Final = {
    "C1": "create a user",
    "Q1": "retrieve a user",
    "C2": "create a post",
    "Q2": "retrieve a post",
    "Q3": "list a user's posts",
    "C3": "create a comment",
    "Q4": "list a post's comments",
    "C4": "like a post",
    "Q5": "list a post's likes",
    "Q6": "list the 100 most recent posts",
}
ARTICLE: Final[dict[str, dict[str, Figure]]] = {
    "C1": {"V1": Figure(7, 5.71), "V2": Figure(7, 5.71), "V3": Figure(7, 5.71)},
    "Q1": {"V1": Figure(2, 1), "V2": Figure(2, 1), "V3": Figure(2, 1)},
    "C2": {"V1": Figure(9, 8.76), "V2": Figure(9, 8.76), "V3": Figure(9, 8.76)},
    "Q2": {"V1": Figure(9, 19.54), "V2": Figure(2, 1), "V3": Figure(2, 1)},
    "Q3": {"V1": Figure(130, 619.41), "V2": Figure(28, 201.54), "V3": Figure(4, 6.46)},
    "C3": {"V1": Figure(7, 8.57), "V2": Figure(7, 15.27), "V3": Figure(7, 15.27)},
    "Q4": {"V1": Figure(23, 27.72), "V2": Figure(4, 7.72), "V3": Figure(4, 7.72)},
    "C4": {"V1": Figure(6, 7.05), "V2": Figure(7, 14.67), "V3": Figure(7, 14.67)},
    "Q5": {"V1": Figure(59, 58.92), "V2": Figure(4, 8.92), "V3": Figure(4, 8.92)},
    "Q6": {"V1": Figure(306, 2063.54), "V2": Figure(83, 532.33), "V3": Figure(9, 16.97)},
}
# Figures that contradict published charges of the same operations.
UNEXPLAINED: Final = {
    ("C2", "V2"): "the article repeats V1's figure although the post has three more properties",
    ("C2", "V3"): "as V2",
    ("C1", "V3"): "the article repeats V1's figure although the user has two more properties and a different key",
    ("C3", "V2"): "script: lower than any published charges explain; the profile charges 53 % of its writes",
    ("C3", "V3"): "as V2",
    ("C4", "V2"): "script: as C3",
    ("C4", "V3"): "as V2",
}
