"""Tests that use `transactions` run with batches and with stored procedures."""

from __future__ import annotations

import pytest

from shared.transactions import Transactions
from shared.transactions import transactions as new_transactions
from tests.blog import Blog


@pytest.fixture
def blog(shared_blog: Blog) -> Blog:
    """Each test writes to posts of its own."""
    return shared_blog


@pytest.fixture(params=["batch", "procedure"])
def transactions(request: pytest.FixtureRequest) -> Transactions:
    return new_transactions(request.param)
