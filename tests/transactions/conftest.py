"""Tests that use `transactions` run with batches and with stored procedures."""

from __future__ import annotations

import pytest

from shared.transactions import BATCHES, PROCEDURES, Transactions


@pytest.fixture(params=["batch", "procedure"])
def transactions(request: pytest.FixtureRequest) -> Transactions:
    return BATCHES if request.param == "batch" else PROCEDURES
