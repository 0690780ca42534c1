"""Lease balancing: equal shares, no unowned leases, no thrashing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from functions_host.cosmos_trigger.balancing import leases_to_acquire
from functions_host.cosmos_trigger.lease import FeedRange, Lease

NOW = datetime(2024, 1, 1, tzinfo=UTC)
EXPIRATION = timedelta(seconds=60)


def leases(*owners: str | None, age_s: float = 0) -> list[Lease]:
    return [
        Lease(str(n), str(n), FeedRange("", "FF"), owner, timestamp=NOW - timedelta(seconds=age_s))
        for n, owner in enumerate(owners)
    ]


def acquired(found: list[Lease], host: str = "me") -> list[str]:
    return [lease.id for lease in leases_to_acquire(found, host, NOW, EXPIRATION, lambda free: free[0])]


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ((), []),
        ((None, None, None, None), ["0", "1", "2", "3"]),
        (("a", "a", None, None), ["2", "3"]),
        (("a", "a", "a", None), ["3"]),
        (("me", "me", "a", None), ["3"]),
        (("me", "me", "me", None), ["3"]),
        (("a", "a", "a", "a"), ["0"]),
        (("me", "a", "a", "a"), ["1"]),
        (("me", "me", "a", "a"), []),
        (("a",), []),
        (("a", "a", "b", "b"), ["0"]),
        (("a", "b"), []),
        (("a", "a", "b"), ["0"]),
    ],
)
def test_a_host_acquires_its_share(owners: tuple[str | None, ...], expected: list[str]) -> None:
    assert acquired(leases(*owners)) == expected


def test_an_expired_lease_is_free() -> None:
    assert acquired(leases("dead", "dead", age_s=61)) == ["0", "1"]
    assert acquired(leases("alive", age_s=59)) == []


@pytest.mark.parametrize(("count", "hosts"), [(4, 2), (4, 3), (10, 3), (1, 3), (7, 7)])
def test_alternating_hosts_converge_to_equal_shares(count: int, hosts: int) -> None:
    owned: list[str | None] = [None] * count
    for _ in range(40):
        for host in map(str, range(hosts)):
            for lease_id in acquired(leases(*owned), host):
                owned[int(lease_id)] = host

    shares = [owned.count(str(host)) for host in range(hosts)]
    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1
