"""Bindings and connections of the Cosmos DB trigger."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from functions_host.app_settings import AppSettings
from functions_host.cosmos_connection import CosmosConnection, resolve_connection
from functions_host.cosmos_trigger.binding import parse_binding
from functions_host.cosmos_trigger.lease import FeedRange, parse_lease
from functions_host.errors import FunctionIndexError

REQUIRED = {"connection": "C", "databaseName": "db", "containerName": "items"}


def parsed(**properties: Any) -> Any:
    return parse_binding({**REQUIRED, **properties}, AppSettings({"NAME": "named"}))


def test_unset_properties_have_defaults() -> None:
    binding = parsed()

    assert (binding.lease_connection, binding.lease_database, binding.lease_container) == ("C", "db", "leases")
    assert (binding.lease_prefix, binding.create_lease_container, binding.lease_throughput) == ("", False, None)
    assert (binding.poll_delay_s, binding.acquire_interval_s) == (5, 13)
    assert (binding.expiration_interval_s, binding.renew_interval_s) == (60, 17)
    assert (binding.page_size, binding.start, binding.preferred_locations) == (None, "now", ())


def test_values_are_coerced_and_app_settings_expanded() -> None:
    binding = parsed(
        containerName="%NAME%",
        leaseContainerPrefix="p-%NAME%",
        feedPollDelay="500",
        maxItemsPerInvocation=0,
        createLeaseContainerIfNotExists="True",
        startFromTime="2024-01-01T01:00:00+01:00",
        preferredLocations="West US, East US",
    )

    assert (binding.container, binding.lease_prefix) == ("named", "p-named")
    assert (binding.poll_delay_s, binding.page_size, binding.create_lease_container) == (0.5, None, True)
    assert binding.start == datetime(2024, 1, 1, tzinfo=UTC)
    assert binding.preferred_locations == ("West US", "East US")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"containerName": "%MISSING%"}, "MISSING"),
        ({"databaseName": None}, "databaseName"),
        ({"leaseContainerName": "ITEMS"}, "cannot be the same"),
        ({"startFromBeginning": True, "startFromTime": "2024-01-01T00:00:00Z"}, "only one"),
        ({"startFromTime": "2024-01-01T00:00:00"}, "offset"),
        ({"startFromTime": "yesterday"}, "ISO 8601"),
        ({"changeFeedMode": "EveryVersion"}, "AllVersionsAndDeletes"),
        ({"changeFeedMode": "allVersionsAndDeletes", "startFromBeginning": True}, "only now"),
        ({"collectionName": "x"}, "version 4"),
        ({"feedPollDelay": "soon"}, "feedPollDelay"),
    ],
)
def test_an_invalid_binding_is_rejected(properties: dict[str, Any], message: str) -> None:
    with pytest.raises(FunctionIndexError, match=message):
        parsed(**properties)


def text(host: str) -> str:
    return f"AccountEndpoint=https://{host}:443/;AccountKey=a2V5==;"


def test_connection_settings_are_tried_in_order() -> None:
    names = ["ConnectionStrings:AzureWebJobsC", "AzureWebJobsC", "ConnectionStrings:C", "c"]
    environment = {name: text(str(position)) for position, name in enumerate(names)}
    for position, name in enumerate(names):
        found = resolve_connection("C", AppSettings(environment))
        assert found == CosmosConnection(f"https://{position}:443/", "a2V5==")
        del environment[name]

    with pytest.raises(FunctionIndexError, match="defined App Setting"):
        resolve_connection("C", AppSettings(environment))


def test_an_account_endpoint_setting_selects_identity() -> None:
    options = {"C__accountEndpoint": "https://acct.documents.azure.com:443/", "C__credential": "managedidentity"}
    found = resolve_connection("C", AppSettings(options))

    assert (found.key, found.account_host) == (None, "acct.documents.azure.com")
    with pytest.raises(FunctionIndexError, match="accountEndpoint"):
        resolve_connection("C", AppSettings({"C__clientId": "x"}))
    with pytest.raises(FunctionIndexError, match="AccountKey"):
        resolve_connection("C", AppSettings({"C": "nonsense"}))


def test_a_lease_written_by_dotnet_is_parsed() -> None:
    item = {
        "id": "p..0",
        "_etag": "e",
        "LeaseToken": "0",
        "Owner": "",
        "ContinuationToken": '"12"',
        "timestamp": "2024-01-01T00:00:00.1234567Z",
        "_ts": 5,
    }
    ranges = {"0": FeedRange("", "FF")}

    lease = parse_lease(item, ranges)

    assert (lease.owner, lease.continuation, lease.feed_range) == (None, '"12"', FeedRange("", "FF"))
    assert lease.timestamp == datetime(2024, 1, 1, 0, 0, 0, 123456, UTC)
    assert parse_lease({**item, "timestamp": None}, ranges).timestamp == datetime.fromtimestamp(5, UTC)
    with pytest.raises(ValueError, match="Full-Fidelity"):
        parse_lease({**item, "Mode": "Full-Fidelity Feed"}, ranges)
