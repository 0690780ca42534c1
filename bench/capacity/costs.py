"""Monthly cost in dollars."""

from __future__ import annotations

from dataclasses import dataclass

from bench.capacity.demand import Basis, ContainerDemand, Demand, functions_gb_seconds
from bench.capacity.prices_and_limits import (
    AUTOSCALE,
    AUTOSCALE_MIN,
    EXECUTIONS,
    GB_SECOND,
    HOURS_A_MONTH,
    MONTH_S,
    RU_HOUR,
    STORAGE,
)


@dataclass(frozen=True)
class Bill:
    """Monthly costs. `standard` and `autoscale` are alternatives."""

    standard: float
    autoscale: float
    storage: float
    functions: float

    @property
    def total(self) -> float:
        """Total with the cheaper throughput."""
        return min(self.standard, self.autoscale) + self.storage + self.functions


def bill(need: Demand, basis: Basis) -> Bill:
    """Return the cost in one region, without network, CDN, monitoring, backup and support."""
    containers = need.containers.values()
    gb_s = functions_gb_seconds(need, basis, MONTH_S)
    batches = (need.posts_feed.batches + need.users_feed.batches) * need.mean_share
    executions = (need.mean_http_requests + batches) * MONTH_S
    return Bill(
        standard=sum(standard(one.provisioned_ru) for one in containers),
        autoscale=sum(autoscale(one, need, basis) for one in containers),
        storage=sum(one.gb for one in containers) * STORAGE.value,
        functions=gb_s * GB_SECOND.value + executions / 1e6 * EXECUTIONS.value,
    )


def standard(ru: float) -> float:
    """Return the monthly cost of this throughput."""
    return ru / 100 * RU_HOUR.value * HOURS_A_MONTH


def autoscale(container: ContainerDemand, need: Demand, basis: Basis) -> float:
    """Return the monthly cost with autoscale: each hour's maximum, but at least a tenth of the highest."""
    hours_highest = container.ru * need.mean_share * basis.load.peak_in_hour / basis.assumed.used_share
    billed = max(container.provisioned_ru * AUTOSCALE_MIN.value, hours_highest)
    return standard(min(billed, container.provisioned_ru)) * AUTOSCALE.value
