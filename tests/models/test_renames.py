"""How often a user can be renamed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.errors import TooManyRenames
from shared.models.user import FIRST_RENAMES, PENDING_RENAMES, renamed, user_item
from shared.platform.models import Item, iso_utc
from tests.management.boundary_values import DATES


def _user(age: timedelta, renames: int) -> Item:
    return user_item("7f2c1b52", "ada", iso_utc(datetime.now(UTC) - age)) | {"nameVersion": renames}


@pytest.mark.parametrize("hours", [0, 1, 50])
def test_an_account_is_renamed_a_hundred_times_and_once_more_for_each_hour(hours: int) -> None:
    age = timedelta(hours=hours, minutes=30)

    last = renamed(_user(age, FIRST_RENAMES + hours - 1), "countess")
    with pytest.raises(TooManyRenames) as refused:
        renamed(_user(age, FIRST_RENAMES + hours), "countess")

    assert last["nameVersion"] == FIRST_RENAMES + hours
    assert 1790 < refused.value.retry_after_s <= 1800


@pytest.mark.parametrize(
    ("minutes", "excess", "is_pending", "wait_s"),
    [(30, 0, True, 1800), (30, 1, False, 5400), (30, -1, True, 10), (119, 1, True, 60), (119.95, 1, True, 10)],
)
def test_a_refused_user_is_told_the_longest_wait(minutes: float, excess: int, is_pending: bool, wait_s: float) -> None:
    former = {"formerUsernames": [f"ada-{number}" for number in range(PENDING_RENAMES)]} if is_pending else {}
    user = _user(timedelta(minutes=minutes), FIRST_RENAMES + excess) | former

    with pytest.raises(TooManyRenames) as refused:
        renamed(user, "countess")

    assert wait_s - 5 < refused.value.retry_after_s <= wait_s


@pytest.mark.parametrize("date", DATES)
def test_any_date_and_number_that_an_item_can_have_leaves_the_first_renames(date: str) -> None:
    user = user_item("7f2c1b52", "ada", date)

    assert renamed(user, "countess")["username"] == "countess"


@pytest.mark.parametrize("date", ["yesterday", "2999-01-01T00:00:00.000Z"])
@pytest.mark.parametrize("renames", [FIRST_RENAMES, 2**63])
def test_a_date_that_is_damaged_or_ahead_gives_no_further_renames(date: str, renames: int) -> None:
    with pytest.raises(TooManyRenames):
        renamed(user_item("7f2c1b52", "ada", date) | {"nameVersion": renames}, "countess")
