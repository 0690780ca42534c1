"""Published prices and limits.

Looked up on 2026-11-21 in stored copies of the pages; `as_of` is the copy's date. List prices in US dollars for a US
region, without reservations or free grants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_LEARN: Final = "learn.microsoft.com/azure"


@dataclass(frozen=True)
class Published:
    value: float
    unit: str
    what: str
    source: str
    as_of: str


_BILL: Final = (f"{_LEARN}/cosmos-db/understand-your-bill", "2022-03-31")
_RETAIL: Final = ("Azure Retail Prices API, East US 2, as quoted in two public repositories", "2026-10-05")
_QUOTAS: Final = (f"{_LEARN}/cosmos-db/concepts-limits", "undated copy")
_SCALING: Final = (f"{_LEARN}/cosmos-db/scaling-provisioned-throughput-best-practices", "undated copy")
_FLEX: Final = (f"{_LEARN}/azure-functions/flex-consumption-plan", "2024-05-24")

RU_HOUR: Final = Published(0.008, "$ per 100 RU/s and hour", "standard (manual) throughput", *_BILL)
AUTOSCALE: Final = Published(
    1.5, "times the standard rate", "autoscale", f"{_LEARN}/cosmos-db/how-to-choose-offer", "undated copy"
)
AUTOSCALE_MIN: Final = Published(
    0.1, "of the maximum", "minimum billed by autoscale", f"{_LEARN}/cosmos-db/how-to-choose-offer", "undated copy"
)
STORAGE: Final = Published(0.25, "$ per GB and month", "transactional storage, indexes included", *_BILL)
GB_SECOND: Final = Published(0.000026, "$ per GB-second", "Flex Consumption, on demand", *_RETAIL)
EXECUTIONS: Final = Published(0.40, "$ per million", "Flex Consumption, executions", *_RETAIL)
PRICES: Final = (RU_HOUR, AUTOSCALE, AUTOSCALE_MIN, STORAGE, GB_SECOND, EXECUTIONS)

PARTITION_RU: Final = Published(10_000, "RU/s", "a partition, logical or physical", *_QUOTAS)
CONTAINER_RU: Final = Published(1_000_000, "RU/s", "a container, without a support ticket", *_QUOTAS)
LOGICAL_GB: Final = Published(20, "GB", "a logical partition", *_QUOTAS)
PHYSICAL_GB: Final = Published(50, "GB", "a physical partition", *_SCALING)
MIN_RU_PER_GB: Final = Published(1, "RU/s per GB", "minimum throughput of a container", *_QUOTAS)
MIN_RU: Final = Published(400, "RU/s", "minimum throughput of a container", *_QUOTAS)
BURST_RU: Final = Published(
    3_000, "RU/s", "burst capacity of a physical partition", f"{_LEARN}/cosmos-db/burst-capacity", "undated copy"
)
BURST_S: Final = Published(
    300, "s of idle throughput", "saved for bursts", f"{_LEARN}/cosmos-db/burst-capacity", "undated copy"
)
APP_INSTANCES: Final = Published(1_000, "instances", "a Flex Consumption app", *_FLEX)
REGION_CORES: Final = Published(250, "instances of 2 GB", "a subscription and region, without a ticket", *_FLEX)
LIMITS: Final = (
    PARTITION_RU,
    CONTAINER_RU,
    LOGICAL_GB,
    PHYSICAL_GB,
    MIN_RU_PER_GB,
    MIN_RU,
    BURST_RU,
    BURST_S,
    APP_INSTANCES,
    REGION_CORES,
)

HOURS_A_MONTH: Final = 730
MONTH_S: Final = HOURS_A_MONTH * 3600
INSTANCE_GB: Final = 2.0
