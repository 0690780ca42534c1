"""Properties of a Cosmos DB trigger binding.

Rules: azure-webjobs-sdk-extensions CosmosDB/Trigger/CosmosDBTriggerAttribute.cs and
CosmosDBTriggerAttributeBindingProvider.cs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from ..app_settings import AppSettings
from ..cosmos_properties import PropertyReader
from ..errors import FunctionIndexError
from ..functions import Binding

Start = Literal["now", "beginning"] | datetime

Mode = Literal["LatestVersion", "AllVersionsAndDeletes"]

_MILLISECOND = 0.001


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
        mode=_mode(reader),
        start=_start(reader),
        preferred_locations=reader.locations(),
    )


def _mode(reader: PropertyReader) -> Mode:
    written = reader.text("changeFeedMode", "LatestVersion")
    modes: tuple[Mode, ...] = get_args(Mode)
    for known in modes:
        if written.lower() == known.lower():
            return known
    raise FunctionIndexError(f"changeFeedMode '{written}' must be {' or '.join(modes)}")


def _start(reader: PropertyReader) -> Start:
    moment = reader.text("startFromTime", "")
    beginning = reader.flag("startFromBeginning")
    if moment and beginning:
        raise FunctionIndexError("set only one of startFromBeginning and startFromTime")
    if (moment or beginning) and _mode(reader) == "AllVersionsAndDeletes":
        raise FunctionIndexError("changeFeedMode AllVersionsAndDeletes can start only now; remove the start options")
    if not moment:
        return "beginning" if beginning else "now"
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError as error:
        raise FunctionIndexError(f"startFromTime {moment!r} must be in ISO 8601 format") from error
    if parsed.tzinfo is None:
        raise FunctionIndexError(f"startFromTime {moment!r} must end with an offset or 'Z'")
    return parsed.astimezone(UTC)
