"""Reads send the session tokens of the process's own batches and stored procedures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from shared.cosmos import BatchRefused, Container, connect
from shared.transactions import BATCHES, PROCEDURES, Transactions
from tests.blog import Blog
from tests.gateway import Gateway, Operation
from tests.items import a_like, a_post, a_user


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
