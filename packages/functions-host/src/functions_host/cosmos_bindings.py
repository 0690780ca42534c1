"""Input and output bindings of Cosmos DB.

Rules: azure-webjobs-sdk-extensions CosmosDB/CosmosDBAttribute.cs, CosmosDBSqlResolutionPolicy.cs and Bindings
(CosmosDBItemValueBinder.cs, CosmosDBEnumerableBuilder.cs, CosmosDBAsyncCollector.cs).
"""

from __future__ import annotations

import json
import logging

from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from azure.cosmos.partition_key import NonePartitionKeyValue

from .app_settings import AppSettings
from .binding_expressions import Template, Values, value_of
from .cosmos_connection import ClientCache, create_container, resolve_connection
from .cosmos_properties import PropertyReader
from .errors import BindingError, FunctionIndexError
from .functions import Binding
from .payloads import decode_documents, encode_documents

_log = logging.getLogger("Host.Bindings.CosmosDB")


class _CosmosBinding:
    def __init__(self, binding: Binding, settings: AppSettings, clients: ClientCache) -> None:
        reader = PropertyReader(binding, settings)
        self.name = str(binding["name"])
        self._clients = clients
        self._connection = resolve_connection(reader.name("connection", "CosmosDB"), settings)
        self._locations = reader.locations()
        self._database = Template(reader.required("databaseName"))
        self._container = Template(reader.required("containerName"))
        self._partition_key = Template(reader.text("partitionKey", ""))
        self._reader = reader

    async def _client(self) -> CosmosClient:
        return await self._clients.open(self._connection, self._locations)

    async def _proxy(self, values: Values) -> ContainerProxy:
        database = (await self._client()).get_database_client(self._database.bind(values))
        return database.get_container_client(self._container.bind(values))


class CosmosInput(_CosmosBinding):
    """Reads an item, or the items of a query, before a call."""

    def __init__(self, binding: Binding, annotation: object, settings: AppSettings, clients: ClientCache) -> None:
        """Parse the binding. Raises FunctionIndexError."""
        super().__init__(binding, settings, clients)
        self._annotation = annotation
        self._id = Template(self._reader.text("id", ""))
        self._query = Template(self._reader.text("sqlQuery", ""))
        self._reads_item = binding.get("id") is not None
        if self._reads_item and binding.get("sqlQuery"):
            raise FunctionIndexError("set only one of id and sqlQuery")
        if any("." in name or "-" in name for name in self._query.names):
            raise FunctionIndexError(
                "sqlQuery supports only expressions such as {name}, for values of the route, query or body"
            )

    async def read(self, values: Values) -> object:
        """Return the argument: documents, or None if the item does not exist. Raises AzureError or BindingError."""
        container = await self._proxy(values)
        # As in .NET, values are text.
        partition_key = self._partition_key.bind(values) or None
        found = await (self._item if self._reads_item else self._items)(container, partition_key, values)
        return None if found is None else decode_documents(self._annotation, json.dumps(found))

    async def _item(self, container: ContainerProxy, partition_key: str | None, values: Values) -> object:
        item_id = self._id.bind(values)
        if not item_id:
            raise BindingError(f"the id of the input binding '{self.name}' is empty")
        try:
            return await container.read_item(item_id, partition_key or NonePartitionKeyValue)
        except CosmosResourceNotFoundError as error:
            # As in the real host, also if the container is missing.
            _log.debug("binding=%s found no item: %s", self.name, error)
            return None

    async def _items(self, container: ContainerProxy, partition_key: str | None, values: Values) -> object:
        query = self._query.replace(lambda name: f"@{name}") or "SELECT * FROM c"
        parameters = [
            {"name": f"@{name}", "value": value_of(name, values)} for name in dict.fromkeys(self._query.names)
        ]
        found = container.query_items(query, parameters=parameters, partition_key=partition_key)
        return [item async for item in found]


class CosmosOutput(_CosmosBinding):
    """Upserts documents after a call."""

    def __init__(self, binding: Binding, annotation: object, settings: AppSettings, clients: ClientCache) -> None:
        """Parse the binding. Raises FunctionIndexError."""
        super().__init__(binding, settings, clients)
        self._annotation = annotation
        self._creates = self._reader.flag("createIfNotExists")
        self._throughput = self._reader.positive("containerThroughput")

    async def write(self, value: object, values: Values) -> None:
        """Upsert one document after the other. Raises AzureError, BindingError, TypeError or ValueError."""
        documents = encode_documents(self._annotation, value)
        container = await self._proxy(values)
        for document in documents:
            try:
                await container.upsert_item(document)
            except CosmosResourceNotFoundError as error:
                if not self._creates:
                    raise BindingError(
                        f"The container '{container.id}' (in database '{self._database.bind(values)}') does not "
                        "exist. To create it, set create_if_not_exists to True"
                    ) from error
                await self._create(container.id, values)
                await container.upsert_item(document)

    async def _create(self, container: str, values: Values) -> None:
        path = self._partition_key.bind(values)
        if not path:
            raise BindingError(f"to create the container '{container}', set partition_key to a path such as /id")
        client, database = await self._client(), self._database.bind(values)
        await create_container(client, database, container, path, offer_throughput=self._throughput)
