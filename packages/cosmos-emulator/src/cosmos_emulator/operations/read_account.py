"""GET /: the account, with the endpoint for all other requests."""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request

_NAME: Final = "localhost"
_REGION: Final = "Local"
# The .NET SDK reads the limits of its query parser from this JSON (AccountProperties.cs).
_QUERY_ENGINE: Final = json_text.dump(
    {
        "allowNewKeywords": True,
        "maxInExpressionItemsCount": 16000,
        "maxJoinsPerSqlQuery": 10,
        "maxLogicalAndPerSqlQuery": 2000,
        "maxLogicalOrPerSqlQuery": 2000,
        "maxQueryRequestTimeoutFraction": 0.9,
        "maxSqlQueryInputLength": 524288,
        "maxUdfRefPerSqlQuery": 10,
        "queryMaxInMemorySortDocumentCount": -500,
        "sqlAllowAggregateFunctions": True,
        "sqlAllowGroupByClause": True,
        "sqlAllowLike": True,
        "sqlAllowNonFiniteNumbers": False,
        "sqlAllowSubQuery": True,
        "sqlAllowTop": True,
    }
).decode()


async def handle(request: Request) -> Answer:
    """Return the account with the setting's or the request's endpoint."""
    settings = request.gateway.settings
    endpoint = (settings.account_endpoint or request.base_url).rstrip("/")
    location: JsonObject = {"name": _REGION, "databaseAccountEndpoint": f"{endpoint}/"}
    is_multiple = settings.multiple_write_regions
    locations: list[Json] = [location, {**location, "name": f"{_REGION} 2"}] if is_multiple else [location]
    document: JsonObject = {
        "id": _NAME,
        "_rid": _NAME,
        "_self": "",
        "_dbs": "//dbs/",
        "media": "//media/",
        "addresses": "//addresses/",
        "writableLocations": locations,
        "readableLocations": locations,
        "enableMultipleWriteLocations": is_multiple,
        "enablePerPartitionFailoverBehavior": False,
        "userReplicationPolicy": {"asyncReplication": False, "minReplicaSetSize": 1, "maxReplicasetSize": 4},
        "userConsistencyPolicy": {"defaultConsistencyLevel": settings.consistency},
        "systemReplicationPolicy": {"minReplicaSetSize": 1, "maxReplicasetSize": 4},
        "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
        "queryEngineConfiguration": _QUERY_ENGINE,
    }
    return Answer(200, json_text.dump(document))
