"""Charge coefficients: the service as recorded in 2026, and as the article measured it in 2019.

Writes cost the same in both profiles; queries and scripts do not. The fitted values reproduce
learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example within about 15%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProfileName = Literal["service-2026", "article-2019"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Coefficients of queries and scripts, in RU.

    `query_start` applies to each physical partition visited; `per_item` and `per_kb`, to the items loaded, returned or
    not. `aggregate` replaces all of these if an index computes the aggregate; None loads its items. A script
    costs `script_start`, its reads, and `script_write_share` of its writes.
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
