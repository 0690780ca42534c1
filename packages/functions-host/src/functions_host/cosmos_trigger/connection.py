"""Connection names to clients: a connection string with a key, or an identity.

Rules: azure-webjobs-sdk-extensions CosmosDB WebJobsConfigurationExtensions.cs (the order of names) and
Config/DefaultCosmosDBServiceFactory.cs; the children of an identity connection are those of Microsoft.Extensions.Azure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from azure.cosmos.aio import CosmosClient

from ..app_settings import AppSettings
from ..errors import FunctionIndexError

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential


@dataclass(frozen=True)
class CosmosConnection:
    """An account's address and how to sign in: by `key`, or without one by `identity` options."""

    endpoint: str
    key: str | None
    identity: tuple[tuple[str, str], ...] = ()
    verify_certificate: bool = True

    @property
    def account_host(self) -> str:
        """The host name in the endpoint, which lease documents are named after."""
        return urlsplit(self.endpoint).hostname or ""


def resolve_connection(name: str, settings: AppSettings) -> CosmosConnection:
    """The connection called `name`. Raises FunctionIndexError when no setting defines it."""
    candidates = (f"ConnectionStrings:AzureWebJobs{name}", f"AzureWebJobs{name}", f"ConnectionStrings:{name}", name)
    for candidate in candidates:
        if text := settings.get(candidate):
            return _from_text(name, text)
        if options := settings.children(candidate):
            return _from_identity(name, options)
    raise FunctionIndexError(
        f"the Cosmos DB connection '{name}' does not exist: make sure that it is a defined App Setting"
    )


def _from_text(name: str, text: str) -> CosmosConnection:
    pairs = (part.split("=", 1) for part in text.split(";") if "=" in part)
    values = {key.strip().lower(): value.strip() for key, value in pairs}
    if not values.get("accountendpoint") or not values.get("accountkey"):
        raise FunctionIndexError(f"the connection '{name}' needs AccountEndpoint=…;AccountKey=…")
    unverified = values.get("disableservercertificatevalidation", "").lower() == "true"
    return CosmosConnection(values["accountendpoint"], values["accountkey"], verify_certificate=not unverified)


def _from_identity(name: str, options: dict[str, str]) -> CosmosConnection:
    endpoint = options.get("accountendpoint")
    if not endpoint:
        raise FunctionIndexError(f"the connection '{name}' needs {name}__accountEndpoint")
    return CosmosConnection(endpoint, None, tuple(sorted(options.items())))


class ClientCache:
    """One client per connection and preferred locations, shared by all triggers; closed together."""

    def __init__(self) -> None:
        self._clients: dict[tuple[CosmosConnection, tuple[str, ...]], CosmosClient] = {}
        self._credentials: list[AsyncTokenCredential] = []

    def get(self, connection: CosmosConnection, preferred_locations: tuple[str, ...]) -> CosmosClient:
        """The client, which connects on first use."""
        key = (connection, preferred_locations)
        if key not in self._clients:
            self._clients[key] = CosmosClient(
                connection.endpoint,
                connection.key or self._credential(dict(connection.identity)),
                preferred_locations=list(preferred_locations),
                connection_verify=connection.verify_certificate,
            )
        return self._clients[key]

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
        self._credentials.clear()


def _identity(options: dict[str, str]) -> AsyncTokenCredential:
    # Imported only where no key is given: the import takes a fifth of the host's start.
    from azure.identity.aio import ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential

    tenant, client, secret = (options.get(name) for name in ("tenantid", "clientid", "clientsecret"))
    if tenant and client and secret:
        return ClientSecretCredential(tenant, client, secret)
    if options.get("credential", "").lower() == "managedidentity":
        return ManagedIdentityCredential(client_id=client) if client else ManagedIdentityCredential()
    return DefaultAzureCredential()
