"""What a run consists of: how long, how many of everything, and the moments at which something strikes.

All of it follows from the seed, as do the commands of every client and their keys. What a seed cannot fix is which
strike meets which command: that is decided by the machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """`seconds` is the length of the storm; starting and the checks afterwards come on top."""

    seed: int
    seconds: float = 60.0
    # One of the hosts' clocks each, in seconds from the database's: two of them are 5 s apart.
    host_clocks_s: tuple[float, ...] = (-2.0, 0.0, 3.0)
    host_kills: int = 50
    database_kills: int = 10
    lease_strikes: int = 20
    poison: int = 6
    authors: int = 10
    likers: int = 50
    writers: int = 20
    renames: int = 100
    settling_s: float = 90.0
    is_short: bool = False

    def random(self, *name: object) -> random.Random:
        """The generator of one actor, independent of all others."""
        return random.Random(" ".join(map(str, (self.seed, *name))))

    def moments(self, name: str, number: int) -> list[float]:
        """So many moments of the storm, in seconds since its beginning, in their order."""
        generator = self.random("moments", name)
        return sorted(generator.uniform(0, self.seconds) for _ in range(number))


def short(seed: int) -> Plan:
    """All kinds of strikes, few of each: for the test suite."""
    return Plan(
        seed=seed,
        seconds=6.0,
        host_clocks_s=(-2.0, 3.0),
        host_kills=5,
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
