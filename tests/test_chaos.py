"""A short chaos run with all kinds of strikes. `make chaos` runs the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.chaos.plan import short
from checks.chaos.run import run


@pytest.mark.nightly
async def test_a_short_storm_loses_nothing_and_leaves_consistent_data(tmp_path: Path) -> None:
    report = await run(short(seed=1), tmp_path, say=lambda _: None)

    assert report.lost == []
    assert report.divergences == []
    assert (report.struck["hosts killed"], report.struck["database killed"]) == (5, 2)
    assert report.renames == 10
    assert report.like_counts_checked > 0
