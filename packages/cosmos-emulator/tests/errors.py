"""Errors that the SDK raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError


@contextmanager
def fails_with(status: int, sub_status: int = 0, match: str | None = None) -> Iterator[None]:
    """Assert that the block raises an SDK error with this status and sub-status."""
    with pytest.raises(CosmosHttpResponseError, match=match) as failure:
        yield
    error = failure.value
    assert (error.status_code, error.sub_status or 0) == (status, sub_status), error.message
