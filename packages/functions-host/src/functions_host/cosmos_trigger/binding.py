"""Properties of a Cosmos DB trigger binding.

Rules: azure-webjobs-sdk-extensions CosmosDB/Trigger/CosmosDBTriggerAttribute.cs and
CosmosDBTriggerAttributeBindingProvider.cs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from ..app_settings import AppSettings
from ..errors import FunctionIndexError
from ..functions import Binding

Start = Literal["now", "beginning"] | datetime

Mode = Literal["LatestVersion", "AllVersionsAndDeletes"]

_MILLISECOND = 0.001
_LEGACY = ("collectionName", "connectionStringSetting", "leaseCollectionName")


@dataclass(frozen=True)
class CosmosTriggerBinding:
    """A trigger's properties. If `page_size` is None, the service chooses it."""

    connection: str
    database: str
    container: str
    lease_connection: str
    lease_database: str
    lease_container: str
    lease_prefix: str
    create_lease_container: bool
    lease_throughput: int | None
    poll_delay_s: float
    acquire_interval_s: float
    expiration_interval_s: float
    renew_interval_s: float
    page_size: int | None
    mode: Mode
    start: Start
    preferred_locations: tuple[str, ...]


def parse_binding(binding: Binding, settings: AppSettings) -> CosmosTriggerBinding:
    """Parse a binding. Raises FunctionIndexError."""
    reader = PropertyReader(binding, settings)
    connection, database, container = (
        reader.name("connection", "CosmosDB"),
        reader.required("databaseName"),
        reader.required("containerName"),
    )
    lease_connection = reader.name("leaseConnection", connection)
    lease_database = reader.text("leaseDatabaseName", database)
    lease_container = reader.text("leaseContainerName", "leases")
    monitored, leases = (connection, database, container), (lease_connection, lease_database, lease_container)
    if [part.lower() for part in monitored] == [part.lower() for part in leases]:
        raise FunctionIndexError("the monitored container and the lease container cannot be the same")
    return CosmosTriggerBinding(
        connection=connection,
        database=database,
        container=container,
        lease_connection=lease_connection,
        lease_database=lease_database,
        lease_container=lease_container,
        lease_prefix=reader.text("leaseContainerPrefix", ""),
        create_lease_container=reader.flag("createLeaseContainerIfNotExists"),
        lease_throughput=reader.positive("leasesContainerThroughput"),
        poll_delay_s=(reader.positive("feedPollDelay") or 5000) * _MILLISECOND,
        acquire_interval_s=(reader.positive("leaseAcquireInterval") or 13000) * _MILLISECOND,
        expiration_interval_s=(reader.positive("leaseExpirationInterval") or 60000) * _MILLISECOND,
        renew_interval_s=(reader.positive("leaseRenewInterval") or 17000) * _MILLISECOND,
        page_size=reader.positive("maxItemsPerInvocation"),
        mode=reader.mode(),
        start=reader.start(),
        preferred_locations=reader.locations(),
    )


class PropertyReader:
    """Reads properties like .NET's binder, which accepts text for any type."""

    def __init__(self, binding: Binding, settings: AppSettings) -> None:
        """Create a reader. Raises FunctionIndexError for a binding of an older extension."""
        if legacy := [name for name in _LEGACY if name in binding]:
            raise FunctionIndexError(f"{legacy} are property names of extension version 3; use those of version 4")
        self._binding = binding
        self._settings = settings

    def name(self, key: str, default: str) -> str:
        """Return a text as written."""
        return str(self._binding.get(key) or default)

    def text(self, key: str, default: str) -> str:
        """Return a text with its `%NAME%` expressions replaced. Raises FunctionIndexError."""
        value = self._binding.get(key)
        return default if value in (None, "") else self._settings.expand(str(value))

    def required(self, key: str) -> str:
        """Return a text that must not be empty. Raises FunctionIndexError."""
        value = self.text(key, "")
        if not value:
            raise FunctionIndexError(f"the Cosmos DB binding requires {key}")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean, by default false."""
        return str(self._binding.get(key, False)).lower() == "true"

    def positive(self, key: str) -> int | None:
        """Return a positive number, or None. Raises FunctionIndexError."""
        value = self._binding.get(key)
        if value is None:
            return None
        try:
            number = int(str(value))
        except ValueError as error:
            raise FunctionIndexError(f"{key}: {value!r} must be a number") from error
        return number if number > 0 else None

    def locations(self) -> tuple[str, ...]:
        """Return the preferred locations."""
        return tuple(place.strip() for place in self.text("preferredLocations", "").split(",") if place.strip())

    def mode(self) -> Mode:
        """Return the change feed mode. Raises FunctionIndexError."""
        written = self.text("changeFeedMode", "LatestVersion")
        modes: tuple[Mode, ...] = get_args(Mode)
        for known in modes:
            if written.lower() == known.lower():
                return known
        raise FunctionIndexError(f"changeFeedMode '{written}' must be {' or '.join(modes)}")

    def start(self) -> Start:
        """Return where a trigger starts. Raises FunctionIndexError."""
        moment = self.text("startFromTime", "")
        beginning = self.flag("startFromBeginning")
        if moment and beginning:
            raise FunctionIndexError("set only one of startFromBeginning and startFromTime")
        if (moment or beginning) and self.mode() == "AllVersionsAndDeletes":
            raise FunctionIndexError(
                "changeFeedMode AllVersionsAndDeletes can start only now; remove the start options"
            )
        if not moment:
            return "beginning" if beginning else "now"
        try:
            parsed = datetime.fromisoformat(moment)
        except ValueError as error:
            raise FunctionIndexError(f"startFromTime {moment!r} must be in ISO 8601 format") from error
        if parsed.tzinfo is None:
            raise FunctionIndexError(f"startFromTime {moment!r} must end with an offset or 'Z'")
        return parsed.astimezone(UTC)
