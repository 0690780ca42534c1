"""Refusals of the database, as errors of the app. SDK exceptions stop here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from azure.core.exceptions import AzureError
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.platform.database.scope import retry_after_s
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable, ItemTooLarge, PartitionFull, RequestRefused
from shared.platform.telemetry import without_private

_RETRY_WITH = 449
_FORBIDDEN, _PARTITION_FULL = 403, 1014
_TOO_LARGE = 413
_OWNER_MISSING = 1003
_SESSION_NOT_AVAILABLE = 1002
_LONGEST_LINE = 500


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


class NotProvisioned(DatabaseUnavailable):
    """404, but not of an item: the database, a container or a script does not exist."""

    def __init__(self) -> None:
        super().__init__("the database, a container or a script is missing; run manage.py provision")


_REFUSALS: dict[int, type[Exception]] = {404: ItemMissing, 409: ItemExists, 412: ConditionFailed}


@contextmanager
def database_errors(*expected: type[Exception], container: str = "") -> Iterator[None]:
    """Raise the app's error for an SDK exception in this block. The caller handles the `expected` refusals.

    These are ItemMissing, ItemExists, ConditionFailed, BatchRefused and ScriptFailed. Any other refusal becomes an
    AppError, so that no answer of the database is an internal error.
    """
    try:
        yield
    except (CosmosHttpResponseError, CosmosBatchOperationError) as error:
        raise _translated(error, expected, container) from error
    except (AzureError, OSError) as error:
        raise DatabaseUnavailable(f"{type(error).__name__}: {_first_line(error)}") from error


def _translated(
    error: CosmosHttpResponseError | CosmosBatchOperationError, expected: tuple[type[Exception], ...], container: str
) -> Exception:
    status, sub_status = error.status_code or 0, _sub_status(error)
    refusal = _REFUSALS.get(status)
    if isinstance(error, CosmosBatchOperationError) and refusal and BatchRefused in expected:
        return BatchRefused(error.error_index, refusal(error.message))
    if ScriptFailed in expected and status == 400 and sub_status:
        return _of_script(error, sub_status, container)
    if status == _RETRY_WITH:
        return ConcurrentWrite(str(status))
    if status == 404 and sub_status == _SESSION_NOT_AVAILABLE:
        return DatabaseUnavailable("no replica has reached the session token of this process")
    if refusal in expected and sub_status != _OWNER_MISSING:
        return refusal(error.message)
    if status == 404:
        return NotProvisioned()
    if status == 429:
        return DatabaseThrottled(retry_after_s(getattr(error, "headers", None) or {}))
    if (status, sub_status) == (_FORBIDDEN, _PARTITION_FULL):
        return PartitionFull(answer_of(error, container))
    if status in (400, _TOO_LARGE):
        return (RequestRefused if status == 400 else ItemTooLarge)(answer_of(error, container))
    # A 403 is an outage: a firewall, an expired token, a missing role (5300), or a region that takes no writes (3). The
    # one exception is a logical partition that has reached its maximum size.
    # https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-forbidden
    # https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
    # https://github.com/Azure/azure-sdk-for-python, azure-cosmos http_constants.py, SubStatusCodes
    return DatabaseUnavailable(answer_of(error, container))


def answer_of(error: CosmosHttpResponseError | CosmosBatchOperationError, container: str) -> str:
    """Return the answer of the database for the log: what the operator, or Microsoft's support, needs to know.

    The status and sub-status, the container, the first line of the message, and the activity ID. The same status can
    mean a missing role or a firewall.
    """
    status = f"{error.status_code}/{_sub_status(error)}".removesuffix("/0")
    where = f" for {container}" if container else ""
    activity = (error.headers or {}).get("x-ms-activity-id", "none")
    return f"the database answered {status}{where}: {_first_line(error)} (activity ID {activity})"


def _first_line(error: AzureError | OSError) -> str:
    # The SDK puts a line with the status before a message that is not JSON. Later lines have the address with the ID.
    lines = [line for line in str(error).splitlines() if line and not line.startswith("Status code:")]
    return without_private(lines[0] if lines else type(error).__name__)[:_LONGEST_LINE]


def _of_script(error: CosmosHttpResponseError | CosmosBatchOperationError, number: int, container: str) -> Exception:
    """A script that throws a number returns 400, with the number as the sub-status.

    https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
    """
    if number in (_FORBIDDEN, _TOO_LARGE):  # rethrown from a write; scripts do not get the sub-status
        return (PartitionFull if number == _FORBIDDEN else ItemTooLarge)(answer_of(error, container))
    return ConcurrentWrite(str(number)) if number in (_RETRY_WITH, 503) else ScriptFailed(number)


def _sub_status(error: CosmosHttpResponseError | CosmosBatchOperationError) -> int:
    if isinstance(error, CosmosBatchOperationError) and error.operation_responses:
        # The SDK takes only the status from the refused operation.
        return int(error.operation_responses[error.error_index].get("subStatusCode") or 0)
    return error.sub_status or 0
