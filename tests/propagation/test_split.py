"""Physical partitions split while the app runs: no acknowledged write is lost, and all copies become correct."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings

from management.account import open_containers
from management.provision import provision
from management.verify import verify, verify_within
from shared.platform.database.client import connect
from shared.platform.database.sessions import SESSION_HEADER
from shared.platform.settings import Account
from shared.settings import Settings, TransactionMode
from tests.api import Api, Json
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import running_app

_WAIT_S = 60


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["batch", "procedure"])
async def test_nothing_is_lost_when_partitions_split_during_writes(tmp_path: Path, way: TransactionMode) -> None:
    posts: list[Json] = []
    sessions: list[str] = []
    is_over = asyncio.Event()

    async def write(api: Api, author: Json) -> None:
        while not is_over.is_set():
            created = await api.create_post(author["id"], "A title", "Some content.")
            assert created.status == 201, created.content
            post = created.body
            sessions.append(created.headers[SESSION_HEADER])
            # Tokens of the first partitions and of those that replaced them.
            seen = await api.get_post(post["id"], {SESSION_HEADER: f"{sessions[0]},{sessions[-1]}"})
            assert seen.status == 200, seen.content
            await api.new_comment(post, author)
            await api.new_like(post, author)
            renamed = await api.edit_user(author["id"], unique("grace"))
            assert renamed.status == 200, renamed.content
            posts.append(post)

    with EmulatorThread(EmulatorSettings(partitions=1)) as emulator:
        settings = Settings(
            account=Account(emulator.endpoint, emulator.key), database=unique("split"), transactions=way
        )
        await provision(settings, throughput=400)
        with running_app(settings, tmp_path / "host.log") as app:
            async with ClientSession() as session:
                api = Api(session, app.url, app.openapi)
                writers = [asyncio.create_task(write(api, await api.new_user())) for _ in range(2)]
                await eventually(lambda: len(posts) >= 5 or any(writer.done() for writer in writers))

                await provision(settings, throughput=25_000)

                before = len(posts)
                await eventually(lambda: len(posts) >= before + 10 or any(writer.done() for writer in writers))
                is_over.set()
                await asyncio.gather(*writers)
            async with connect(settings) as client:
                blog = await open_containers(client, settings.database)
                assert len(await blog.posts.feed_ranges()) == 3
                assert await verify_within(blog, _WAIT_S) == []
                assert await verify(blog) == []
                stored = {
                    item["id"] async for item in blog.posts.query_across("SELECT c.id FROM c", {}, page_size=1000)
                }
        assert not app.log_lines(containing="ERROR")

    assert {post["id"] for post in posts} <= stored
