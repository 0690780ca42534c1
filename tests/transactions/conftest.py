"""Comments and likes on a database of their own, in both ways where a test asks for `contributions`."""

from __future__ import annotations

import pytest

from shared.data.contributions import Contributions
from shared.transactions.choice import BATCHES, PROCEDURES


@pytest.fixture(params=["batch", "procedure"])
def contributions(request: pytest.FixtureRequest) -> Contributions:
    return (BATCHES if request.param == "batch" else PROCEDURES).contributions
