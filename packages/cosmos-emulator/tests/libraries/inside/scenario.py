"""What the scripts of the libraries share. It runs in their environments."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

ENDPOINT = os.environ["COSMOS_ENDPOINT"]
KEY = os.environ["COSMOS_KEY"]
CONNECTION_STRING = f"AccountEndpoint={ENDPOINT};AccountKey={KEY};"


async def check_conformance(saver: Callable[[], AsyncIterator[Any]], least: int) -> None:
    """Run LangGraph's conformance tests of a checkpointer: those of what it implements, which are at least so many.

    `saver` yields a checkpointer on a new container: each group of tests starts with an empty one.
    """
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    report = await validate(checkpointer_test(name="tried")(saver))
    assert report.passed_all(), report.to_dict()
    assert sum(result.tests_passed for result in report.results.values()) >= least, report.to_dict()
