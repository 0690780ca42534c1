"""Another app runs on the platform, without a line of the blog."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey

from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import REPOSITORY, running_app

KEYS = {"notes": "/shelf", "failures": "/source", "leases": "/id"}
# As for every list of the platform's `read_page`.
INDEXES = {
    "includedPaths": [{"path": "/*"}],
    "compositeIndexes": [[{"path": path, "order": "descending"} for path in ("/type", "/creationDate", "/id")]],
}


@pytest.fixture
async def notes(emulator: EmulatorThread, tmp_path: Path) -> AsyncIterator[str]:
    """The URL of the app, which has the platform's folder and a file of its own."""
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("notes"))
    async with connect(settings) as client:
        database = await client.create_database(settings.database)
        for name, key in KEYS.items():
            await database.create_container(name, PartitionKey(key), indexing_policy=INDEXES, default_ttl=-1)
    shutil.copytree(REPOSITORY / "shared" / "platform", tmp_path / "shared" / "platform")
    shutil.copy(Path(__file__).parent / "notes" / "function_app.py", tmp_path)
    shutil.copy(REPOSITORY / "host.json", tmp_path)
    with running_app(settings, tmp_path / "log", app_dir=tmp_path) as app:
        yield f"{app.url}/api/shelves"


async def _are_counted(session: ClientSession, url: str) -> bool:
    async with session.get(url) as listed:
        return [note["words"] for note in (await listed.json())["items"]] == [3]


async def test_an_app_of_its_own_runs_on_the_platform(notes: str) -> None:
    shelf = f"{notes}/kitchen/notes"
    async with ClientSession() as session:
        async with session.post(shelf, json={"text": "Buy some milk"}, headers={"Idempotency-Key": "1"}) as created:
            note = await created.json()
            assert (created.status, note["text"]) == (201, "Buy some milk")
            assert float(created.headers["x-ms-request-charge"]) > 0
        async with session.post(shelf, json={"text": "Buy some milk"}, headers={"Idempotency-Key": "1"}) as again:
            assert (again.status, (await again.json())["id"]) == (201, note["id"])
        async with session.post(shelf, json={"texts": ""}) as wrong:
            assert (wrong.status, len((await wrong.json())["errors"])) == (422, 2)
        async with session.get(f"{notes}/a%3Fb/notes") as missing:
            assert (missing.status, (await missing.json())["title"]) == (404, "Shelf not found")

        await eventually(lambda: _are_counted(session, shelf))
