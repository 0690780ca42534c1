"""Settings of an emulator, some of which can be changed while it runs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from random import Random
from typing import Final, Literal, get_args

from cosmos_emulator.faults import Faults
from cosmos_emulator.latency import Latency
from cosmos_emulator.runtime.clock import AdjustableClock
from cosmos_emulator.vocabulary.consistency import LEVELS, ConsistencyLevel

# Public and identical in every Cosmos DB emulator; not a secret.
WELL_KNOWN_KEY: Final = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
ChargeProfile = Literal["service-2026", "article-2019"]
ScriptEdition = Literal["2017", "latest"]


@dataclass(slots=True)
class EmulatorSettings:
    """Settings of one emulator. Those from `partitions` on can change while it runs, some also over HTTP (README.md).

    Raises TypeError or ValueError for an invalid value, also when a field is changed, and AttributeError if one of the
    others is changed while the emulator runs.

    Attributes:
        port: 0 picks a free port.
        data_dir: None stores the data in a temporary directory.
        charge_profile: Coefficients of the modeled request charge.
        tls_names: More host names and addresses of the certificate, such as a Compose service's.
        accept_entra_tokens: Accept any Microsoft Entra ID token also with another `key` than the well-known one.
        continuous_backup_days: The account's continuous backup, which enables the change feed of all versions and
            deletes in every container (learn.microsoft.com/azure/cosmos-db/change-feed-modes). None: only in those with
            a `changeFeedPolicy`.
        management_key: A second key, exempt from `rbac`.
        purge_interval_s: Seconds between purges of expired items.
        seed: Repeats the probabilities of faults, latency and replica lag. None: they differ at every start.
        partitions: Least number of physical partitions of a new container; more throughput creates more.
        script_operations: Calls a script can make before the next is not accepted; None: limited only by time.
        lenient_order_by: Accept an ORDER BY without an index, which the service rejects.
        script_edition: JavaScript of scripts: ES2017, like the service, or what the engine offers.
        script_time_limit_s: The service allows 5 s.
        latency: Delay of every response, such as `Latency.parse("10ms±5ms")`.
        replica_lag: How far reads without a newer session token are behind, such as `Latency.parse("1h")`. None lets
            all replicas catch up.
        consistency: The account's consistency level, which decides what `replica_lag` affects.
        throttle: Enforce the provisioned throughput.
        multiple_write_regions: Report an account with two write regions.
        account_endpoint: The URL that the account reports to clients. None reports the one that the client used.
        rbac: Give callers only the rights of a Microsoft Entra ID data role.
        rbac_actions: The data actions of this role, also with wildcards; None: all.
        clock: Returns seconds since the epoch, for `_ts`, TTL, throttling, queries, scripts and the `Date` header.
            Tests can freeze and advance the default, an `AdjustableClock`.
        random: What decides on latency and replica lag.
        is_running: Whether an emulator uses these settings.
    """

    host: str = "127.0.0.1"
    port: int = 0
    data_dir: Path | None = None
    key: str = WELL_KNOWN_KEY
    charge_profile: ChargeProfile = "service-2026"
    tls: bool = False
    tls_names: tuple[str, ...] = ()
    accept_entra_tokens: bool = False
    continuous_backup_days: Literal[7, 30] | None = None
    management_key: str | None = None
    purge_interval_s: float = 5.0
    seed: int | None = None
    partitions: int = 1
    check_signatures: bool = True
    script_queries_see_own_writes: bool = True
    script_operations: int | None = None
    lenient_order_by: bool = False
    script_edition: ScriptEdition = "2017"
    script_time_limit_s: float = 5.0
    faults: Faults = field(default_factory=Faults)
    latency: Latency | None = None
    replica_lag: Latency | None = None
    consistency: ConsistencyLevel = "Session"
    throttle: bool = False
    rbac: bool = False
    rbac_actions: frozenset[str] | None = None
    multiple_write_regions: bool = False
    account_endpoint: str | None = None
    clock: Callable[[], float] = field(default_factory=AdjustableClock)
    random: Random = field(init=False, repr=False)
    is_running: bool = field(init=False, default=False, repr=False, compare=False)

    def __setattr__(self, name: str, value: object) -> None:
        """Check and set a field."""
        if name in FIXED and getattr(self, "is_running", False):
            raise AttributeError(f"{name} cannot change while the emulator runs; only {', '.join(_CHANGEABLE)} can")
        _check(name, value)
        object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)  # noqa: S311 - repeatable, not secret
        if self.seed is not None:
            self.faults.use_seed(self.seed)


_GIVEN: Final = [one.name for one in fields(EmulatorSettings) if one.init]
_FIRST_CHANGEABLE: Final = _GIVEN.index("partitions")
FIXED: Final = frozenset(_GIVEN[:_FIRST_CHANGEABLE])
_CHANGEABLE: Final = _GIVEN[_FIRST_CHANGEABLE:]
_CHOICES: Final[Mapping[str, tuple[object, ...]]] = {
    "charge_profile": get_args(ChargeProfile),
    "consistency": LEVELS,
    "continuous_backup_days": (None, 7, 30),
    "script_edition": get_args(ScriptEdition),
}
_DURATIONS: Final = ("latency", "replica_lag")
_KEYS: Final = ("key", "management_key")
_LEAST: Final = {"partitions": 1, "port": 0, "purge_interval_s": 0, "script_operations": 0, "script_time_limit_s": 0}
_TYPES: Final[dict[str, type]] = {
    one.name: type(one.default) for one in fields(EmulatorSettings) if isinstance(one.default, bool | int | float | str)
}


def _check(name: str, value: object) -> None:
    kind = _TYPES.get(name)
    if kind is not None and not (type(value) is kind or (kind is float and type(value) is int)):
        raise TypeError(f"{name} must be {kind.__name__}, not {value!r}")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, _CHOICES[name]))}, not {value!r}")
    if name in _DURATIONS and not isinstance(value, Latency | None):
        raise TypeError(f"{name} must be a Latency, such as Latency.parse('500ms'), not {value!r}")
    if name in _LEAST and isinstance(value, int | float) and not value >= _LEAST[name]:
        raise ValueError(f"{name} must be at least {_LEAST[name]}, not {value!r}")
    if name in _KEYS and value is not None:
        _check_key(name, value)


def _check_key(name: str, value: object) -> None:
    try:
        base64.b64decode(str(value), validate=True)
    except ValueError:
        raise ValueError(f"{name} must be base64") from None
