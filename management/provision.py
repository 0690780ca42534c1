"""Make a database match shared/containers.json and stored_procedures/.

Requires a key: no data-plane role allows an identity to create resources (403/5300).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from azure.cosmos.aio import CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError, CosmosResourceNotFoundError

from management.account import open_client
from management.definitions import (
    changeable_differences,
    declared_containers,
    procedure_definition,
    trigger_definition,
    unchangeable_differences,
)
from management.errors import MULTIPLE_WRITE_REGIONS, ManagementError, sentence
from shared.platform.database.client import has_multiple_write_regions
from shared.settings import Settings

Say = Callable[[str], None]

# From databases without script support.
_UNSUPPORTED = {400, 404, 405, 500, 501}
# Undeclared properties, which a replacement must keep.
_KEPT = {
    "analytical_storage_ttl": "analyticalStorageTtl",
    "computed_properties": "computedProperties",
    "conflict_resolution_policy": "conflictResolutionPolicy",
    "full_text_policy": "fullTextPolicy",
}


def _silently(_: str) -> None: ...


async def provision(configuration: Settings, *, throughput: int | None = None, say: Say = _silently) -> None:
    """Create or update the configured database; report each change through `say`.

    `throughput` is in RU/s, shared by the containers. If None, a new database gets the account's default. Raises
    ManagementError, AzureError.
    """
    if not configuration.account.key:
        raise ManagementError(
            "Without an account key, nothing can be provisioned: no data-plane role can create or change databases,"
            " containers or scripts. Run `azd provision --no-state`, which creates them, and `manage.py provision"
            " --check`. Or set COSMOS to the connection string of an account that allows keys."
        )
    changes: list[str] = []

    def changed(line: str) -> None:
        changes.append(line)
        say(line)

    async with open_client(configuration) as client:
        if await has_multiple_write_regions(client):
            raise ManagementError(f"The account is unsuitable: {MULTIPLE_WRITE_REGIONS}.")
        database = await _provision_database(client, configuration.database, throughput, changed)
        present = {properties["id"]: properties async for properties in database.list_containers()}
        for declared in declared_containers():
            await _provision_container(database, declared, present.get(declared["id"]), changed)
            await _provision_scripts_if_possible(database, declared, configuration, changed)
    if not changes:
        say(f"Database {configuration.database}: up to date.")


async def _provision_database(client: CosmosClient, name: str, throughput: int | None, changed: Say) -> DatabaseProxy:
    proxy = client.get_database_client(name)
    try:
        await proxy.read()
    except CosmosResourceNotFoundError:
        with suppress(CosmosResourceExistsError):  # another process has just created it
            await client.create_database(name, offer_throughput=throughput)
        changed(f"Database {name}: created" + (f" with {throughput} RU/s." if throughput else "."))
        return proxy
    if throughput is not None:
        await _set_throughput(proxy, throughput, changed)
    return proxy


async def _set_throughput(proxy: DatabaseProxy, throughput: int, changed: Say) -> None:
    try:
        present = (await proxy.get_throughput()).offer_throughput
    except (CosmosResourceNotFoundError, AttributeError) as error:
        # azure-cosmos 4.17 means to raise the first, but raises the second.
        raise ManagementError(
            f"Cannot set throughput: database {proxy.id!r} has no shared throughput. It was created without it, or the"
            " account is serverless. Omit --throughput."
        ) from error
    if present != throughput:
        await proxy.replace_throughput(throughput)
        changed(f"Database {proxy.id}: throughput changed from {present} to {throughput} RU/s.")


async def _provision_container(
    database: DatabaseProxy, declared: Mapping[str, Any], present: Mapping[str, Any] | None, changed: Say
) -> None:
    name, policy, ttl = declared["id"], declared.get("indexingPolicy"), declared.get("defaultTtl")
    if present is None:
        try:
            await database.create_container(
                name,
                declared["partitionKey"],
                indexing_policy=policy,
                default_ttl=ttl,
                unique_key_policy=declared.get("uniqueKeyPolicy"),
                full_text_policy=declared.get("fullTextPolicy"),
                global_secondary_index=declared.get("globalSecondaryIndex"),
            )
        except CosmosResourceExistsError:  # another process has just created it
            present = await database.get_container_client(name).read()
        except CosmosHttpResponseError as error:
            if error.status_code != 400 or "enabledBy" not in declared:
                raise
            raise ManagementError(
                f"The account refused container {name!r}. Serverless accounts, for example, have no global secondary"
                f" indexes: set {declared['enabledBy']}=0. {sentence(error, None)}"
            ) from error
        else:
            changed(f"Container {name}: created.")
            return
    if unchangeable := unchangeable_differences(declared, present):
        raise ManagementError(
            f"Container {name!r} does not match its definition: {' and '.join(unchangeable)}, which cannot be changed"
            " in place. Move its items to a new container, or delete it and provision again."
        )
    if differences := changeable_differences(declared, present):
        await database.replace_container(
            name,
            present["partitionKey"],
            indexing_policy=policy or present.get("indexingPolicy"),
            default_ttl=ttl,
            **{option: present[property_] for option, property_ in _KEPT.items() if property_ in present},
        )
        changed(f"Container {name}: {' and '.join(differences)} replaced.")


async def _provision_scripts_if_possible(
    database: DatabaseProxy, declared: Mapping[str, Any], configuration: Settings, changed: Say
) -> None:
    """Provision scripts for both transaction modes.

    In batch mode, tolerate a database without script support, such as Microsoft's vNext emulator.
    """
    try:
        await _provision_scripts(database, declared, changed)
    except CosmosHttpResponseError as error:
        if not can_do_without_scripts(configuration, error):
            raise
        changed(
            f"Container {declared['id']}: the database does not support scripts ({error.status_code}). None are needed"
            " while BLOG_TRANSACTIONS is batch."
        )


def can_do_without_scripts(configuration: Settings, error: CosmosHttpResponseError) -> bool:
    """Whether the error means that the database has no script support, and the app needs none."""
    return configuration.transactions == "batch" and error.status_code in _UNSUPPORTED


async def _provision_scripts(database: DatabaseProxy, declared: Mapping[str, Any], changed: Say) -> None:
    scripts = database.get_container_client(declared["id"]).scripts
    for kind, list_scripts, create, replace, wanted in (
        (
            "Stored procedure",
            scripts.list_stored_procedures,
            scripts.create_stored_procedure,
            scripts.replace_stored_procedure,
            list(map(procedure_definition, declared.get("storedProcedures", []))),
        ),
        (
            "Trigger",
            scripts.list_triggers,
            scripts.create_trigger,
            scripts.replace_trigger,
            list(map(trigger_definition, declared.get("triggers", []))),
        ),
    ):
        present = {script["id"]: script async for script in list_scripts()} if wanted else {}
        for definition in wanted:
            name = definition["id"]
            if name not in present:
                try:
                    await create(definition)
                except CosmosResourceExistsError:  # another process has just created it
                    present |= {script["id"]: script async for script in list_scripts()}
                else:
                    changed(f"{kind} {name}: created.")
                    continue
            if definition.items() - present[name].items():
                await replace(name, definition)
                changed(f"{kind} {name}: replaced.")
