"""Generated blogs are reproducible, recent and valid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bench.generated.names import Names
from bench.generated.plan import Range, SeedPlan
from shared.data.username_reservations import normalized
from shared.models.base import check_username
from shared.platform.models import parse_moment

_PLAN = SeedPlan(users=5)


def test_generated_items_are_recent_and_not_in_the_future() -> None:
    now = datetime(2026, 11, 22, 9, tzinfo=UTC)
    plan = SeedPlan(now=now)
    numbered = [(index, post) for index in range(plan.users) for post in plan.posts(index, plan.user(index))]
    posts = [post for _, post in numbered]
    ages = sorted(now - parse_moment(post["creationDate"]) for post in posts)
    responses = [
        parse_moment(item["creationDate"]) for index, post in numbered for _, item in plan.responses(index, post)
    ]

    assert timedelta(minutes=2) < ages[0] < timedelta(minutes=10)
    assert timedelta(days=1) < ages[19] < timedelta(days=30)
    assert timedelta(days=100) < ages[-1] < timedelta(days=335)
    assert max(responses) <= now
    assert all(parse_moment(plan.user(index)["creationDate"]) < now - ages[-1] for index in range(plan.users))


def test_only_dates_depend_on_when_a_seed_is_generated() -> None:
    later = replace(_PLAN, now=_PLAN.now + timedelta(days=400))

    for post, again in zip(_PLAN.posts(0, _PLAN.user(0)), later.posts(0, later.user(0)), strict=True):
        assert again | {"creationDate": post["creationDate"]} == post
        assert len(list(later.responses(0, again))) == len(list(_PLAN.responses(0, post)))


def test_usernames_are_valid_and_unique() -> None:
    many = Names("any")
    names = [many.name(index) for index in range(20_000)]

    assert len({normalized(name) for name in names}) == len(names)
    assert all(check_username(name) and 3 <= len(name) <= 21 for name in names)


@pytest.mark.parametrize("text", ["", "-", "x", "5-", "5-x", "6-5", "-1", "1-2-3"])
def test_an_invalid_range_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Range.parse(text)


def test_a_range_is_two_numbers_or_one() -> None:
    assert (Range.parse("5-50"), Range.parse("7")) == (Range(5, 50), Range(7, 7))
