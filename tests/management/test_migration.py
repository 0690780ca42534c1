"""docs/migration.md migrates databases of the article's data models."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest

from bench.generated.plan import Range
from bench.models.interface import Model
from bench.models.plan import ArticlePlan
from bench.models.v1 import V1
from bench.models.v2 import V2
from bench.models.v3 import V3
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.models import Item
from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import EmulatorThread
from tests.identity import deployed_account, managed_identity
from tests.items import unique
from tests.management.command_line import manage
from tests.running_app import REPOSITORY, environment_of

# User 0 always has 29 posts, the first with 20 comments and a like by each user.
PLAN = ArticlePlan(users=3, posts_per_user=Range(1, 2), comments_per_post=Range(0, 2), likes_per_post=Range(0, 2))


@pytest.mark.nightly
@pytest.mark.parametrize("model", [V1, V2, V3], ids=lambda model: model.NAME)
async def test_a_database_of_the_article_is_copied_and_rebuilt(
    model: type[Model], emulator: EmulatorThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("old"))
    await fill(model, old)

    with deployed_account() as deployment:
        async with managed_identity(monkeypatch):
            new = Settings(account=Account(deployment.account.endpoint), database=deployment.database)
            await run_copy_script(old, new, tmp_path)
            rebuilt = await manage(new, "rebuild")
        async with connect(deployment) as client:
            database = client.get_database_client(deployment.database)
            posts = await items_of(Container(database.get_container_client("posts")))
            feed = await items_of(Container(database.get_container_client("feed")))

    assert (rebuilt.exit_code, "No violations found." in rebuilt.output) == (0, True), rebuilt.output
    planned = [item for name, item in model.items(PLAN) if name == "posts"]
    assert sorted(map(kind_of, posts)) == sorted(map(kind_of, planned))
    assert len([item for item in feed if item["type"] == "post"]) == sum(item["type"] == "post" for item in planned)
    assert all(item["id"] == item["userId"] for item in posts if item["type"] == "like")


def kind_of(item: Item) -> tuple[str, str, str]:
    return item["postId"], item["type"], item["userId"]


async def items_of(container: Container) -> list[Item]:
    return [item async for item in container.query_across("SELECT * FROM c", {}, page_size=1000)]


async def fill(model: type[Model], settings: Settings) -> None:
    """Create a database as the article's application leaves it: the likes have IDs of their own."""
    async with connect(settings) as client:
        await model.provision(client, settings)
        database = client.get_database_client(settings.database)
        for name, item in model.items(PLAN):
            stored = item | {"id": str(uuid.uuid4())} if item.get("type") == "like" else item
            await database.get_container_client(name).create_item(stored)


async def run_copy_script(old: Settings, new: Settings, folder: Path) -> None:
    page = (REPOSITORY / "docs" / "migration.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^ +```python\n(.*?)^ +```$", page, re.DOTALL | re.MULTILINE)
    script = folder / "copy_blog.py"
    script.write_text(textwrap.dedent(block), encoding="utf-8")
    environment = {"OLD_COSMOS": environment_of(old)["COSMOS"], "OLD_DATABASE": old.database, **environment_of(new)}
    command = [sys.executable, "-W", "ignore", str(script)]  # the emulator's certificate is not verified
    done = await asyncio.to_thread(
        subprocess.run, command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
