"""What the SDK forgets of a session: that a batch or a script of this process wrote something.

With Session consistency a read sees what its session token names. The SDK notes the token that a write of a single item
answers, but neither that of a batch nor that of a stored procedure (azure-cosmos 4.17,
aio/_cosmos_client_connection_async.py, `Batch` and `ExecuteStoredProcedure`): a read after them could miss what they
wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from azure.core.utils import CaseInsensitiveDict
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError


@contextmanager
def noting_session(proxy: ContainerProxy) -> Iterator[None]:
    """Around one batch or script: what is read afterwards is at least as new as its answer, also as a batch's refusal,
    so that a look at what refused it does not miss that."""
    try:
        yield
    except CosmosBatchOperationError as error:
        _note(proxy, error.headers or {})
        raise
    # No other task has run since the SDK kept these headers, so they are those of this answer.
    _note(proxy, proxy.client_connection.last_response_headers)


def _note(proxy: ContainerProxy, headers: Mapping[str, str]) -> None:
    connection = proxy.client_connection
    if connection.session is None:  # of a client that does not know the account to be at Session
        return
    # By this header the SDK knows the container. Answers about items have it; of others nothing is documented.
    of_container = CaseInsensitiveDict({**headers, "x-ms-alt-content-path": proxy.container_link})
    connection.session.update_session(connection, {}, of_container)  # type: ignore[no-untyped-call]  # the SDK's own
