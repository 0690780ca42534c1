"""docs/upgrade.md upgrades a database of version 0.1.0.

That version has no tag. Commit 6abfdf644d0f4fd747d2fc651b6a3a6ef9fa0cc9, the last one of its day, stands for it.
database_0_1_0.json has the containers and items that it made on its own local stack: two users, one of whom was
renamed; a post with comments and likes that was edited, one whose title looks like a date, and a deleted one. A third
user registered and wrote a post right before the stack was stopped, so the change feeds did not see it. Leases are
left out: the functions start again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey

from management.verification.findings import Kind
from management.verify import verify
from shared.platform.database.client import connect
from shared.platform.models import Item
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread
from tests.items import unique
from tests.management.command_line import manage
from tests.polling import eventually
from tests.running_app import running_app

RECORDED = json.loads(Path(__file__).with_name("database_0_1_0.json").read_text(encoding="utf-8"))
ITEMS: dict[str, list[Item]] = {container["id"]: container["items"] for container in RECORDED}
ADA, GRACE, LATE = (
    next(item for item in ITEMS["users"] if item.get("type") == "user" and item["username"] == name)
    for name in ("ada", "grace.hopper", "late")
)
EDITED, DATED, LAST = (
    next(item for item in ITEMS["posts"] if item["title"] == title)
    for title in ("Notes on the Analytical Engine", "2026-01-01T00:00:00+02:00", "Just in time")
)


@pytest.mark.nightly
async def test_a_database_of_the_first_release_is_upgraded(emulator: EmulatorThread, tmp_path: Path) -> None:
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("upgraded"))
    async with connect(settings) as client:
        blog = Blog(emulator, settings, await client.create_database(settings.database))
        await _restore(blog)

        provisioned = await manage(settings, "provision")
        before = {finding.kind for finding in await verify(blog.stored)}
        rebuilt = await manage(settings, "rebuild")
        verified = await manage(settings, "verify", "--wait", "60")
        with running_app(settings, tmp_path / "host.log") as app:
            async with ClientSession() as session:
                await _use(Api(session, app.url, app.openapi))
            after = await manage(settings, "verify", "--wait", "60")
        await client.delete_database(settings.database)

    assert before == {Kind.COPY_MISSING, Kind.FEED_MISSING, Kind.LEFTOVER, Kind.RESERVATION}
    for result in (provisioned, rebuilt, verified, after):
        assert result.exit_code == 0, result.output


async def _restore(blog: Blog) -> None:
    for recorded in RECORDED:
        options = {"default_ttl": recorded.get("defaultTtl"), "indexing_policy": recorded.get("indexingPolicy")}
        proxy = await blog.database.create_container(
            recorded["id"], PartitionKey(recorded["partitionKey"]["paths"][0]), **options
        )
        for item in recorded["items"]:
            await proxy.create_item(item)


async def _use(api: Api) -> None:
    """Every request works on the data of the earlier version."""
    listed = await api.send("GET", f"/api/users/{ADA['id']}/posts")
    assert [post["title"] for post in listed.body["items"]] == [DATED["title"], EDITED["title"]]
    feed = await api.send("GET", "/api/feed")
    assert [post["id"] for post in feed.body["items"]] == [LAST["id"], DATED["id"], EDITED["id"]]
    post = await api.get_post(EDITED["id"])
    assert (post.body["commentCount"], post.body["likeCount"]) == (3, 2)
    comments = await api.send("GET", f"/api/posts/{EDITED['id']}/comments")
    assert {comment["userUsername"] for comment in comments.body["items"]} == {GRACE["username"]}
    assert len((await api.send("GET", f"/api/posts/{EDITED['id']}/likes")).body["items"]) == 2
    assert (await api.edit_user(LATE["id"], "later")).status == 200

    async def late_is_free() -> bool:
        return (await api.send("POST", "/api/users", body={"username": LATE["username"]})).status == 201

    await eventually(late_is_free)  # the users change feed releases it
    assert (await api.edit_post(EDITED["id"], "Edited again", "By the new version.")).status == 200
    assert (await api.create_comment(EDITED["id"], LATE["id"], "Still here.")).status == 201
    # The known incompatibility: a repeated command whose key is from before the upgrade.
    repeated = await api.send("POST", "/api/users", body={"username": "ada"}, headers={"Idempotency-Key": "register"})
    assert repeated.status == 409
