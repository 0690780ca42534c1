"""`verify` and `rebuild` know the container of the moderation."""

from __future__ import annotations

from typing import Any

import pytest

from addons.moderation.deletions import moderate_comment, moderate_user
from addons.moderation.models import entry_id
from addons.moderation.verification import ADDON
from management.addons import OpenAddon
from management.item_count import ItemCount
from management.rebuild import rebuild
from management.verification.findings import EDIT_ITEM, Kind
from management.verify import verify
from shared.data.posts import delete_post
from shared.data.users import delete_user
from shared.platform.database.container import Container
from shared.platform.http.callers import BackEnd
from tests.addons.moderation.reporting import a_commented_post, a_reader, listed, report
from tests.blog import Blog

pytestmark = pytest.mark.usefixtures("with_moderation")


@pytest.fixture
def addon(moderation: Container) -> OpenAddon:
    return OpenAddon(ADDON, moderation)


async def found(blog: Blog, addon: OpenAddon) -> list[Kind]:
    return [finding.kind for finding in await verify(blog.stored, ItemCount(), [addon])]


async def rebuilt(blog: Blog, addon: OpenAddon) -> None:
    await rebuild(blog.stored, lambda _: None, addons=[addon])


async def test_what_the_moderation_writes_has_no_finding(blog: Blog, moderation: Container, addon: OpenAddon) -> None:
    (post, comment), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, reader)
    await moderate_comment(
        blog.stored, moderation, post["id"], comment["id"], by=BackEnd(), reason="Insults.", if_match=None
    )
    await rebuilt(blog, addon)

    assert await found(blog, addon) == []
    assert len(await blog.all_items(moderation)) == 2


@pytest.mark.parametrize(
    ("name", "value"), [("rank", "999"), ("creationDate", "2020-01-01T00:00:00.000Z"), ("ttl", -1), ("type", "note")]
)
async def test_a_damaged_entry_is_found_and_repaired_from_its_reports(
    blog: Blog, moderation: Container, addon: OpenAddon, name: str, value: Any
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await blog.drain()
    await report(blog, moderation, post, reader)
    entry = await moderation.read(entry_id(post["id"], post["id"]), "reported") or {}
    if name == "type":  # it is the partition key
        await moderation.create(entry | {"type": value})
    else:
        await moderation.patch(entry["id"], "reported", [{"op": "set", "path": f"/{name}", "value": value}])

    assert Kind.MALFORMED in await found(blog, addon)
    await rebuilt(blog, addon)

    # Nobody knows what an unknown type means.
    assert (Kind.MALFORMED in await found(blog, addon)) == (name == "type")
    assert [item_id for item_id, _, _ in await listed(blog, moderation)] == [post["id"]]


async def test_the_reason_of_a_deleted_user_is_found_and_erased(
    blog: Blog, moderation: Container, addon: OpenAddon
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, reader, "A text of the reader.")
    await delete_user(blog.users, reader["id"])
    await blog.drain()

    assert Kind.DELETION in await found(blog, addon)
    await rebuilt(blog, addon)

    assert await found(blog, addon) == []
    assert "A text of the reader." not in str(await blog.all_items(moderation))
    assert [count for _, count, _ in await listed(blog, moderation)] == [1]


async def test_the_entry_of_a_deleted_post_is_listed_for_information_and_deleted(
    blog: Blog, moderation: Container, addon: OpenAddon
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, reader)
    await delete_post(blog.posts, post["id"], by=BackEnd())
    await blog.drain()

    assert Kind.REPORT in await found(blog, addon)
    await rebuilt(blog, addon)

    assert await found(blog, addon) == []
    assert await blog.all_items(moderation) == []


async def test_a_rebuild_says_how_many_entries_it_repairs(blog: Blog, moderation: Container, addon: OpenAddon) -> None:
    for _ in range(3):
        post, comment = await a_commented_post(blog)
        for item in (post, comment):
            await report(blog, moderation, item, await a_reader(blog))
        await delete_post(blog.posts, post["id"], by=BackEnd())

    await blog.drain()
    lines: list[str] = []

    await rebuild(blog.stored, lines.append, addons=[addon])

    assert f"Repairing: {Kind.REPORT.value}: 6" in lines
    assert await blog.all_items(moderation) == []


async def test_a_tombstone_that_never_expires_although_nobody_banned_its_user_is_found(
    blog: Blog, moderation: Container, addon: OpenAddon
) -> None:
    banned, deleted = await a_reader(blog), await a_reader(blog)
    await moderate_user(
        blog.stored, moderation, banned["id"], by=BackEnd(), reason="Insults.", bans=True, if_match=None
    )
    await delete_user(blog.users, deleted["id"])
    await blog.users.patch(deleted["id"], deleted["id"], [{"op": "set", "path": "/ttl", "value": -1}])
    await blog.drain()

    [finding] = await ADDON.verify(blog.stored, moderation, ItemCount())

    assert (finding.kind, finding.subject) == (Kind.BAN, f"user {deleted['id']}")
    assert "Data Explorer" in finding.advice


@pytest.mark.parametrize("name", ["reports", "rank"])
async def test_the_entry_of_a_deleted_post_and_reader_is_deleted_at_once(
    blog: Blog, moderation: Container, name: str
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, reader)
    if name == "rank":  # damaged, too
        entry = entry_id(post["id"], post["id"])
        await moderation.patch(entry, "reported", [{"op": "set", "path": "/rank", "value": "999"}])
    await delete_post(blog.posts, post["id"], by=BackEnd())
    await delete_user(blog.users, reader["id"])

    await ADDON.rebuild(blog.stored, moderation)

    assert await blog.all_items(moderation) == []


@pytest.mark.parametrize("damage", [{"id": "another"}, {"id": "another", "postId": None}, {"reports": None}])
async def test_what_a_rebuild_cannot_repair_has_other_advice(
    blog: Blog, moderation: Container, damage: dict[str, Any]
) -> None:
    (post, _), reader = await a_commented_post(blog), await a_reader(blog)
    await report(blog, moderation, post, reader)
    entry = await moderation.read(entry_id(post["id"], post["id"]), "reported") or {}
    await moderation.delete(entry["id"], "reported")
    await moderation.create(entry | damage)

    await ADDON.rebuild(blog.stored, moderation)

    [finding] = await ADDON.verify(blog.stored, moderation, ItemCount())
    assert (finding.kind, finding.advice) == (Kind.MALFORMED, EDIT_ITEM)
