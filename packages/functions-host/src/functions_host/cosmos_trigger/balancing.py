"""Lease balancing: live hosts get equal shares.

Rules: azure-cosmos-dotnet-v3 ChangeFeedProcessor/FeedManagement/EqualPartitionsBalancingStrategy.cs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import ceil

from .lease import Lease

Choice = Callable[[Sequence[Lease]], Lease]


def leases_to_acquire(
    leases: Sequence[Lease], host: str, now: datetime, expiration: timedelta, choose: Choice
) -> list[Lease]:
    """Return the free leases to acquire, up to this host's share, or at most one lease to steal.

    If the host already has its share, it still acquires one free lease, because the other hosts might be dead. `choose`
    picks that lease at random, so that hosts rarely compete for the same lease.
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
    return _lease_to_steal(leases, held, target, missing)


def _lease_to_steal(leases: Sequence[Lease], held: Counter[str | None], target: int, missing: int) -> list[Lease]:
    busiest, count = held.most_common(1)[0]
    # A host that lacks several leases also steals from hosts that have exactly their share.
    if count <= target - (1 if missing > 1 else 0):
        return []
    return [next(lease for lease in leases if lease.owner == busiest)]
