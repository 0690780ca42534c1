"""The two sets of coefficients: the service as recorded in 2026, and as the article measured it in 2019.

Write prices agree between the two years, query and script prices do not. Never mix rows of two profiles in
one ratio. Fitted values reproduce learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example within
about 15 %; the script share of 2019 explains two of its rows and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProfileName = Literal["service-2026", "article-2019"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Coefficients of queries and scripts, in request units.

    `query_start` and `query_start_unfiltered` are paid on each physical partition visited, `per_item` and
    `per_kb` for the items loaded (not only returned). `aggregate` replaces all of these for an aggregate that
    the index answers; None means that aggregates load their items. A script costs `script_start`, its reads,
    and `script_write_share` of its writes.
    """

    name: ProfileName
    query_start: float
    query_start_unfiltered: float
    per_item: float
    per_kb: float
    aggregate: float | None
    script_start: float
    script_write_share: float


PROFILES: dict[ProfileName, Profile] = {
    "service-2026": Profile(
        name="service-2026",
        query_start=2.82,
        query_start_unfiltered=2.25,
        per_item=0.0,
        per_kb=0.0195,
        aggregate=2.99,
        script_start=4.27,
        script_write_share=1.0,
    ),
    "article-2019": Profile(
        name="article-2019",
        query_start=2.82,
        query_start_unfiltered=2.82,
        per_item=0.075,
        per_kb=0.101,
        aggregate=None,
        script_start=2.4,
        script_write_share=0.53,
    ),
}
