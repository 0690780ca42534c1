"""GET /: the account, with the endpoint for all other requests."""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request

_NAME: Final = "localhost"
_REGION: Final = "Local"
_UNLIMITED: Final = 2**31 - 1
# A .NET client on Windows plans its queries with this JSON. Accounts had it in tests of azure-sdk-for-java
# (queryMaxRrfArgumentCount) and of pagopa/io-services-cms.
_QUERY_ENGINE: Final = json_text.dump(
    {
        "allowNewKeywords": True,
        "maxJoinsPerSqlQuery": 10,
        "maxQueryRequestTimeoutFraction": 0.9,
        "maxSqlQueryInputLength": 524288,
        "maxUdfRefPerSqlQuery": 10,
        "queryMaxInMemorySortDocumentCount": -1000,
        "spatialMaxGeometryPointCount": 256,
        "sqlAllowNonFiniteNumbers": False,
        "sqlDisableOptimizationFlags": 0,
        "sqlQueryILDisableOptimizationFlags": 0,
        "clientDisableOptimisticDirectExecution": False,
        "queryEnableFullText": True,
        "queryEnableFullTextPreviewFeatures": False,
        "queryMaxFullTextScoreSearchTerms": 5,
        "queryMaxRrfArgumentCount": 100,
        "enableSpatialIndexing": True,
        "maxInExpressionItemsCount": _UNLIMITED,
        "maxLogicalAndPerSqlQuery": _UNLIMITED,
        "maxLogicalOrPerSqlQuery": _UNLIMITED,
        "maxSpatialQueryCells": _UNLIMITED,
        "sqlAllowAggregateFunctions": True,
        "sqlAllowGroupByClause": True,
        "sqlAllowLike": True,
        "sqlAllowSubQuery": True,
        "sqlAllowScalarSubQuery": True,
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
        "enableNRegionSynchronousCommit": False,
        "continuousBackupEnabled": settings.continuous_backup_days is not None,
        "userReplicationPolicy": {"asyncReplication": False, "minReplicaSetSize": 1, "maxReplicasetSize": 4},
        "userConsistencyPolicy": {"defaultConsistencyLevel": settings.consistency},
        "systemReplicationPolicy": {"minReplicaSetSize": 1, "maxReplicasetSize": 4},
        "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
        "queryEngineConfiguration": _QUERY_ENGINE,
    }
    return Answer(200, json_text.dump(document))
