"""The plan of a run: its duration, the number of everything, and the moments of the strikes.

The seed determines all of it, including every client's commands and keys, but not which strike affects which command.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from shared.settings import TransactionMode


@dataclass(frozen=True)
class Plan:
    """`seconds` is the duration of the storm, without startup and checks."""

    seed: int
    seconds: float = 60.0
    transactions: TransactionMode = "batch"
    # Lag of the database's replicas, as the emulator's --replica-lag; empty for none.
    replica_lag: str = ""
    # Clock skew of each host relative to the database.
    host_clocks_s: tuple[float, ...] = (-2.0, 0.0, 3.0)
    host_kills: int = 50
    database_kills: int = 10
    lease_strikes: int = 20
    poison: int = 6
    authors: int = 10
    likers: int = 50
    writers: int = 20
    renames: int = 100
    # 60 s pass before the leases of killed hosts expire. On a busy machine, one verification can take as long.
    settling_s: float = 240.0
    is_short: bool = False

    def random(self, *name: object) -> random.Random:
        """Return an independent random generator for one participant."""
        return random.Random(" ".join(map(str, (self.seed, *name))))

    def moments(self, name: str, number: int) -> list[float]:
        """Return sorted moments, in seconds from the start of the storm."""
        generator = self.random("moments", name)
        return sorted(generator.uniform(0, self.seconds) for _ in range(number))


def short(seed: int) -> Plan:
    """Return the test suite's plan: all kinds of strikes, few of each."""
    return Plan(
        seed=seed,
        seconds=4.0,
        host_clocks_s=(-2.0, 3.0),
        host_kills=3,
        database_kills=2,
        lease_strikes=4,
        poison=2,
        authors=4,
        likers=8,
        writers=4,
        renames=10,
        settling_s=60.0,
        is_short=True,
    )
