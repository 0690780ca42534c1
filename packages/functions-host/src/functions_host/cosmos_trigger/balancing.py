"""Which leases a host takes next, so that all live hosts end with equal shares.

Rules: azure-cosmos-dotnet-v3 ChangeFeedProcessor/FeedManagement/EqualPartitionsBalancingStrategy.cs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import ceil

from .lease import Lease

Choice = Callable[[Sequence[Lease]], Lease]


def leases_to_take(
    leases: Sequence[Lease], host: str, now: datetime, expiration: timedelta, choose: Choice
) -> list[Lease]:
    """Free and expired leases up to this host's share, otherwise at most one stolen from the busiest host.

    A free lease is taken even beyond the share, since nobody else may be alive to take it; `choose` picks that one
    at random, so that several hosts do not all try for the same.
    """
    if not leases:
        return []
    free = [lease for lease in leases if lease.owner is None or lease.is_expired(now, expiration)]
    held = Counter(lease.owner for lease in leases if lease not in free)
    held.setdefault(host, 0)
    target = ceil(len(leases) / len(held))
    missing = target - held[host]
    if free:
        return free[:missing] if missing > 1 else [choose(free)]
    if missing <= 0:
        return []
    return _one_to_steal(leases, held, target, missing)


def _one_to_steal(leases: Sequence[Lease], held: Counter[str | None], target: int, missing: int) -> list[Lease]:
    busiest, count = held.most_common(1)[0]
    # Short of several, a host may also take from one that has exactly its share.
    if count <= target - (1 if missing > 1 else 0):
        return []
    return [next(lease for lease in leases if lease.owner == busiest)]
