"""Session tokens of batches and stored procedures, which the SDK does not keep.

With Session consistency, a read is at least as fresh as the session token it sends. The SDK keeps the token of
single-item writes only (azure-cosmos 4.17, aio/_cosmos_client_connection_async.py, `Batch` and
`ExecuteStoredProcedure`). Without this module, a read could miss what the same process wrote in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from azure.core.utils import CaseInsensitiveDict
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError


@contextmanager
def noting_session(proxy: ContainerProxy) -> Iterator[None]:
    """Keep the session token of the one batch or script in this block, even if the batch is refused."""
    try:
        yield
    except CosmosBatchOperationError as error:
        _note(proxy, error.headers or {})
        raise
    # No other task has run since the SDK stored these headers, so they belong to this response.
    _note(proxy, proxy.client_connection.last_response_headers)


def _note(proxy: ContainerProxy, headers: Mapping[str, str]) -> None:
    connection = proxy.client_connection
    if connection.session is None:  # the account does not use Session consistency, or the client was not entered
        return
    # The SDK identifies the container by this header, which is documented for item responses only.
    of_container = CaseInsensitiveDict({**headers, "x-ms-alt-content-path": proxy.container_link})
    connection.session.update_session(connection, {}, of_container)  # type: ignore[no-untyped-call]
