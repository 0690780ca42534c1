"""What an emulator is told when it starts, and the switches that a test may turn while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from cosmos_emulator.faults import Faults
from cosmos_emulator.http.latency import Latency

# Public and the same in every emulator of the service; it protects nothing.
WELL_KNOWN_KEY: Final = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
ChargeProfile = Literal["service-2026", "article-2019"]


@dataclass
class EmulatorSettings:
    """Settings of one emulator. Those after `management_key` may be changed while it runs.

    `port` 0 takes a free one. Without `data_dir` the data live in a temporary directory and go with the emulator.
    `partitions` is the number of physical partitions of a container created from now on. `charge_profile` picks the
    coefficients of the modelled request charge. `script_operations` is how many calls a script may make before the
    collection answers "not accepted" (None: until its time is nearly up); `script_time_limit_s` is 5 s in the
    service. `require_order_index` refuses an ORDER BY that no index serves, as the service does. `clock` gives
    seconds since the epoch and drives `_ts`, TTL, the seconds of throttling and the `Date` of answers.

    `tls` serves https with a certificate of its own making, which tokens of Entra ID need. `rbac` gives every caller
    the rights of an identity only; requests signed with `management_key` may manage all the same. `faults` strike
    requests on demand, `latency` holds back every answer, `throttle` enforces provisioned throughput.
    """

    host: str = "127.0.0.1"
    port: int = 0
    data_dir: Path | None = None
    partitions: int = 4
    key: str = WELL_KNOWN_KEY
    charge_profile: ChargeProfile = "service-2026"
    tls: bool = False
    management_key: str | None = None
    check_signatures: bool = True
    script_queries_see_own_writes: bool = False
    script_operations: int | None = None
    require_order_index: bool = False
    script_time_limit_s: float = 5.0
    purge_interval_s: float = 5.0
    faults: Faults = field(default_factory=Faults)
    latency: Latency | None = None
    throttle: bool = False
    rbac: bool = False
    clock: Callable[[], float] = field(default=time.time)
