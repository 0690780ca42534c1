"""Session tokens: of the process's own batches, scripts and reads by the primary, and those that clients bring."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from cosmos_emulator import EmulatorSettings
from hypothesis import given
from hypothesis import strategies as st

from shared.platform.database import sessions
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.database.refusals import BatchRefused
from shared.platform.database.retries import SESSION_RETRIES, SESSION_WAIT_S
from shared.platform.database.scope import current_scope, request_scope
from shared.platform.database.sessions import SESSION_HEADER_LENGTH, Session
from shared.platform.errors import DatabaseUnavailable, MalformedRequest
from shared.settings import TransactionMode
from shared.transactions import transactions
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway, Operation
from tests.items import a_like, a_post, a_user

PARTITIONS = 4


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(partitions=PARTITIONS)) as running:
        yield running


@pytest.fixture
async def recorded(blog: Blog) -> AsyncIterator[tuple[Container, list[Operation]]]:
    """`posts` through its own client, and the operations that this client sends."""
    with Gateway(blog.emulator.endpoint) as gateway, gateway.recording() as operations:
        settings = at(blog.settings, gateway.endpoint)
        async with connect(settings) as client:
            database = client.get_database_client(settings.database)
            yield Container(database.get_container_client("posts")), operations


@pytest.mark.parametrize("mode", ["batch", "procedure"])
async def test_reads_and_queries_send_the_session_token_of_the_last_transaction(
    blog: Blog, recorded: tuple[Container, list[Operation]], mode: TransactionMode
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    posts, operations = recorded
    await transactions(mode).add(posts, a_like(post, a_user()), None)
    written = operations[-1].answered_session

    await posts.read(post["id"], post["id"])
    await posts.query("SELECT * FROM c", {}, partition_key=post["id"], page_size=10)

    assert written
    assert [operation.sent_session for operation in operations[-2:]] == [written, written]


async def test_reads_send_the_session_token_of_a_refused_batch(
    blog: Blog, recorded: tuple[Container, list[Operation]]
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    posts, operations = recorded
    with pytest.raises(BatchRefused):
        await posts.batch(post["id"], [("create", (post,))])
    refused = operations[-1].answered_session

    await posts.read(post["id"], post["id"])

    assert refused
    assert operations[-1].sent_session == refused


async def test_after_catching_up_reads_and_queries_send_a_session_token_of_each_partition(
    recorded: tuple[Container, list[Operation]],
) -> None:
    posts, operations = recorded

    await posts.catch_up()
    tokens = {operation.answered_session for operation in operations if operation.kind == "read latest"}
    await posts.read("a", "a")
    await posts.query("SELECT * FROM c", {}, partition_key="a", page_size=10)
    assert [row async for row in posts.query_across("SELECT * FROM c", {}, page_size=10)] == []

    *_, read, query, query_across = [operation.sent_session for operation in operations]
    assert len(tokens) == PARTITIONS
    assert read in tokens
    assert query == read
    assert set(query_across.split(",")) == tokens


async def test_catching_up_after_a_split_includes_every_child(
    blog: Blog, recorded: tuple[Container, list[Operation]]
) -> None:
    posts, operations = recorded
    await posts.catch_up()
    await blog.posts.proxy.replace_throughput(80_000)
    operations.clear()

    await posts.catch_up()

    answered = {operation.answered_session.partition(":")[0] for operation in operations}
    assert answered >= {str(number) for number in range(PARTITIONS, 3 * PARTITIONS)}


async def test_reading_the_latest_state_costs_as_much_as_a_point_read(
    blog: Blog, recorded: tuple[Container, list[Operation]]
) -> None:
    post = await blog.posts.create(a_post(a_user(), content="word " * 2_000))
    posts, operations = recorded
    for item_id in (post["id"], "missing"):
        assert await posts.read_latest(item_id, post["id"]) == await posts.read(item_id, post["id"])

    charges = [operation.charge_ru for operation in operations if operation.kind in ("read latest", "read")]
    latest, read, latest_missing, read_missing = charges
    assert latest == read > 1
    assert latest_missing == read_missing == 1


async def test_a_read_sends_the_latest_of_what_the_request_and_the_process_know(
    blog: Blog, recorded: tuple[Container, list[Operation]]
) -> None:
    posts, operations = recorded
    post = await posts.create(a_post(a_user()))
    rid = (await posts.proxy.read())["_rid"]
    range_id, progress = operations[-2].answered_session.split(":")
    lsn = int(progress.split("#")[1])

    sent = []
    for brought in (lsn - 1, lsn):
        with request_scope() as scope:
            scope.session.add(rid, f"{range_id}:-1#{brought},77:-1#5")
            scope.session.add("AAAAAIAAAAE=", f"{range_id}:-1#{lsn + 1}")
            await posts.read(post["id"], post["id"])
            await posts.query("SELECT * FROM c", {}, partition_key=post["id"], page_size=10)
            await posts.batch(post["id"], [("read", (post["id"],))])
        sent.append([set(operation.sent_session.split(",")) for operation in operations[-3:]])

    own = f"{range_id}:-1#{lsn}"
    assert sent == [[{own, "77:-1#5"}, {own, "77:-1#5"}, {own}]] * 2
    assert current_scope() is None


async def test_a_read_waits_longer_each_time_for_a_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    async def send() -> object:
        return SimpleNamespace(status_code=404, headers={"x-ms-substatus": "1002"})

    monkeypatch.setattr(sessions, "asyncio", SimpleNamespace(sleep=wait, Lock=asyncio.Lock))
    session = Session()
    session.add("rid", "0:1#5")
    with pytest.raises(DatabaseUnavailable):
        await session.send(SimpleNamespace(headers={}), "rid", send, is_read=True)

    assert waits == [SESSION_WAIT_S * 2**number for number in range(SESSION_RETRIES)]


_RIDS = st.sampled_from(["AAAAAIAAAAE=", "+yOIsoAAAAE=", "-x8OIoAAAAI="])
_REGIONS = st.lists(st.tuples(st.integers(0, 50), st.integers(-1, 10**18 - 1)), max_size=3)
_RANGES = st.tuples(_RIDS, st.integers(0, 99), st.integers(-1, 3), st.integers(0, 10**18 - 1), _REGIONS)


def _session(ranges: list[tuple[str, int, int, int, list[tuple[int, int]]]]) -> Session:
    session = Session()
    for rid, range_id, version, lsn, regions in ranges:
        progress = "".join(f"#{region}={local}" for region, local in regions)
        assert session.add(rid, f"{range_id}:{version}#{lsn}{progress}")
    return session


def _known(session: Session) -> dict[str, set[str]]:
    rids = ("AAAAAIAAAAE=", "+yOIsoAAAAE=", "-x8OIoAAAAI=")
    return {rid: set(filter(None, session.tokens_of(rid).split(","))) for rid in rids}


@given(st.lists(_RANGES, max_size=5))
def test_a_token_parses_to_the_session_it_was_made_from(ranges: list[Any]) -> None:
    session = _session(ranges)
    parsed = Session.parse(str(session))

    assert _known(parsed) == _known(session)
    assert str(parsed) == str(session)


@given(st.lists(_RANGES, max_size=6), st.lists(_RANGES, max_size=6), st.lists(_RANGES, max_size=6))
def test_merging_keeps_the_latest_of_each_range_in_any_order(one: list[Any], two: list[Any], three: list[Any]) -> None:
    together = _session(one + two + three)
    for order in ((one, two, three), (three, one, two), (two, two, three, one, one)):
        merged = Session()
        for ranges in order:
            merged.update(_session(ranges))
        assert _known(merged) == _known(together)

    for rid, range_id, version, lsn, _ in one + two + three:
        known = together.tokens_of(rid).split(",")
        [latest] = [token for token in known if token.startswith(f"{range_id}:")]
        newest = tuple(map(int, latest.split(":")[1].split("#")[:2]))
        assert newest >= (version, lsn)


@given(st.lists(_RANGES, max_size=200))
def test_a_token_of_any_number_of_ranges_is_short_and_keeps_the_latest_change(ranges: list[Any]) -> None:
    text = str(_session(ranges))

    assert len(text) * 4 < SESSION_HEADER_LENGTH
    if ranges:
        rid, range_id, *_ = ranges[-1]
        assert any(token.startswith(f"{range_id}:") for token in Session.parse(text).tokens_of(rid).split(","))


@given(st.text(max_size=60) | st.text("1.QUFBPS8wOi0xIzU,_- \n\0é", max_size=60))
def test_any_text_parses_or_is_malformed(text: str) -> None:
    try:
        session = Session.parse(text)
    except MalformedRequest:
        return
    assert str(session) == str(Session.parse(str(session)))
