"""Connections by name, and their clients.

Rules: azure-webjobs-sdk-extensions CosmosDB WebJobsConfigurationExtensions.cs (the order of names),
Config/DefaultCosmosDBServiceFactory.cs and Microsoft.Extensions.Azure (the identity options).
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceExistsError

from .app_settings import AppSettings
from .errors import FunctionIndexError
from .logs import SDK

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential


@dataclass(frozen=True)
class CosmosConnection:
    """An account endpoint with a `key` or `identity` options."""

    endpoint: str
    key: str | None
    identity: tuple[tuple[str, str], ...] = ()
    verify_certificate: bool = True

    @property
    def account_host(self) -> str:
        """Host name of the endpoint, part of every lease ID."""
        return urlsplit(self.endpoint).hostname or ""


def resolve_connection(name: str, settings: AppSettings) -> CosmosConnection:
    """Return a connection. Raises FunctionIndexError if no app setting defines it."""
    candidates = (f"ConnectionStrings:AzureWebJobs{name}", f"AzureWebJobs{name}", f"ConnectionStrings:{name}", name)
    for candidate in candidates:
        if text := settings.get(candidate):
            return _from_text(name, text)
        if options := settings.children(candidate):
            return _from_identity(name, options)
    raise FunctionIndexError(
        f"Cosmos DB connection '{name}' does not exist; make sure that it is a defined App Setting"
    )


def _from_text(name: str, text: str) -> CosmosConnection:
    pairs = (part.split("=", 1) for part in text.split(";") if "=" in part)
    values = {key.strip().lower(): value.strip() for key, value in pairs}
    if not values.get("accountendpoint") or not values.get("accountkey"):
        raise FunctionIndexError(f"connection '{name}' must be AccountEndpoint=…;AccountKey=…")
    unverified = values.get("disableservercertificatevalidation", "").lower() == "true"
    return CosmosConnection(values["accountendpoint"], values["accountkey"], verify_certificate=not unverified)


def _from_identity(name: str, options: dict[str, str]) -> CosmosConnection:
    endpoint = options.get("accountendpoint")
    if not endpoint:
        raise FunctionIndexError(f"connection '{name}' requires the app setting {name}__accountEndpoint")
    return CosmosConnection(endpoint, None, tuple(sorted(options.items())))


class ClientCache:
    """One client per connection and preferred locations."""

    def __init__(self) -> None:
        self._clients: dict[tuple[CosmosConnection, tuple[str, ...]], CosmosClient] = {}
        self._credentials: list[AsyncTokenCredential] = []
        self._opening: defaultdict[CosmosClient, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._opened: set[CosmosClient] = set()

    def get(self, connection: CosmosConnection, preferred_locations: tuple[str, ...]) -> CosmosClient:
        """Return the client, which connects on first use."""
        key = (connection, preferred_locations)
        if key not in self._clients:
            self._clients[key] = CosmosClient(
                connection.endpoint,
                connection.key or self._credential(dict(connection.identity)),
                preferred_locations=list(preferred_locations),
                connection_verify=connection.verify_certificate,
                raw_response_hook=_prevent_deadlock,
                logger=logging.getLogger(SDK),
                # By default, aiohttp reads .netrc and looks up proxies before every request, each in a thread.
                transport=AioHttpTransport(use_env_settings=bool(getproxies())),
            )
        return self._clients[key]

    async def open(self, connection: CosmosConnection, preferred_locations: tuple[str, ...]) -> CosmosClient:
        """Return the client, connected. Raises AzureError."""
        client = self.get(connection, preferred_locations)
        # Connecting again would discard the client's session tokens.
        async with self._opening[client]:
            if client not in self._opened:
                await client.__aenter__()
                self._opened.add(client)
        return client

    def _credential(self, options: dict[str, str]) -> AsyncTokenCredential:
        credential = _identity(options)
        self._credentials.append(credential)
        return credential

    async def close(self) -> None:
        """Close every client and credential."""
        for client in self._clients.values():
            await client.close()
        for credential in self._credentials:
            await credential.close()
        self._clients.clear()
        self._opening.clear()
        self._opened.clear()
        self._credentials.clear()


async def create_container(client: CosmosClient, database: str, container: str, path: str, **options: Any) -> None:
    """Create a container with a partition key path and the SDK's options, and its database, unless they exist."""
    # The SDK reads before it creates, so another host or call can create the resource in between.
    with suppress(CosmosResourceExistsError):
        await client.create_database_if_not_exists(database)
    with suppress(CosmosResourceExistsError):
        await client.get_database_client(database).create_container_if_not_exists(
            container, PartitionKey(path), **options
        )


def _prevent_deadlock(response: Any) -> None:
    """Remove the sub-status of a 410/1002 to a read of partition key ranges, so that the read fails.

    azure-cosmos 4.17 reads the ranges again, under a lock that this read already holds, and waits forever. All clients
    of an event loop share this lock (azure/cosmos/_routing/aio/routing_map_provider.py), including the app's.
    """
    answer = response.http_response
    if answer.status_code == 410 and answer.request.url.rstrip("/").endswith("/pkranges"):
        answer.headers.pop("x-ms-substatus", None)


def _identity(options: dict[str, str]) -> AsyncTokenCredential:
    # Imported here, because it takes a fifth of the start time and connections with a key do not need it.
    from azure.identity.aio import ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential

    tenant, client, secret = (options.get(name) for name in ("tenantid", "clientid", "clientsecret"))
    if tenant and client and secret:
        return ClientSecretCredential(tenant, client, secret)
    if options.get("credential", "").lower() == "managedidentity":
        return ManagedIdentityCredential(client_id=client) if client else ManagedIdentityCredential()
    return DefaultAzureCredential()
