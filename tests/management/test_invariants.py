"""Whatever a stranger stores: `verify` reports it and reads on, and `rebuild` repairs all that it claims to repair."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from management.failures import list_failures, state_of
from management.rebuild import rebuild
from management.verification.findings import REBUILD, Finding, Kind
from management.verification.invariants import INVARIANTS, Invariant, violated
from management.verify import verify
from shared.containers import container_definitions
from shared.data.comments import create_comment
from shared.data.likes import create_like, delete_like
from shared.data.posts import create_post, delete_post, edit_post
from shared.data.username_reservations import reservation_item
from shared.data.users import create_user, edit_user
from shared.models.base import DELETED_TYPE
from shared.models.comment import NewComment
from shared.models.like import NewLike
from shared.models.post import EMPTIED, NewPost, PostChanges, short_form
from shared.models.user import NewUser, UserChanges, tombstone_of
from shared.platform.database.container import patch_of
from shared.platform.errors import NotFound
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import a_comment, a_like, a_post, a_record, a_user, moment, unique
from tests.management.boundary_values import DATES, NUMBERS, TEXTS
from tests.management.command_line import manage_blog
from tests.running_app import REPOSITORY

ABSENT = "(absent)"
PAGE = REPOSITORY / "docs" / "data-checks.md"
KEYS = {"users": "userId", "posts": "postId", "feed": "type", "failures": "source"}
# A value that obeys its invariant, and that nothing else depends on, is no damage.
FREE = {
    *(("user", name) for name in ("creationDate", "nameVersion", "editId", "formerUsernames", "turns")),
    *(("comment", name) for name in ("id", "content", "creationDate", "nameVersion", "editId")),
    *(("like", name) for name in ("creationDate", "nameVersion", "editId")),
    *(("post", name) for name in ("nameVersion", "editId")),
    *(("tombstone", name) for name in ("userId", *EMPTIED, "ttl", "version", "creationDate", "turns")),
    *(("record", name) for name in ("fingerprint", "ttl")),
    *(("reservation", name) for name in ("nameVersion", "username", "editId", "reservedTs")),
    *(("deleted user", name) for name in ("username", "nameVersion", "ttl", "turns")),
    *(("number of exports", name) for name in ("count", "ttl")),
    *(("failure", name) for name in ("source", "container", "itemId", "failureDate", "error")),
}


EXPORTS = {"type": "exports", "count": 1, "ttl": 3600}


class Family:
    """One item of each kind, all of which are consistent."""

    def __init__(self) -> None:
        user = a_user()
        post = a_post(user) | {"commentCount": 1, "likeCount": 1}
        gone = a_post(user)
        comment = a_comment(post, user)
        tombstone = gone | EMPTIED | {"type": DELETED_TYPE, "ttl": 3600}
        failure = {"id": unique("failure"), "source": unique("on_x"), "container": "posts", "itemId": "gone"}
        self.items: dict[str, tuple[str, Item]] = {
            "user": ("users", user),
            "reservation": ("users", reservation_item(user["username"], user["id"], 0)),
            "copy": ("users", short_form(post)),
            "deleted user": ("users", tombstone_of(a_user()) | {"ttl": 3600}),
            "number of exports": ("users", {"id": "exports", "userId": user["id"], **EXPORTS}),
            "post": ("posts", post),
            "comment": ("posts", comment),
            "like": ("posts", a_like(post, user)),
            "tombstone": ("posts", tombstone),
            "record": ("posts", a_record(comment, comment["id"])),
            "copy in `feed`": ("feed", short_form(post)),
            "failure": ("failures", failure | {"failureDate": moment(0), "partitionKey": "gone", "error": {}}),
        }
        del self.items["deleted user"][1]["formerUsernames"]
        self.ids = {item["id"] for _, item in self.items.values()}

    def damage(self, kind: str, name: str, value: Any) -> Item:
        container, item = self.items[kind]
        damaged = {other: own for other, own in item.items() if other != name}
        if value != ABSENT:
            damaged |= {name: value}
        self.items[kind] = container, damaged
        self.ids.add(str(damaged.get("id")))
        return damaged

    async def store(self, blog: Blog) -> None:
        """Raises CosmosHttpResponseError or CosmosBatchOperationError if nobody can store it."""
        for container, item in self.items.values():
            key = item.get(KEYS[container], NonePartitionKeyValue)
            proxy = blog.container(container).proxy
            await proxy.execute_item_batch([("create", (item,))], key)

    def is_named_in(self, finding: Finding) -> bool:
        return any(item_id in f"{finding.subject} {finding.detail}" for item_id in self.ids)


Damage = Callable[[Blog, Family], Awaitable[None]]
NAMES = sorted({(each.item, each.property) for each in INVARIANTS if " " not in each.property})
NAMES += [("tombstone", name) for name in EMPTIED]
NAMES += [("copy", name) for name in short_form(a_post(a_user())) if name not in ("id", "userId")]
NAMES += [("copy in `feed`", name) for name in short_form(a_post(a_user())) if name != "id"]
NAMES += [(kind, "type") for kind in ("user", "reservation", "post", "comment", "like", "tombstone", "record")]
NAMES += [(kind, "editId") for kind in ("user", "post")] + [("post", "editedDate")]
JSON = [None, [], [1], {}, {"a": 1}, {"id": 1}, ABSENT]


def _values() -> list[Any]:
    return [*JSON, *NUMBERS, *DATES, *TEXTS]


async def _undetected(blog: Blog, damages: Iterable[tuple[str, str, Any]]) -> list[str]:
    """Store each damage in a family of its own; return what `verify` missed, or `rebuild` did not repair."""
    stored: list[tuple[Family, Item, str, str, bool]] = []
    at_once = asyncio.Semaphore(8)

    async def store(kind: str, name: str, value: Any) -> None:
        family = Family()
        before = json.dumps(family.items[kind][1].get(name, ABSENT))
        item = family.damage(kind, name, value)
        changed = json.dumps(item.get(name, ABSENT)) != before
        async with at_once:
            # Raises ValueError for a key that cannot be one.
            with suppress(CosmosHttpResponseError, CosmosBatchOperationError, ValueError, TypeError):
                await family.store(blog)
                stored.append((family, item, kind, name, changed))

    await asyncio.gather(*(store(*damage) for damage in damages))
    findings = await verify(blog.stored)
    missed = []
    for family, item, kind, name, changed in stored:
        if changed and not any(map(family.is_named_in, findings)) and not _is_harmless(kind, name, item):
            missed.append(f"verify: {kind}.{name} = {str(item.get(name, ABSENT))[:40]!r}")
    assert all(finding.advice for finding in findings if finding.kind.is_broken)
    [failure async for failure in _failures(blog)]

    for _ in range(2):
        await rebuild(blog.stored, lambda _: None)
    for finding in await verify(blog.stored):
        if finding.advice == REBUILD:
            of = [
                f"{kind}.{name} = {str(item.get(name, ABSENT))[:40]!r}"
                for family, item, kind, name, _ in stored
                if family.is_named_in(finding)
            ]
            missed.append(f"rebuild: {of}: {finding.kind.name} {str(finding)[:150]}")
    return missed


def _is_harmless(kind: str, name: str, item: Item) -> bool:
    if (kind == "record" and name == "type") or (kind == "tombstone" and name == "id"):
        return False
    stored = json.loads(json.dumps(item).replace("-0.0", "0"))  # as the database stores it
    return (kind, name) in FREE and not violated(kind, stored)


async def _failures(blog: Blog) -> Any:
    async for failure in list_failures(blog.stored, None):
        yield failure, await state_of(blog.stored, failure)


_VALUES = _values()
# By index, because some values are long.
_DAMAGES = st.tuples(st.sampled_from(NAMES), st.integers(0, len(_VALUES) - 1))


@pytest.mark.nightly
# At most 100 families, so that all of their posts are on the front page. Shrinking would take long.
@settings(max_examples=2, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(_DAMAGES, min_size=90, max_size=90))
async def test_every_damage_is_reported_and_repaired_as_claimed(
    emulator: EmulatorThread, damages: list[tuple[tuple[str, str], int]]
) -> None:
    async with new_blog(emulator) as blog:
        missed = await _undetected(blog, [(kind, name, _VALUES[index]) for (kind, name), index in damages])

    assert missed == [], json.dumps(missed, indent=1)


async def _families(blog: Blog, number: int) -> list[Family]:
    families = [Family() for _ in range(number)]
    await asyncio.gather(*(family.store(blog) for family in families))
    return families


async def test_valid_items_of_every_kind_have_no_finding(blog: Blog) -> None:
    await _families(blog, 3)

    assert {finding.kind for finding in await verify(blog.stored)} == {Kind.FAILURE}


def _set(container: str, kind: str, **values: Any) -> Damage:
    async def damage(blog: Blog, family: Family) -> None:
        item = family.items[kind][1]
        await blog.container(container).patch(item["id"], item[KEYS[container]], patch_of(values))

    return damage


def _add(container: str, kind: str, **values: Any) -> Damage:
    async def damage(blog: Blog, family: Family) -> None:
        await blog.container(container).create(family.items[kind][1] | values)

    return damage


async def _second_like(blog: Blog, family: Family) -> None:
    await blog.posts.create(family.items["like"][1] | {"id": unique("like")})
    post = family.items["post"][1]
    await blog.posts.patch(post["id"], post["id"], patch_of({}, likeCount=1))


async def _hiding_tombstone(blog: Blog, family: Family) -> None:
    post = family.items["post"][1]
    await blog.posts.patch(post["id"], post["id"], patch_of({"commentCount": 7}))
    await blog.posts.create(family.items["tombstone"][1] | {"id": post["id"]})


async def _lasting_comment(blog: Blog, family: Family) -> None:
    await blog.posts.create(a_comment(a_post(family.items["user"][1]), family.items["user"][1]) | {"ttl": -1})


@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        (_set("users", "user", ttl=3600), {Kind.EXPIRING}),
        (_set("posts", "post", ttl=3600), {Kind.EXPIRING}),
        (_set("posts", "comment", ttl=3600), {Kind.EXPIRING}),
        (_set("posts", "like", ttl=-1), {Kind.EXPIRING}),
        (_set("users", "copy", ttl=3600), {Kind.EXPIRING}),
        (_set("feed", "copy in `feed`", ttl=3600), {Kind.EXPIRING}),
        (_set("posts", "tombstone", ttl=-1), {Kind.LEFTOVER}),
        (_set("posts", "tombstone", content="Secret"), {Kind.LEFTOVER}),
        (_set("posts", "tombstone", userUsername="ada"), {Kind.LEFTOVER}),
        (_set("users", "deleted user", username="ada"), {Kind.DELETION}),
        (_set("users", "deleted user", ttl=10**9), {Kind.DELETION}),
        (_set("users", "deleted user", username="ada", formerUsernames=["ada"]), {Kind.DELETION}),
        (_lasting_comment, {Kind.LEFTOVER}),
        (_second_like, {Kind.MALFORMED, Kind.COPY_STALE, Kind.FEED_STALE}),
        (_set("posts", "comment", nameVersion=7), {Kind.NAME}),
        (_hiding_tombstone, {Kind.MALFORMED, Kind.COUNT, Kind.COPY_STALE, Kind.FEED_STALE}),
        (_set("posts", "post", commentCount=True), {Kind.COUNT, Kind.COPY_STALE, Kind.FEED_STALE}),
        (_set("posts", "post", version=2**53), {Kind.COUNT, Kind.COPY_STALE, Kind.FEED_STALE}),
        (_set("posts", "record", ttl=-1), {Kind.MALFORMED}),
        (_add("failures", "failure", id="nameless", source=7), {Kind.MALFORMED}),
        (_set("posts", "post", title=" "), {Kind.MALFORMED}),
        (_set("posts", "post", creationDate="0001-01-01T00:00:00+08:00"), {Kind.MALFORMED}),
        (_set("users", "reservation", username="other"), {Kind.MALFORMED}),
    ],
)
async def test_each_damage_that_was_missed_is_found_and_what_rebuild_claims_is_repaired(
    blog: Blog, damage: Damage, kinds: set[Kind]
) -> None:
    [family] = await _families(blog, 1)

    await damage(blog, family)

    findings = await verify(blog.stored)
    assert {finding.kind for finding in findings} - {Kind.FAILURE} == kinds
    await rebuild(blog.stored, lambda _: None)
    left = [finding for finding in await verify(blog.stored) if finding.kind is not Kind.FAILURE]
    assert REBUILD not in {finding.advice for finding in left}
    if all(finding.advice == REBUILD for finding in findings if finding.kind is not Kind.FAILURE):
        assert left == []


async def test_a_container_with_another_ttl_is_found(blog: Blog) -> None:
    container = next(one for one in container_definitions() if one["id"] == "feed")
    path = PartitionKey(container["partitionKey"]["paths"][0])
    await blog.database.replace_container("feed", path, indexing_policy=container["indexingPolicy"], default_ttl=60)

    [finding] = await verify(blog.stored)

    assert (finding.kind, finding.subject) == (Kind.CONTAINER, "container feed")
    assert finding.advice == "Run `manage.py provision`."


_STEPS = st.lists(
    st.sampled_from(["rename", "edit", "delete", "like", "unlike", "comment", "users", "posts"]),
    min_size=1,
    max_size=12,
)
# What is in progress while the change-feed functions are behind.
_PENDING = {Kind.NAME, Kind.RENAME, Kind.COPY_MISSING, Kind.COPY_STALE, Kind.COPY_ORPHANED, Kind.LEFTOVER}
_PENDING |= {Kind.ABANDONED, Kind.FEED_MISSING, Kind.FEED_STALE, Kind.FEED_SURPLUS}


@pytest.mark.nightly
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(_STEPS)
async def test_no_state_that_the_app_leaves_is_a_violation(emulator: EmulatorThread, steps: list[str]) -> None:
    """Commands and deliveries in any order: at most updates in progress, and after the last delivery nothing."""
    async with new_blog(emulator) as blog:
        user = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key="user")
        new = NewPost(user_id=user["id"], title="A title", content="Some content.")
        posts = [await create_post(blog.stored, new, idempotency_key=f"post{number}") for number in range(2)]
        for number, step in enumerate(steps):
            post_id = posts[number % 2]["id"]
            with suppress(NotFound):
                await _step(blog, step, number, user["id"], post_id)
            assert {finding.kind for finding in await verify(blog.stored)} <= _PENDING
        await blog.drain()

        assert await verify(blog.stored) == []


async def _step(blog: Blog, step: str, number: int, user_id: str, post_id: str) -> None:
    match step:
        case "rename":
            await edit_user(blog.users, user_id, UserChanges(username=unique("grace")))
        case "edit":
            changes = PostChanges(title=f"Edit {number}", content="Edited.")
            await edit_post(blog.posts, post_id, changes, by=BackEnd())
        case "delete":
            await delete_post(blog.posts, post_id, by=BackEnd())
        case "like":
            await create_like(blog.stored, post_id, NewLike(user_id=user_id))
        case "unlike":
            await delete_like(blog.stored, post_id, user_id)
        case "comment":
            new = NewComment(user_id=user_id, content="Well put.")
            await create_comment(blog.stored, post_id, new, idempotency_key=f"comment{number}")
        case "users":
            await blog.handle_users(await blog.changes(blog.users))
        case "posts":
            await blog.handle_posts(await blog.changes(blog.posts))


async def test_the_commands_for_failures_read_damaged_failures(blog: Blog) -> None:
    values = [1, {}, None, "", "..", "x" * 2_000]
    for name in ("itemId", "failureDate", "error", "attempts", "partitionKey"):
        for number, value in enumerate(values):
            failure = {"id": f"{name}{number}", "source": "on_posts_changed", "container": "posts", "itemId": "gone"}
            await blog.failures.create(failure | {"partitionKey": "gone", name: value})
    await blog.failures.proxy.create_item({"id": "without a source"})

    listed = await manage_blog(blog, "failures", "list")
    replayed = await manage_blog(blog, "failures", "replay", "--all")

    assert (listed.exit_code, listed.exception) == (0, None) or isinstance(listed.exception, SystemExit)
    assert f"{5 * len(values) + 1} failed changes." in listed.output
    assert "without a source" in replayed.output
    assert replayed.exit_code == 1


def test_the_documentation_lists_every_invariant() -> None:
    """Most rules have the same outcome: reported as malformed, and repaired by the operator."""
    malformed = [each for each in INVARIANTS if each.kind is Kind.MALFORMED]
    others = [each for each in INVARIANTS if each.kind is not Kind.MALFORMED]
    assert {str(each.repair) for each in malformed} == {"operator"}

    _assert_documented("| items | property | rule |", _rows((each, ()) for each in malformed))
    heading = "| items | property | rule | found by `verify` as | repaired by |"
    _assert_documented(heading, _rows((each, (each.kind.value, str(each.repair))) for each in others))


def _rows(invariants: Iterable[tuple[Invariant, tuple[str, ...]]]) -> list[str]:
    """A row for each rule of a property, with all items that have it."""
    items = dict[tuple[str, ...], list[str]]()
    for each, outcome in invariants:
        name = each.property if " " in each.property else f"`{each.property}`"
        items.setdefault((name, each.rule, *outcome), []).append(each.item)
    return [f"| {', '.join(of)} | {' | '.join(rule)} |" for rule, of in items.items()]


def _assert_documented(heading: str, rows: list[str]) -> None:
    table = "\n".join([heading, "|" + "---|" * (heading.count("|") - 1), *rows])

    assert table in PAGE.read_text(encoding="utf-8"), f"docs/data-checks.md must have this table:\n{table}"
