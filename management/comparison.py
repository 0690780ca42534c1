"""Compare the account and a database with their definitions, for `provision --check`. Only reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from azure.cosmos.aio import CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError

from management.account import open_client
from management.definitions import (
    changeable_differences,
    declared_containers,
    procedure_definition,
    trigger_definition,
    unchangeable_differences,
)
from management.errors import MULTIPLE_WRITE_REGIONS, NOT_DATA_PLANE
from management.provision import can_do_without_scripts
from shared.platform.database.client import has_multiple_write_regions
from shared.settings import Settings

_CONSISTENCY = "Session"


async def is_as_defined(configuration: Settings, say: Callable[[str], None]) -> bool:
    """Report each difference, and what could not be compared, through `say`. Raises AzureError."""
    unchecked: dict[str, None] = {}
    async with open_client(configuration) as client:
        differences = [line async for line in _differences(client, configuration, unchecked)]
    for line in (*differences, *unchecked):
        say(line)
    if not differences:
        say(f"Database {configuration.database}: equal to its definition.")
    return not differences


async def _differences(client: CosmosClient, configuration: Settings, unchecked: dict[str, None]) -> AsyncIterator[str]:
    if await has_multiple_write_regions(client):
        yield f"Account: {MULTIPLE_WRITE_REGIONS}."
    policy = (await client.client_connection.GetDatabaseAccount()).ConsistencyPolicy or {}
    if (level := policy.get("defaultConsistencyLevel")) != _CONSISTENCY:
        yield (
            f"Account: its default consistency is {level}, not {_CONSISTENCY}. Run"
            f" `az cosmosdb update --default-consistency-level {_CONSISTENCY}`."
        )
    database = client.get_database_client(configuration.database)
    try:
        containers = {properties["id"]: properties async for properties in database.list_containers()}
    except CosmosResourceNotFoundError:
        yield f"Database {configuration.database}: missing."
        return
    for declared in declared_containers():
        name, present = declared["id"], containers.get(declared["id"])
        if present is None:
            yield f"Container {name}: missing."
            continue
        if differences := _container_differences(declared, present):
            yield f"Container {name}: {' and '.join(differences)}."
        try:
            async for line in _script_differences(database, declared):
                yield line
        except CosmosHttpResponseError as error:
            if error.status_code == 403 and error.sub_status == NOT_DATA_PLANE:
                unchecked["Not checked: stored procedures and triggers, because no data-plane role can read them."] = (
                    None
                )
            elif can_do_without_scripts(configuration, error):
                status = error.status_code
                unchecked[f"Not checked: scripts of {name}, because the database returned {status}."] = None
            else:
                raise


def _container_differences(declared: Mapping[str, Any], present: Mapping[str, Any]) -> list[str]:
    changeable = [f"its {name} differs" for name in changeable_differences(declared, present)]
    return unchangeable_differences(declared, present) + changeable


async def _script_differences(database: DatabaseProxy, declared: Mapping[str, Any]) -> AsyncIterator[str]:
    scripts = database.get_container_client(declared["id"]).scripts
    kinds = (
        (
            "Stored procedure",
            scripts.list_stored_procedures,
            map(procedure_definition, declared.get("storedProcedures", [])),
        ),
        ("Trigger", scripts.list_triggers, map(trigger_definition, declared.get("triggers", []))),
    )
    for kind, list_scripts, definitions in kinds:
        if wanted := list(definitions):
            present = {script["id"]: script async for script in list_scripts()}
            for definition in wanted:
                script = present.get(definition["id"])
                if script is None:
                    yield f"{kind} {definition['id']}: missing."
                elif definition.items() - script.items():
                    yield f"{kind} {definition['id']}: differs."
