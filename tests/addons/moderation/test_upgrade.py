"""docs/upgrade.md upgrades a database of the last version whose moderation was part of the core.

database_before_the_addon.json has the containers and items that commit 4da992d3 wrote on its own emulator: texts that
look like dates, deleted accounts, two bans (the change feeds had not seen the second one), audit items, reports of
which one was dismissed and one is by a deleted user, and idempotency records of likes and reports.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey

from addons.moderation.container import NAME
from addons.moderation.deletions import list_deletions
from addons.moderation.migration import move_audit_items, move_reports
from management.verification.findings import Kind
from management.verify import verify
from shared.data.users import register_user
from shared.errors import AccountDeleted
from shared.models.base import DELETED_TTL_S
from shared.models.user import NewUser
from shared.platform.database.client import connect
from shared.platform.database.container import Container, patch_of
from shared.platform.models import Item, iso_utc, now
from shared.platform.settings import Account
from shared.settings import Settings
from tests.addons.moderation.reporting import a_commented_post, a_reader, listed
from tests.blog import Blog, EmulatorThread
from tests.items import unique
from tests.management.command_line import manage

_TEXT = Path(__file__).with_name("database_before_the_addon.json").read_text(encoding="utf-8")
# Reports count for 30 days.
RECORDED = json.loads(_TEXT.replace("2026-11-28", datetime.now(UTC).date().isoformat()))
POSTS: list[Item] = next(container["items"] for container in RECORDED if container["id"] == "posts")
BANNED = ("11111111-1111-5111-8111-111111111111", "22222222-2222-5222-8222-222222222222")
DATED = next(item for item in POSTS if item.get("title", "").startswith("text:"))


@pytest.mark.usefixtures("with_moderation")
async def test_a_database_from_before_the_addon_is_upgraded(emulator: EmulatorThread) -> None:
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("upgraded"))
    async with connect(settings) as client:
        blog = Blog(emulator, settings, await client.create_database(settings.database))
        await _restore(blog)

        provisioned = await manage(settings, "provision")
        before = {finding.kind for finding in await verify(blog.stored)}
        migrated = [await manage(settings, "migrate-moderation") for _ in range(2)]
        rebuilt = await manage(settings, "rebuild", "--restore-texts")
        verified = await manage(settings, "verify")
        audit = await manage(settings, "audit")
        entries = await listed(blog, blog.container(NAME))
        stored = [item for name in ("users", "posts", "feed") for item in await blog.all_items(blog.container(name))]
        for user_id in BANNED:
            with pytest.raises(AccountDeleted, match="cannot register"):
                await register_user(
                    blog.users, NewUser(username=unique("again")), user_id=user_id, idempotency_key=None
                )
        restored = await blog.posts.read(DATED["id"], DATED["id"]) or {}
        copy = await blog.feed.read(DATED["id"], "post") or {}
        await client.delete_database(settings.database)

    assert before == {Kind.MALFORMED, Kind.PREFIXED, Kind.RESERVATION, Kind.DELETION}
    for result in (provisioned, *migrated, rebuilt, verified, audit):
        assert result.exit_code == 0, result.output
    assert "Bans that never expire: 2" in migrated[0].output
    assert "Audit items moved: 4" in migrated[0].output
    assert "Bans that never expire: 0" in migrated[1].output
    assert "Audit items moved: 0" in migrated[1].output
    assert [audit.output.count(reason) for reason in ("Advertisement.", "Insults.", "Threats.")] == [2, 1, 1]
    # The dismissed report, and the deleted comment's, are gone; the reader who is deleted is not named.
    assert entries == [(DATED["id"], 1, ["It is only a date."])]
    assert {item["type"] for item in stored} == {
        "user",
        "username",
        "idempotency",
        "tombstone",
        "post",
        "comment",
        "like",
    }
    assert (restored["title"], restored["content"]) == ("2026-01-01T00:00:00+02:00", "/Date(99999999999999999)/")
    assert copy["title"] == restored["title"]


async def test_bans_are_kept_also_without_the_addon(emulator: EmulatorThread) -> None:
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("upgraded"))
    async with connect(settings) as client:
        blog = Blog(emulator, settings, await client.create_database(settings.database))
        await _restore(blog)
        await manage(settings, "provision")

        migrated = [await manage(settings, "migrate-moderation")]
        await blog.drain()
        # A deletion that was running meanwhile has ended like any other user's.
        await blog.users.patch(BANNED[1], BANNED[1], patch_of({"ttl": DELETED_TTL_S}))
        migrated += [await manage(settings, "migrate-moderation") for _ in range(2)]
        tombstones = [await blog.users.read(user_id, user_id) or {} for user_id in BANNED]
        await client.delete_database(settings.database)

    assert [result.exit_code for result in migrated] == [0, 0, 0]
    assert "reports and audit items stay" in migrated[0].output
    for number, result in zip((2, 1, 0), migrated, strict=True):
        assert f"Bans that never expire: {number}" in result.output
    # The former version serves until the deployment, and looks for `isBanned` only.
    assert [(each["ttl"], each["isBanned"]) for each in tombstones] == [(-1, True)] * 2


@pytest.mark.usefixtures("with_moderation")
async def test_reasons_lose_the_prefix_and_each_reader_has_one_report(blog: Blog, moderation: Container) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    about = {"postId": post["id"], "itemId": post["id"], "creationDate": now(), "ttl": 1000}
    dated = "2026-01-01T00:00:00"
    for reason in (f"text:{dated}", "The report of their former account."):
        report = {"id": f"report:{len(reason)}", "type": "report", "userId": reader["id"], "reason": reason}
        await blog.posts.create(about | report)
        about["creationDate"] = iso_utc(datetime.now(UTC) - timedelta(days=1))
    audit = {"id": "audit:1", "type": "audit", "itemType": "post", "authorId": reader["id"], "moderatorId": ""}
    await blog.posts.create(about | audit | {"isBan": False, "reason": f"text:{dated}"})

    await move_audit_items(blog.stored, moderation)
    await move_reports(blog.stored, moderation)

    assert await listed(blog, moderation) == [(post["id"], 1, [dated])]
    assert [audit["reason"] for audit in await list_deletions(moderation, reader["id"])] == [dated]


async def _restore(blog: Blog) -> None:
    for recorded in RECORDED:
        options = {"default_ttl": recorded.get("defaultTtl"), "indexing_policy": recorded.get("indexingPolicy")}
        proxy = await blog.database.create_container(
            recorded["id"], PartitionKey(recorded["partitionKey"]["paths"][0]), **options
        )
        for item in recorded["items"]:
            await proxy.create_item(item)


def test_the_recorded_database_has_what_it_is_about() -> None:
    types = [item.get("type") for container in RECORDED for item in container["items"]]
    assert [types.count(kind) for kind in ("audit", "report", "reported", "tombstone")] == [4, 5, 2, 5]
