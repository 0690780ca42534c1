"""How far the functions are behind, measured beside the real host that keeps their leases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cosmos_emulator import EmulatorSettings
from shared.propagation.lag import KEPT_S, Propagation
from shared.propagation.leases import KeyRange, Position, UnreadableLeasesError, positions

from shared.containers import POSTS, USERS
from shared.cosmos import Container
from shared.data.posts import create_post, delete_post
from shared.data.users import create_user
from shared.models.base import Item
from shared.models.health import Lag
from shared.models.post import NewPost
from shared.models.user import NewUser
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp, running_app

UP_TO_DATE = Lag(state="known", lag_seconds=0, lag_changes=0)
UNKNOWN = Lag(state="unknown")


@dataclass
class Clock:
    """The real time, moved."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def own_emulator(clock: Clock) -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(clock=clock, partitions=3)) as running:
        yield running


@pytest.fixture
async def moved(own_emulator: EmulatorThread) -> AsyncIterator[Blog]:
    """A blog whose database goes by `clock`."""
    async with new_blog(own_emulator) as provisioned:
        yield provisioned


async def _lag(blog: Blog, function: str = "on_posts_changed", **changes: Any) -> Lag:
    endpoint = changes.pop("endpoint", blog.settings.account_endpoint)
    return (await Propagation(blog.container, account_endpoint=lambda: endpoint, **changes).lags())[function]


async def _user(blog: Blog) -> Item:
    return await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)


async def _posts(blog: Blog, author: Item, number: int) -> list[Item]:
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    return [await create_post(blog.users, blog.posts, new, idempotency_key=None) for _ in range(number)]


async def _all_up_to_date(blog: Blog) -> bool:
    lags = await Propagation(blog.container, account_endpoint=lambda: blog.settings.account_endpoint).lags()
    return lags == {"on_users_changed": UP_TO_DATE, "on_posts_changed": UP_TO_DATE}


async def _ran_once(blog: Blog, log: Path) -> None:
    """The functions ran, handled everything, and were stopped."""
    with running_app(blog.settings, log) as app:
        await eventually(lambda: _all_up_to_date(blog))
        await asyncio.to_thread(app.stop)


async def test_before_the_functions_ever_ran_all_changes_wait(moved: Blog, clock: Clock) -> None:
    nothing = await _lag(moved)
    author = await _user(moved)
    await _posts(moved, author, 5)
    clock.ahead_s = 100

    lag = await _lag(moved)

    assert nothing == Lag(state="notStarted", lag_seconds=0, lag_changes=0)
    assert (lag.state, lag.lag_changes) == ("notStarted", 5)
    assert 100 <= (lag.lag_seconds or 0) <= 103


async def test_changes_wait_while_the_functions_are_down_and_are_counted_down_to_none(
    moved: Blog, clock: Clock, tmp_path: Path
) -> None:
    author = await _user(moved)
    await _posts(moved, author, 3)
    await _ran_once(moved, tmp_path / "first.log")
    idle = await _lag(moved)

    await _posts(moved, author, 7)
    clock.ahead_s = 60
    after_a_minute = await _lag(moved)
    await _posts(moved, author, 2)
    clock.ahead_s = 3_600
    after_an_hour = await _lag(moved)
    users = await _lag(moved, "on_users_changed")

    assert idle == users == UP_TO_DATE
    assert (after_a_minute.state, after_a_minute.lag_changes, after_an_hour.lag_changes) == ("known", 7, 9)
    assert 60 <= (after_a_minute.lag_seconds or 0) <= 65
    assert 3_600 <= (after_an_hour.lag_seconds or 0) <= 3_610
    with running_app(moved.settings, tmp_path / "second.log") as app:
        await eventually(lambda: _all_up_to_date(moved))
        _assert_batches_tell_their_lag(app)


def _assert_batches_tell_their_lag(app: RunningApp) -> None:
    lines = app.log_lines(containing='blog batch function="on_posts_changed"')
    lags = [float(line.partition("lag_s=")[2].split()[0]) for line in lines]
    # The app's clock is the real one: the second lot was written by the emulator's as of a minute later.
    assert lines
    assert all(lag >= 0 for lag in lags)


async def test_what_was_written_and_deleted_again_counts_as_waiting(moved: Blog, tmp_path: Path) -> None:
    author = await _user(moved)
    [post] = await _posts(moved, author, 1)
    await _ran_once(moved, tmp_path / "host.log")

    await delete_post(moved.posts, post["id"], etag=None)

    assert (await _lag(moved)).lag_changes == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"ContinuationToken": "half a token"},
        {"ContinuationToken": 7},
        {"FeedRange": None},
        {"FeedRange": {"PKRangeId": "0"}},
        {"FeedRange": {"Range": {"min": "", "max": "0"}}},
        {"Mode": "Full-Fidelity Feed"},
    ],
)
async def test_a_lease_that_cannot_be_read_makes_the_lag_unknown(
    blog: Blog, tmp_path: Path, damage: dict[str, object]
) -> None:
    await _ran_once(blog, tmp_path / "host.log")
    leases = blog.container("leases")
    lease = next(item for item in await blog.all_items(leases) if ".." in item["id"] and item["id"].startswith(POSTS))
    await leases.upsert(lease | damage)

    assert await _lag(blog) == UNKNOWN
    assert (await _lag(blog, "on_users_changed")).state == "known"


async def test_a_lease_that_is_missing_makes_the_lag_unknown(blog: Blog, tmp_path: Path) -> None:
    await _ran_once(blog, tmp_path / "host.log")
    leases = blog.container("leases")
    lease = next(item for item in await blog.all_items(leases) if ".." in item["id"] and item["id"].startswith(USERS))
    await leases.delete(lease["id"], lease["id"])

    assert await _lag(blog, "on_users_changed") == UNKNOWN


async def test_leases_of_another_address_of_the_account_make_the_lag_unknown(blog: Blog, tmp_path: Path) -> None:
    await _ran_once(blog, tmp_path / "host.log")

    assert await _lag(blog, endpoint="https://elsewhere.documents.azure.com:443/") == UNKNOWN


async def test_a_container_that_is_missing_makes_the_lag_unknown(blog: Blog) -> None:
    await blog.database.delete_container("leases")

    assert await _lag(blog) == UNKNOWN


async def test_a_database_that_does_not_answer_is_given_up_on_at_the_deadline(blog: Blog) -> None:
    started = time.monotonic()

    with blog.emulator.settings.faults.during(f"hang database={blog.settings.database} operation=change-feed"):
        lag = await _lag(blog, deadline_s=0.3)

    assert lag == UNKNOWN
    assert time.monotonic() - started < 5


async def test_however_many_ask_the_database_is_asked_once_a_second(blog: Blog) -> None:
    now = 1000.0
    opened: list[str] = []

    def open_container(name: str) -> Container:
        opened.append(name)
        return blog.container(name)

    propagation = Propagation(
        open_container, clock=lambda: now, account_endpoint=lambda: blog.settings.account_endpoint
    )
    await asyncio.gather(*(propagation.lags() for _ in range(20)))
    first = len(opened)
    now += KEPT_S
    await propagation.lags()

    assert (first, len(opened)) == (4, 8)


LEASE: Item = {
    "id": "posts-blog.documents.azure.com_AbCd==_AbCdEfGh=..0",
    "version": 0,
    "LeaseToken": "0",
    "FeedRange": {"Range": {"min": "", "max": "FF"}},
    "Owner": "2a1c6e0e-9d0e-4d2c-8d5e-0d3f1b5b8f6a",
    "ContinuationToken": '"1234"',
    "properties": {},
    "timestamp": "2026-01-01T00:00:00.0000000Z",
    "Mode": "Incremental Feed",
}
OF_THE_SERVICE = {"prefix": "posts-blog.documents.azure.com", "rids": "AbCd==_AbCdEfGh="}


def test_a_lease_as_the_extension_writes_it_says_how_far_the_function_got() -> None:
    marker = {"id": LEASE["id"].replace("..0", ".info")}
    former = LEASE | {"id": LEASE["id"].replace("AbCdEfGh=", "AbCdOldO="), "ContinuationToken": "broken"}

    found = positions([marker, LEASE, former], **OF_THE_SERVICE)

    assert found == [Position(KeyRange("", "FF"), '"1234"')]


def test_a_lease_before_its_first_change_has_handled_none() -> None:
    assert positions([LEASE | {"ContinuationToken": None}], **OF_THE_SERVICE)[0].continuation is None


def test_leases_must_cover_every_key_once() -> None:
    def lease(token: str, first: str, end: str) -> Item:
        return LEASE | {
            "id": LEASE["id"].replace("..0", f"..{token}"),
            "FeedRange": {"Range": {"min": first, "max": end}},
        }

    halves = [lease("2", "7F", "FF"), lease("1", "", "7F")]

    assert [position.keys for position in positions(halves, **OF_THE_SERVICE)] == [
        KeyRange("", "7F"),
        KeyRange("7F", "FF"),
    ]
    for faulty in ([halves[0]], [halves[1]], [*halves, lease("0", "", "FF")], [halves[1], lease("3", "80", "FF")]):
        with pytest.raises(UnreadableLeasesError):
            positions(faulty, **OF_THE_SERVICE)
