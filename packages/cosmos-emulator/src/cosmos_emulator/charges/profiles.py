"""Charge coefficients: the service as recorded in 2026, and as the article measured it in 2019.

Writes cost the same in both profiles; queries and scripts do not. The fitted values reproduce
learn.microsoft.com/azure/cosmos-db/nosql/model-partition-example within about 15%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

# Estimate from learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-query-performance (modeled): a filter with an
# ORDER BY costs 44.28 RU, and 8.86 RU with a composite index for both. The data set has about 6,150 items: loading all
# of it costs 409.51 RU, and the article's other scan 4,059.95 RU for 60,951 items. 35.42 RU / 6,150 = 0.0058 RU.
PASSED_ENTRY_RU: Final = 0.0058

ProfileName = Literal["service-2026", "article-2019"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Coefficients of queries and scripts, in RU.

    `query_start` applies to each physical partition visited; `per_item` and `per_kb`, to the items loaded, returned or
    not; `per_passed_entry`, to the entries of the ORDER BY index that a filter excludes. `aggregate` replaces all of
    these if an index computes the aggregate; None loads its items. A script costs `script_start`, its reads, and
    `script_write_share` of its writes.
    """

    name: ProfileName
    query_start: float
    query_start_unfiltered: float
    per_item: float
    per_kb: float
    per_passed_entry: float
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
        per_passed_entry=PASSED_ENTRY_RU,
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
        per_passed_entry=0.0,  # already in the fitted values
        aggregate=None,
        script_start=2.4,
        script_write_share=0.53,
    ),
}
