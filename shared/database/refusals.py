"""Refusals of the database, as errors of the blog. SDK exceptions stop here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from azure.core.exceptions import AzureError
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.database.charges import retry_after_s
from shared.errors import DatabaseThrottled, DatabaseUnavailable, ItemTooLarge, PartitionFull, RequestRefused

_RETRY_WITH = 449
_UNAVAILABLE = {401, 403, 408, 410, 500, 502, 503, 504}
# A 403 is an outage: a firewall, an expired token, a missing role (5300), or a region that takes no writes (3). The one
# exception is a logical partition that has reached its maximum size.
# https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-forbidden
# https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
# https://github.com/Azure/azure-sdk-for-python, azure-cosmos http_constants.py, SubStatusCodes
_FORBIDDEN, _PARTITION_FULL = 403, 1014
_TOO_LARGE = 413
_OWNER_MISSING = 1003
_SESSION_NOT_AVAILABLE = 1002


class ItemExists(Exception):
    """409: the logical partition already has an item with this ID."""


class ItemMissing(Exception):
    """404: the item does not exist."""


class ConditionFailed(Exception):
    """412: the etag or the patch predicate does not match."""


@dataclass(eq=False)
class BatchRefused(Exception):
    """A batch wrote nothing: `reason`, an ItemExists, ItemMissing or ConditionFailed, refused operation `index`."""

    index: int
    reason: Exception


@dataclass(eq=False)
class ScriptFailed(Exception):
    """A stored procedure threw `new Error(number, message)` and wrote nothing."""

    number: int


class ConcurrentWrite(DatabaseUnavailable):
    """449: nothing was written, because another write to the same items was in progress."""


_REFUSALS: dict[int, type[Exception]] = {404: ItemMissing, 409: ItemExists, 412: ConditionFailed}


@contextmanager
def blog_errors(*, about_item: bool = True) -> Iterator[None]:
    """Raise the blog's error for an SDK exception in this block, which is about an item, a container or a script."""
    try:
        yield
    except (CosmosHttpResponseError, CosmosBatchOperationError) as error:
        raise _translated(error, about_item) from error
    except (AzureError, OSError) as error:
        raise DatabaseUnavailable(type(error).__name__) from error


def _translated(error: CosmosHttpResponseError | CosmosBatchOperationError, about_item: bool) -> Exception:
    if isinstance(error, CosmosBatchOperationError) and error.status_code in _REFUSALS:
        return BatchRefused(error.error_index, _REFUSALS[error.status_code](error.message))
    status, sub_status = error.status_code or 0, _sub_status(error)
    if not about_item and status == 400 and sub_status:
        # A script that throws a number returns 400, with the number as the sub-status.
        # https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
        if sub_status in (_FORBIDDEN, _TOO_LARGE):  # rethrown from a write; scripts do not get the sub-status
            return PartitionFull(error.message) if sub_status == _FORBIDDEN else ItemTooLarge(error.message)
        return ConcurrentWrite(str(sub_status)) if sub_status in (_RETRY_WITH, 503) else ScriptFailed(sub_status)
    if status == _RETRY_WITH:
        return ConcurrentWrite(str(status))
    if status == 404 and (sub_status == _OWNER_MISSING or not about_item):
        return DatabaseUnavailable("the database, a container or a script is missing; run manage.py provision")
    if status == 404 and sub_status == _SESSION_NOT_AVAILABLE:
        return DatabaseUnavailable("no replica has reached the session token of this process")
    if status == 429:
        return DatabaseThrottled(retry_after_s(getattr(error, "headers", None) or {}))
    if status in _REFUSALS:
        return _REFUSALS[status](error.message)
    if (status, sub_status) == (_FORBIDDEN, _PARTITION_FULL):
        return PartitionFull(error.message)
    if status in _UNAVAILABLE:
        return DatabaseUnavailable(f"the database answered {status}")
    if status in (400, _TOO_LARGE):
        return RequestRefused(error.message) if status == 400 else ItemTooLarge(error.message)
    return error


def _sub_status(error: CosmosHttpResponseError | CosmosBatchOperationError) -> int:
    if isinstance(error, CosmosBatchOperationError) and error.operation_responses:
        # The SDK takes only the status from the refused operation.
        return int(error.operation_responses[error.error_index].get("subStatusCode") or 0)
    return error.sub_status or 0
