"""Change-feed lag, measured on the leases that the real host writes."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cosmos_emulator import EmulatorSettings

from management import lag
from management.lag import KeyRange, Lag, Position, UnreadableLeasesError, measure_lags, positions, report_lag
from shared.containers import POSTS, USERS
from shared.data.posts import create_post, delete_post
from shared.data.users import create_user
from shared.models.post import NewPost
from shared.models.user import NewUser
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import unique
from tests.management.command_line import manage_blog
from tests.platform.telemetry.ingestion import Ingestion
from tests.polling import eventually
from tests.running_app import RunningApp, running_app


@dataclass
class Clock:
    """The real time plus an offset."""

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
    """A blog whose database uses `clock`."""
    async with new_blog(own_emulator) as provisioned:
        yield provisioned


async def _lag(blog: Blog, function: str = "on_posts_changed", **changes: Any) -> Lag:
    options = {"account_endpoint": blog.settings.account.endpoint} | changes
    return (await measure_lags(blog.database, **options))[function]


async def _user(blog: Blog) -> Item:
    return await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)


async def _posts(blog: Blog, author: Item, number: int) -> list[Item]:
    new = NewPost(user_id=author["id"], title="A title", content="Some content.")
    return [await create_post(blog.stored, new, idempotency_key=None) for _ in range(number)]


async def _are_up_to_date(blog: Blog) -> bool:
    lags = await measure_lags(blog.database, account_endpoint=blog.settings.account.endpoint)
    return all(lag == _up_to_date(function) for function, lag in lags.items())


def _up_to_date(function: str) -> Lag:
    return Lag(function, "known", seconds=0, changes=0)


async def _ran_once(blog: Blog, log: Path) -> None:
    """Run the functions until they have idle everything."""
    with running_app(blog.settings, log) as app:
        await eventually(lambda: _are_up_to_date(blog))
        await asyncio.to_thread(app.stop)


@pytest.fixture(scope="module")
async def handled_blog(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Blog]:
    """A blog whose functions have run once."""
    async with new_blog(emulator) as provisioned:
        await _ran_once(provisioned, tmp_path_factory.mktemp("lag") / "host.log")
        yield provisioned


@pytest.fixture
async def idle(handled_blog: Blog) -> AsyncIterator[Blog]:
    """That blog. Afterwards, its leases are as they were."""
    leases = handled_blog.container("leases")
    before = await handled_blog.all_items(leases)
    yield handled_blog
    for lease in before:
        await leases.proxy.upsert_item(lease)


async def test_all_changes_wait_before_the_functions_first_run(moved: Blog, clock: Clock) -> None:
    nothing = await _lag(moved)
    author = await _user(moved)
    await _posts(moved, author, 5)
    clock.ahead_s = 100

    lag = await _lag(moved)

    assert nothing == Lag("on_posts_changed", "notStarted", seconds=0, changes=0)
    assert (lag.state, lag.changes) == ("notStarted", 5)
    assert 100 <= (lag.seconds or 0) <= 103


async def test_changes_wait_while_the_functions_are_stopped(moved: Blog, clock: Clock, tmp_path: Path) -> None:
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

    assert idle == _up_to_date("on_posts_changed")
    assert users == _up_to_date("on_users_changed")
    assert (after_a_minute.state, after_a_minute.changes, after_an_hour.changes) == ("known", 7, 9)
    assert 60 <= (after_a_minute.seconds or 0) <= 65
    assert 3_600 <= (after_an_hour.seconds or 0) <= 3_610
    with running_app(moved.settings, tmp_path / "second.log") as app:
        await eventually(lambda: _are_up_to_date(moved))
        _assert_deliveries_log_their_lag(app)


def _assert_deliveries_log_their_lag(app: RunningApp) -> None:
    lines = app.log_lines(containing='blog delivery function="on_posts_changed"')
    lags = [float(line.partition("lag_s=")[2].split()[0]) for line in lines]
    # The app uses the real clock, so the emulator's later changes have an age of 0.
    assert lines
    assert all(lag >= 0 for lag in lags)


async def test_a_deletion_counts_as_a_waiting_change(moved: Blog, tmp_path: Path) -> None:
    author = await _user(moved)
    [post] = await _posts(moved, author, 1)
    await _ran_once(moved, tmp_path / "host.log")

    await delete_post(moved.posts, post["id"], by=BackEnd())

    assert (await _lag(moved)).changes == 1


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
async def test_an_unreadable_lease_makes_the_lag_unknown(idle: Blog, damage: dict[str, object]) -> None:
    leases = idle.container("leases")
    lease = next(item for item in await idle.all_items(leases) if ".." in item["id"] and item["id"].startswith(POSTS))
    await leases.proxy.upsert_item(lease | damage)

    assert (await _lag(idle)).state == "unknown"
    assert (await _lag(idle, "on_users_changed")).state == "known"


async def test_a_missing_lease_makes_the_lag_unknown(idle: Blog) -> None:
    leases = idle.container("leases")
    lease = next(item for item in await idle.all_items(leases) if ".." in item["id"] and item["id"].startswith(USERS))
    await leases.delete(lease["id"], lease["id"])

    lag = await _lag(idle, "on_users_changed")

    assert (lag.state, lag.problem) == ("unknown", "The leases overlap or leave a gap.")


async def _a_lease(blog: Blog) -> Item:
    leases = await blog.all_items(blog.container("leases"))
    return next(item for item in leases if ".." in item["id"] and item["id"].startswith(POSTS))


async def test_changes_behind_an_expired_lease_are_stalled(blog: Blog, tmp_path: Path) -> None:
    await _ran_once(blog, tmp_path / "host.log")
    long_ago = {"Owner": "a-host-that-is-gone", "timestamp": "2026-01-01T00:00:00.0000000Z"}
    for lease in await blog.all_items(blog.container("leases")):
        if ".." in lease["id"]:
            await blog.container("leases").proxy.upsert_item(lease | long_ago)

    before = await _lag(blog)
    await _posts(blog, await _user(blog), 1)
    result = await manage_blog(blog, "lag")

    assert before == _up_to_date("on_posts_changed")
    assert (await _lag(blog)).state == "stalled"
    assert result.exit_code == 1


async def test_a_continuation_token_beyond_the_end_makes_the_lag_unknown(idle: Blog) -> None:
    await idle.container("leases").proxy.upsert_item(
        await _a_lease(idle) | {"ContinuationToken": '"9000000000000000000"'}
    )

    lag = await _lag(idle)

    assert lag.state == "unknown"
    assert lag.problem.startswith("A continuation token is beyond the end of the change feed")


async def test_max_limits_the_lag(moved: Blog, clock: Clock, tmp_path: Path) -> None:
    await _ran_once(moved, tmp_path / "host.log")
    await _posts(moved, await _user(moved), 1)
    clock.ahead_s = 60

    results = [await manage_blog(moved, "lag", "--max", most) for most in ("300", "10")]

    assert [result.exit_code for result in results] == [0, 1]


@pytest.mark.nightly
@pytest.mark.parametrize("damage", ["all", "one"])
async def test_reset_leases_repairs_missing_leases(blog: Blog, tmp_path: Path, damage: str) -> None:
    await _ran_once(blog, tmp_path / "first.log")
    leases = blog.container("leases")
    damaged = [lease for lease in await blog.all_items(leases) if ".." in lease["id"]]
    for lease in damaged if damage == "all" else damaged[:1]:
        await leases.delete(lease["id"], lease["id"])

    results = [await manage_blog(blog, "leases", "reset", name) for name in ("on_users_changed", "on_posts_changed")]

    assert [result.exit_code for result in results] == [0, 0]
    await _posts(blog, await _user(blog), 3)
    await _ran_once(blog, tmp_path / "second.log")


@pytest.mark.parametrize("are_gone", [False, True])
async def test_reset_leases_refuses_while_a_host_is_running(blog: Blog, tmp_path: Path, are_gone: bool) -> None:
    with running_app(blog.settings, tmp_path / "host.log"):
        await eventually(lambda: _are_up_to_date(blog))
        leases = blog.container("leases")
        for lease in await blog.all_items(leases) if are_gone else []:
            if lease["id"].startswith(POSTS):
                await leases.delete(lease["id"], lease["id"])

        result = await manage_blog(blog, "leases", "reset", "on_posts_changed")

    assert result.exit_code == 2
    assert "A host is running. Stop all hosts" in result.output


async def test_leases_of_another_account_address_make_the_lag_unknown(idle: Blog) -> None:
    lag = await _lag(idle, account_endpoint="https://elsewhere.documents.azure.com:443/")

    assert (lag.state, lag.problem) == ("unknown", "All leases belong to another address of the account.")


async def test_a_missing_container_makes_the_lag_unknown(blog: Blog) -> None:
    await blog.database.delete_container("leases")

    lag = await _lag(blog)

    expected = "The database, a container or a script is missing. Run `manage.py provision`."
    assert (lag.state, lag.problem) == ("unknown", expected)


async def test_a_silent_database_makes_the_lag_unknown_after_the_deadline(blog: Blog) -> None:
    with blog.emulator.settings.faults.during(f"hang database={blog.settings.database} operation=change-feed"):
        lag = await asyncio.wait_for(_lag(blog, deadline_s=0.3), 60)

    assert (lag.state, lag.problem) == ("unknown", "The database did not answer within 0.3 s.")


async def test_the_command_prints_a_table(blog: Blog) -> None:
    await _posts(blog, await _user(blog), 2)

    result = await manage_blog(blog, "lag")

    rows = [line.strip("│ ").split() for line in result.output.splitlines() if "│" in line][-2:]
    assert [(row[0], row[2], row[-1]) for row in rows] == [
        ("on_users_changed", "notStarted", "2"),
        ("on_posts_changed", "notStarted", "2"),
    ]
    assert "on_posts_changed: The function has never run, or its leases were deleted. Start the app." in result.output
    assert "Request charge: " in result.output
    assert result.exit_code == 1


async def test_the_command_prints_json(idle: Blog) -> None:
    result = await manage_blog(idle, "lag", "--json")

    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"function": function, "state": "known", "lagSeconds": 0, "lagChanges": 0}
        for function in ("on_users_changed", "on_posts_changed")
    ]
    assert result.exit_code == 0


async def test_the_command_exits_with_1_if_a_lag_is_unknown(idle: Blog) -> None:
    leases = idle.container("leases")
    lease = next(item for item in await idle.all_items(leases) if ".." in item["id"] and item["id"].startswith(POSTS))
    await leases.proxy.upsert_item(lease | {"Mode": "Full-Fidelity Feed"})

    result = await manage_blog(idle, "lag", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout.splitlines()[1])["problem"] == "A lease has another change feed mode."


async def test_the_command_records_for_the_alert_whether_a_function_stands_still(
    blog: Blog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _user(blog)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "certificate.pem"))
    # The exporter also reports on itself, and reads a configuration.
    for feature in ("STATSBEAT_DISABLED_ALL", "SDKSTATS_DISABLED", "CONTROLPLANE_DISABLED"):
        monkeypatch.setenv(f"APPLICATIONINSIGHTS_{feature}", "true")

    with Ingestion(tmp_path) as ingestion:
        address = f"InstrumentationKey={uuid.uuid4()};IngestionEndpoint={ingestion.endpoint}"
        result = await manage_blog(
            blog, "lag", "--record", variables={"APPLICATIONINSIGHTS_CONNECTION_STRING": address}
        )

    assert {
        (metric["metrics"][0]["name"], metric["properties"]["blog.function"], metric["metrics"][0]["value"])
        for metric in ingestion.of_type("MetricData")
    } == {("blog.change_feed.check", "on_users_changed", 1), ("blog.change_feed.check", "on_posts_changed", 0)}
    assert result.exit_code == 1


@pytest.mark.parametrize("address", ["", "secret"])
async def test_an_invalid_address_of_application_insights_is_an_error(blog: Blog, address: str) -> None:
    result = await manage_blog(blog, "lag", "--record", variables={"APPLICATIONINSIGHTS_CONNECTION_STRING": address})

    assert result.exit_code == 2
    assert "set APPLICATIONINSIGHTS_CONNECTION_STRING to" in result.stderr
    assert "secret" not in result.stderr


@pytest.mark.parametrize("option", ["--max=1", "--record"])
async def test_watch_refuses_an_option_for_its_end(blog: Blog, option: str) -> None:
    result = await manage_blog(blog, "lag", "--watch", option)

    assert result.exit_code == 2
    assert "--watch never ends." in result.stderr


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "table"])
async def test_watch_measures_until_interrupted(blog: Blog, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    monkeypatch.setattr(lag, "_INTERVAL_S", 0.01)
    measured = asyncio.Semaphore(0)

    async def measure() -> dict[str, Lag]:
        measured.release()
        return {"on_posts_changed": await _lag(blog)}

    watching = asyncio.create_task(report_lag(measure, watch=True, as_json=as_json))
    async with asyncio.timeout(20):
        for _ in range(3):
            await measured.acquire()
    watching.cancel()

    with pytest.raises(asyncio.CancelledError):
        await watching


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
REAL_ACCOUNT = {"prefix": "posts-blog.documents.azure.com", "rids": "AbCd==_AbCdEfGh="}


def test_a_lease_of_the_real_extension_is_parsed() -> None:
    marker = {"id": LEASE["id"].replace("..0", ".info")}
    former = LEASE | {"id": LEASE["id"].replace("AbCdEfGh=", "AbCdOldO="), "ContinuationToken": "broken"}

    found = positions([marker, LEASE, former], **REAL_ACCOUNT)

    assert found == [Position(KeyRange("", "FF"), '"1234"', renewed=datetime(2026, 1, 1, tzinfo=UTC))]


def test_a_new_lease_has_no_continuation_token() -> None:
    assert positions([LEASE | {"ContinuationToken": None}], **REAL_ACCOUNT)[0].continuation is None


def test_leases_must_cover_every_key_once() -> None:
    def lease(token: str, first: str, end: str) -> Item:
        return LEASE | {
            "id": LEASE["id"].replace("..0", f"..{token}"),
            "FeedRange": {"Range": {"min": first, "max": end}},
        }

    halves = [lease("2", "7F", "FF"), lease("1", "", "7F")]

    assert [position.keys for position in positions(halves, **REAL_ACCOUNT)] == [
        KeyRange("", "7F"),
        KeyRange("7F", "FF"),
    ]
    for faulty in ([halves[0]], [halves[1]], [*halves, lease("0", "", "FF")], [halves[1], lease("3", "80", "FF")]):
        with pytest.raises(UnreadableLeasesError):
            positions(faulty, **REAL_ACCOUNT)
