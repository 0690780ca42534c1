"""Tests that use `transactions` run with batches and with stored procedures."""

from __future__ import annotations

import pytest

from shared.transactions import Transactions
from shared.transactions import transactions as new_transactions


@pytest.fixture(params=["batch", "procedure"])
def transactions(request: pytest.FixtureRequest) -> Transactions:
    return new_transactions(request.param)
