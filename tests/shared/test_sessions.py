"""Reads send the session tokens of the process's own batches, stored procedures and reads by the primary."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from cosmos_emulator import EmulatorSettings

from shared.cosmos import BatchRefused, Container, connect
from shared.transactions import BATCHES, PROCEDURES, Transactions
from tests.blog import Blog, EmulatorThread
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
        settings = replace(blog.settings, account_endpoint=gateway.endpoint)
        async with connect(settings) as client:
            database = client.get_database_client(settings.database)
            yield Container(database.get_container_client("posts")), operations


@pytest.mark.parametrize("transactions", [BATCHES, PROCEDURES], ids=["batch", "procedure"])
async def test_reads_and_queries_send_the_session_token_of_the_last_transaction(
    blog: Blog, recorded: tuple[Container, list[Operation]], transactions: Transactions
) -> None:
    post = await blog.posts.create(a_post(a_user()))
    posts, operations = recorded
    await transactions.add(posts, a_like(post, a_user()))
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
    tokens = {operation.answered_session for operation in operations if operation.kind == "batch"}
    await posts.read("a", "a")
    await posts.query("SELECT * FROM c", {}, partition_key="a", page_size=10)
    assert [row async for row in posts.query_across("SELECT * FROM c", {}, page_size=10)] == []

    *_, read, query, query_across = [operation.sent_session for operation in operations]
    assert len(tokens) == PARTITIONS
    assert read in tokens
    assert query == read
    assert set(query_across.split(",")) == tokens


async def test_catching_up_includes_partitions_from_a_split_during_it(
    recorded: tuple[Container, list[Operation]],
) -> None:
    posts, operations = recorded

    class Split(Container):
        is_split = False

        async def feed_ranges(self) -> list[dict[str, Any]]:
            ranges = await super().feed_ranges()
            # Before the split, the SDK knows only the parent of the last two.
            parent = {"Range": ranges[-2]["Range"] | {"max": ranges[-1]["Range"]["max"]}}
            before, self.is_split = self.is_split, True
            return ranges if before else [*ranges[:-2], parent]

    await Split(posts.proxy).catch_up()

    assert len({operation.answered_session for operation in operations if operation.kind == "batch"}) == PARTITIONS


async def test_reading_the_latest_state_costs_as_much_as_a_point_read(
    blog: Blog, recorded: tuple[Container, list[Operation]]
) -> None:
    post = await blog.posts.create(a_post(a_user(), content="word " * 2_000))
    posts, operations = recorded
    for item_id in (post["id"], "missing"):
        assert await posts.read_latest(item_id, post["id"]) == await posts.read(item_id, post["id"])

    charges = [operation.charge_ru for operation in operations if operation.kind in ("batch", "read")]
    latest, read, latest_missing, read_missing = charges
    assert latest == read > 1
    assert latest_missing == read_missing == 1
