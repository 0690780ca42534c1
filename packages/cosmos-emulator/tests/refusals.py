"""What a refused call looks like through the SDK."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError


@contextmanager
def refused(status: int, sub_status: int = 0, match: str | None = None) -> Iterator[None]:
    """The block ends in this status and sub-status."""
    with pytest.raises(CosmosHttpResponseError, match=match) as caught:
        yield
    assert (caught.value.status_code, caught.value.sub_status or 0) == (status, sub_status), caught.value.message
